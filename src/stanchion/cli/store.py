"""`stanchion store`: go on with a store that has lost what it held."""

from __future__ import annotations

import argparse
import sys
from typing import Any, Final

from stanchion.approvals.errors import TicketError
from stanchion.cli.answerers import add_answerer, answerer
from stanchion.cli.operator_options import loaded
from stanchion.cli.parser import Parser
from stanchion.cli.terminal import say
from stanchion.cli.trouble import BadInput
from stanchion.cli.whose import add_project
from stanchion.kernel.state import StoreLost
from stanchion.runtime.errors import StateError

USAGE: Final = "stanchion store accepted|restored --why WORDS [--by NAME] [--store URL]"

DESCRIPTION: Final = """\
Confirm that a store may be used although it lost its contents: it was emptied or replaced
(`accepted`), or restored from a backup (`restored`). Until then everything except
reads is refused with kernel.store_forgot. Unused approvals in a backup are withdrawn,
because they may have been used since the backup was made."""

EPILOG: Final = """\
examples:
  stanchion store accepted --why 'the test server was flushed on purpose'
  stanchion store restored --why 'disk failure, backup of 03:00'

Look first (`stanchion state`): halts, quarantines, allowances and budgets are now as the
store has them. Repeat any halt that must stay. Every process that uses the store continues
with its next decision. The store is the project's (`stanchion state --where`), or the one
that STANCHION_STORE names; it is written to the trail.

exit status:
  0  it is done
  2  not done: the store cannot be used"""


def add(commands: Any) -> None:
    """Add the command to those of the command line."""
    summary = "accept a store that was emptied or restored from a backup"
    parser: Parser = commands.add_parser(
        "store", help=summary, usage=USAGE, description=DESCRIPTION, epilog=EPILOG
    )
    what = "what happened to the store"
    parser.add_argument(
        "what", metavar="accepted|restored", choices=("accepted", "restored"), help=what
    )
    parser.add_argument("--why", metavar="WORDS", required=True, help="the reason, for the trail")
    parser.add_argument("--by", metavar="NAME", default="", help="who says so (default: you)")
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
    taken = (
        f"; {unused} unused approvals are withdrawn"
        if unused != 1
        else "; 1 unused approval is withdrawn"
    )
    say(
        sys.stdout,
        f"the store is {args.what}: every process continues with it{taken if restored else ''}",
    )
    return 0
