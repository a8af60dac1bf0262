"""`stanchion store`: go on with a store that has lost what it held."""

from __future__ import annotations

import argparse
from typing import Final

from stanchion.approvals.errors import TicketError
from stanchion.cli.answerers import answerer
from stanchion.cli.operator_options import loaded
from stanchion.cli.options import ANSWERER, PROJECT, STORE, option
from stanchion.cli.terminal import tell
from stanchion.cli.trouble import AsBadInput
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


OPTIONS: Final = (
    option(
        "what accepted|restored", "what happened to the store", choices=("accepted", "restored")
    ),
    option("--why WORDS", "the reason, for the trail", required=True),
    option("--by NAME", "who says so (default: you)", default=""),
    STORE,
    PROJECT,
    ANSWERER,
)


def run(args: argparse.Namespace) -> int:
    """Accept it."""
    with loaded(args) as shield, AsBadInput(StateError, StoreLost, TicketError):
        restored = args.what == "restored"
        unused = shield.accept_store(args.why, restored=restored, by=answerer(args, shield))
    taken = (
        f"; {unused} unused approvals are withdrawn"
        if unused != 1
        else "; 1 unused approval is withdrawn"
    )
    tell(
        f"the store is {args.what}: every process continues with it{taken if restored else ''}",
    )
    return 0
