"""What an operator's commands share: whose state is meant, by whom it is changed, and what it is
afterwards."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import Any, Final

from stanchion import Shield
from stanchion.approvals.errors import OperatorKeyError, TicketError, UnknownTicket
from stanchion.audit.errors import TrailError
from stanchion.cli.answerers import answerer, whoever
from stanchion.cli.terminal import say, tell
from stanchion.cli.trouble import AsBadInput, BadInput
from stanchion.cli.whose import named_project, told
from stanchion.kernel.state import FOREVER, StoreLost
from stanchion.kernel.states import Mark
from stanchion.ops.views.standing import NOW
from stanchion.ops.views.times import shown
from stanchion.ops.views.veiled import veiled
from stanchion.runtime.errors import StateError
from stanchion.stores.protocol import StoreError
from stanchion.telemetry.kinds import Kind
from stanchion.telemetry.loggers import leave_out

APPLIES: Final = """\
Every process that uses the store applies it from its next decision on. The store is the
project's (`stanchion state --where`), or the one that STANCHION_STORE names; the change is
written to the trail."""

SCOPES: Final = f"""\
SCOPE is `tool:NAME`, `agent:NAME`, `run:ID` or `fleet`; without it the whole tenant is meant.
{APPLIES}"""

ANSWERED: Final = (
    Kind.HALTED, Kind.QUARANTINED, Kind.SAFE_MODE, Kind.NORMAL, Kind.TICKET_ANSWERED,
    Kind.ANSWER_REFUSED,
)  # fmt: skip
"""What a command says itself, where it does it or may not."""

REFUSED: Final = 1
"""The exit status where somebody may not answer like that."""

EXIT: Final = """\
exit status:
  0  it is done
  2  not done: you are not allowed to, a halt prevents it, or the store cannot be used"""


def loaded(args: argparse.Namespace) -> Shield:
    """A shield on the store that is named; one that cannot be opened is bad input."""
    leave_out(ANSWERED)
    with AsBadInput(StoreError):
        policy = getattr(args, "policy", None)
        shield: Shield = args.load(
            "default" if policy is None else policy, store=args.store, **named_project(args)
        )
    return shield


def answered(args: argparse.Namespace, work: Callable[[Shield], int]) -> int:
    """Do something on the store that is named, as whoever answers; say so where they may not. Gives
    the status."""
    try:
        with loaded(args) as shield:
            return work(shield)
    except (UnknownTicket, OperatorKeyError, StoreLost, TrailError) as error:
        raise BadInput(str(error)) from None
    except TicketError as error:
        say(sys.stderr, f"stanchion: {error}")
        return REFUSED


def operate(
    args: argparse.Namespace, change: Callable[[Shield, Any], Any], loosens: bool = False
) -> int:
    """Change a state in the store, as somebody, and say what it is now. What `loosens` is an
    operator's."""
    with loaded(args) as shield, AsBadInput(StateError, ValueError, StoreLost, TicketError):
        change(shield, answerer(args, shield) if loosens else args.by if args.by else whoever())
        tenant, name = (
            ("*", "") if args.scope == "fleet" else (shield.tenancy.of(args.tenant), args.scope)
        )
        standing = shield.standing(tenant)
    mark = standing.marks.get(name, Mark()) if name else standing.own
    about = veiled(args.scope if args.scope else f"tenant {tenant}")
    until = f" until {shown(mark.until)}" if 0 < mark.until < FOREVER else ""
    tell(f"{about} is {NOW[mark.state]}{until}{veiled(told(args))}")
    return 0
