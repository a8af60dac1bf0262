"""`holdfast lab`: measure guards on labelled rows."""

from __future__ import annotations

import argparse
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import msgspec

from holdfast.cli.parser import Parser, nearest
from holdfast.cli.terminal import say
from holdfast.cli.trouble import BadInput
from holdfast.lab.measuring import MEASURES
from holdfast.lab.measuring.figure import Report
from holdfast.lab.measuring.rows import VARIABLE, NoRows
from holdfast.lab.measuring.show import lines, plain

USAGE: Final = "holdfast lab measure WHAT [--corpora DIR] [--misses N] [--json]"

DESCRIPTION: Final = """\
Measure guards on labelled rows that somebody else wrote: how much they find, and how often
they disturb honest work, each with its 95 % interval and the rows that were missed.
Holdfast ships no such rows; DIR is the folder that has yours."""

EPILOG: Final = f"""\
what can be measured:
{chr(10).join(f"  {name:7} {said}" for name, said in MEASURES.items())}

examples:
  holdfast lab measure loops --corpora corpora
  holdfast lab measure benign --corpora corpora --misses 100
  {VARIABLE}=corpora holdfast lab measure loops --json

exit status:
  0  it is measured, whatever the figures say
  2  there are no rows, or they cannot be read"""


def add(commands: Any) -> None:
    """Add the command to those of the command line."""
    summary = "measure guards on labelled rows: what they find, what they disturb"
    parser: Parser = commands.add_parser("lab", help=summary, usage=USAGE, description=DESCRIPTION, epilog=EPILOG)
    parser.add_argument("verb", metavar="measure", choices=("measure",), help="measure on rows")
    parser.add_argument("what", metavar="WHAT", help="what to measure, see below")
    parser.add_argument("--corpora", metavar="DIR", help=f"the folder of rows (default: {VARIABLE})")
    parser.add_argument(
        "--misses", metavar="N", type=int, default=20, help="how many misses of a figure are listed (default: 20)"
    )
    parser.add_argument("--json", action="store_true", help="answer with one line of JSON, all misses included")


def run(args: argparse.Namespace) -> int:
    """Measure, and show the report."""
    if args.what not in MEASURES:
        known = f"what can be measured is {', '.join(MEASURES)}"
        raise BadInput(f"nothing measures `{args.what}`: {nearest(args.what, MEASURES, known)}")
    if args.misses < 0:
        raise BadInput(f"`--misses` is `{args.misses}`: give a number from 0 on")
    folder = args.corpora if args.corpora is not None else os.environ.get(VARIABLE, "")
    if not folder:
        raise BadInput(f"no folder of rows is named: give one by `--corpora`, or set {VARIABLE}")
    try:
        report: Report = import_module(f"holdfast.lab.measuring.{args.what}").measure(Path(folder))
    except NoRows as error:
        raise BadInput(str(error)) from None
    if args.json:
        sys.stdout.buffer.write(msgspec.json.encode(plain(report)) + b"\n")
        return 0
    for line in lines(report, args.misses):
        say(sys.stdout, line)
    return 0
