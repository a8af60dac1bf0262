"""`stanchion halt`: stop everything, or everything of a scope, until an operator resumes it."""

from __future__ import annotations

import argparse
from typing import Any, Final

from stanchion.cli.operator_options import EXIT, SCOPES, add_options, operate
from stanchion.cli.parser import Parser

USAGE: Final = "stanchion halt [SCOPE] [--why WORDS] [--by NAME] [--tenant NAME] [--store URL]"

DESCRIPTION: Final = """\
Stop everything: every further action of an agent is refused. Running calls may finish, but
their results are not handed to the agent. Only `stanchion resume` ends a halt."""

EPILOG: Final = f"""\
examples:
  stanchion halt --why 'money is going out that nobody ordered'
  stanchion halt run:run-4f0c22a1
  stanchion halt fleet

{SCOPES}

{EXIT}"""


def add(commands: Any) -> None:
    """Add the command to those of the command line."""
    summary = "stop everything, or everything of a scope, until an operator resumes it"
    parser: Parser = commands.add_parser(
        "halt", help=summary, usage=USAGE, description=DESCRIPTION, epilog=EPILOG
    )
    add_options(parser, scoped="act on")


def run(args: argparse.Namespace) -> int:
    """Halt it."""
    return operate(args, lambda shield, by: shield.halt(args.why, args.tenant, args.scope, by))
