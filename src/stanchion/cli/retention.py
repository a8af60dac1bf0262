"""`stanchion retention`: say what may be removed from the trail; an operator's, once there are
operators."""

from __future__ import annotations

import argparse
import sys
from typing import Any, Final

from stanchion import Shield
from stanchion.approvals.act import Purpose
from stanchion.approvals.request import Request
from stanchion.cli.answerers import add_answerer, answerer
from stanchion.cli.operator_options import answered
from stanchion.cli.parser import Parser
from stanchion.cli.terminal import say
from stanchion.cli.whose import add_project
from stanchion.kernel.scopes import FLEET
from stanchion.runtime.operating.retention import SUBJECT

USAGE: Final = """stanchion retention [--days N] [--megabytes N] [--why WORDS] --key FILE | --ssh-agent
       [--store URL]"""  # noqa: E501

DESCRIPTION: Final = """\
Set which records may be removed from the trail: those older than a number of days, or
beyond a number of megabytes. If operators are enrolled, STANCHION_AUDIT_KEEP_DAYS and
STANCHION_AUDIT_KEEP_MB remove no more than this allows, and nothing if it was never set.
Without either option everything is kept."""

EPILOG: Final = """\
examples:
  stanchion retention --days 90 --key ~/.config/stanchion/keys/ann
  stanchion retention --why 'the auditors are here' --ssh-agent

It applies to shields that start from now on.

exit status:
  0  it is done
  1  you are not allowed to: nothing has changed
  2  the store or the key cannot be used"""


def add(commands: Any) -> None:
    """Add the command to those of the command line."""
    summary = "set which old records may be removed from the trail"
    parser: Parser = commands.add_parser(
        "retention", help=summary, usage=USAGE, description=DESCRIPTION, epilog=EPILOG
    )
    parser.add_argument(
        "--days", metavar="N", type=_positive, help="records older than this may be removed"
    )
    parser.add_argument(
        "--megabytes",
        metavar="N",
        type=_positive,
        help="records above this size may be removed, oldest first",
    )
    parser.add_argument("--why", metavar="WORDS", default="", help="the reason, for the trail")
    parser.add_argument("--by", metavar="NAME", default="", help="your name, if no key proves it")
    parser.add_argument("--store", metavar="URL", help="the store: a file, a URL, or `user:`")
    add_project(parser)
    add_answerer(parser)


def run(args: argparse.Namespace) -> int:
    """Say it."""
    said = {"days": args.days, "megabytes": args.megabytes, "why": args.why}
    request = Request(purpose=Purpose.RETENTION, tenant=FLEET, subject=SUBJECT, said=said)

    bounds = [f"older than {args.days:g} days"] if args.days is not None else []
    bounds += [f"more than {args.megabytes:g} MB"] if args.megabytes is not None else []
    leaves = " or ".join(bounds)

    def said_so(shield: Shield) -> int:
        shield.act(request, answerer(args, shield))
        say(
            sys.stdout,
            f"what is {leaves} may be removed from the trail"
            if leaves
            else "nothing is removed from the trail",
        )
        return 0

    return answered(args, said_so)


def _positive(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 < number < 1e9:
        raise argparse.ArgumentTypeError(f"is `{text}`: give a positive number")
    return number
