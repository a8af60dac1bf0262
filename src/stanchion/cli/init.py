"""`stanchion init`: write a commented policy to start from."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any, Final

from stanchion.cli.terminal import Terminal, say
from stanchion.cli.trouble import BadInput
from stanchion.policy.starter import starter
from stanchion.views.encode import json_line

FILE: Final = "policy.yaml"

USAGE: Final = "stanchion init [FILE] [--force] [--json]"

DESCRIPTION: Final = """\
Write a policy with a comment for everything in it: agents, tasks, tools, environments,
every guard, and rules of your own. It loads as it is; take out what you do not need."""

EPILOG: Final = """\
examples:
  stanchion init
  stanchion init policies/team.yaml
  stanchion init - | less

exit status:
  0  the file is written
  2  the file already exists, or cannot be written"""


def add(commands: Any) -> None:
    """Add the command to those of the command line."""
    summary = "write a commented policy to start from"
    parser = commands.add_parser(
        "init", help=summary, usage=USAGE, description=DESCRIPTION, epilog=EPILOG
    )
    parser.add_argument(
        "file",
        metavar="FILE",
        nargs="?",
        default=FILE,
        help=f"the file to write (default: {FILE}); `-` prints it",
    )
    parser.add_argument("--force", action="store_true", help="overwrite an existing file")
    parser.add_argument("--json", action="store_true", help="answer with one line of JSON")


def run(args: argparse.Namespace) -> int:
    """Write the starter policy."""
    text = starter()
    if args.file == "-":
        sys.stdout.write(text)
        return 0
    file = Path(args.file)
    try:
        with file.open("w" if args.force else "x", encoding="utf-8", newline="\n") as sink:
            sink.write(text)
    except FileExistsError:
        raise BadInput(
            f"`{args.file}` already exists: use another file, or overwrite it with `--force`"
        ) from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        if isinstance(error, FileNotFoundError):
            reason = f"there is no folder `{file.parent}`; create it first, or use another file"
        raise BadInput(
            f"`{args.file}` cannot be written: {reason[:1].lower()}{reason[1:]}"
        ) from None
    if args.json:
        sys.stdout.write(json_line({"file": args.file}).decode())
        return 0
    bold = Terminal.of(sys.stdout, os.environ)
    say(sys.stdout, f"{args.file} is written. Read it, change it, then:")
    for command, what in (
        (f"stanchion lint {args.file}", "find mistakes"),
        (f"stanchion check --policy {args.file} --agent writer-1 --tool read_file", "try it"),
        (f"stanchion policy show {args.file}", "see what takes effect"),
    ):
        sys.stdout.write(f"  {bold.paint(command, 'bold')}  # {what}\n")
    return 0
