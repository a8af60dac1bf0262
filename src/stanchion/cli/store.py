"""`stanchion store`: go on with a store that has lost what it held."""

from __future__ import annotations

import argparse
import sys
from typing import Any, Final

from stanchion.approvals.errors import TicketError
from stanchion.cli.answerers import add_answerer, answerer
from stanchion.cli.operating import loaded
from stanchion.cli.parser import Parser
from stanchion.cli.terminal import say
from stanchion.cli.trouble import BadInput
from stanchion.cli.whose import add_project
from stanchion.kernel.state import StoreLost
from stanchion.runtime.errors import StateError

USAGE: Final = "stanchion store accepted|restored --why WORDS [--by NAME] [--store URL]"

DESCRIPTION: Final = """\
Say that a store may be used although it has lost what it held: it was emptied or replaced
(`accepted`), or restored from a backup (`restored`). Until then everything but reads is
refused with kernel.store_forgot. Of a backup, approvals that are not used yet are taken
back, because they may have been used since it was made."""

EPILOG: Final = """\
examples:
  stanchion store accepted --why 'the test server was flushed on purpose'
  stanchion store restored --why 'disk failure, backup of 03:00'

Look first (`stanchion state`): halts, quarantines, allowances and budgets are as the store
has them now. Halt again what has to stay halted. Every process that uses the store goes on
with its next decision. The store is that of the project (`stanchion state --where`), or
where STANCHION_STORE says; it is written to the trail.

exit status:
  0  it is done
  2  it cannot be: the store cannot be used"""


def add(commands: Any) -> None:
    """Add the command to those of the command line."""
    summary = "go on with a store that was emptied, or restored from a backup"
    parser: Parser = commands.add_parser("store", help=summary, usage=USAGE, description=DESCRIPTION, epilog=EPILOG)
    what = "what became of it"
    parser.add_argument("what", metavar="accepted|restored", choices=("accepted", "restored"), help=what)
    parser.add_argument("--why", metavar="WORDS", required=True, help="the reason, for the trail")
    parser.add_argument("--by", metavar="NAME", default="", help="who says so; you, if nobody else is named")
    parser.add_argument("--store", metavar="URL", help="the store: a file, a URL, or `user:`")
    add_project(parser)
    add_answerer(parser)


def run(args: argparse.Namespace) -> int:
    """Accept it."""
    with loaded(args) as shield:
        try:
            restored = args.what == "restored"
            unused = shield.accept_store(args.why, restored=restored, by=answerer(args, shield))
        except (StateError, StoreLost, TicketError) as error:
            raise BadInput(str(error)) from None
    taken = f"; {unused} unused approvals are taken back" if unused != 1 else "; 1 unused approval is taken back"
    say(sys.stdout, f"the store is {args.what}: everybody goes on with it{taken if restored else ''}")
    return 0
