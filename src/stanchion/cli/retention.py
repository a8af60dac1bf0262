"""`stanchion retention`: say what may leave the trail; an operator's, once there are operators."""

from __future__ import annotations

import argparse
import sys
from typing import Any, Final

from stanchion import Shield
from stanchion.approvals.act import Purpose
from stanchion.approvals.request import Request
from stanchion.cli.answerers import add_answerer, answerer
from stanchion.cli.operating import answered
from stanchion.cli.parser import Parser
from stanchion.cli.terminal import say
from stanchion.cli.whose import add_project
from stanchion.kernel.scopes import FLEET
from stanchion.runtime.retaining import SUBJECT

USAGE: Final = """stanchion retention [--days N] [--megabytes N] [--why WORDS] --key FILE | --ssh-agent
       [--store URL]"""

DESCRIPTION: Final = """\
Say what may leave the trail: what is older than so many days, or more than so many
megabytes. Where operators are enrolled, STANCHION_AUDIT_KEEP_DAYS and
STANCHION_AUDIT_KEEP_MB take no more than that, and without it nothing. Without either
option everything stays."""

EPILOG: Final = """\
examples:
  stanchion retention --days 90 --key ~/.config/stanchion/keys/ann
  stanchion retention --why 'the auditors are here' --ssh-agent

It counts for shields that begin from now on.

exit status:
  0  it is done
  1  you may not: nothing has changed
  2  the store or the key cannot be used"""


def add(commands: Any) -> None:
    """Add the command to those of the command line."""
    summary = "say what may leave the trail, where operators have to say so"
    parser: Parser = commands.add_parser("retention", help=summary, usage=USAGE, description=DESCRIPTION, epilog=EPILOG)
    parser.add_argument("--days", metavar="N", type=_positive, help="what is older may leave")
    parser.add_argument("--megabytes", metavar="N", type=_positive, help="what is more may leave, oldest first")
    parser.add_argument("--why", metavar="WORDS", default="", help="the reason, for the trail")
    parser.add_argument("--by", metavar="NAME", default="", help="what you are called, where no key says so")
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
        say(sys.stdout, f"what is {leaves} may leave the trail" if leaves else "nothing leaves the trail")
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
