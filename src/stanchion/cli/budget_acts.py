"""What operators do about budgets at the command line: look at what is reserved and not settled,
release what the dead hold, and top one up."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Final

from stanchion import Shield
from stanchion.approvals.errors import TicketError
from stanchion.audit.errors import AuditLost
from stanchion.cli.answerers import answerer
from stanchion.cli.operator_options import loaded
from stanchion.cli.printing import put_json, put_table
from stanchion.cli.stores import opened
from stanchion.cli.terminal import put_line, tell
from stanchion.cli.trouble import AsBadInput, BadInput
from stanchion.cli.whose import tenant_of, whose
from stanchion.kernel.shown import StanchionError
from stanchion.kernel.state import StoreLost
from stanchion.ops.views.amounts import amount
from stanchion.ops.views.budgets import HeldView, held
from stanchion.ops.views.times import shown, span
from stanchion.ops.views.veiled import veiled
from stanchion.runtime.operating.budgets import FRACTIONS, WHOLE
from stanchion.stores.memory import wall_ms

FORM: Final = "write `tokens=500`, or several with commas between them"


def release(args: argparse.Namespace) -> int:
    """Give back what a call has reserved."""
    if not args.name or args.amount:
        raise BadInput(
            "which call? write `stanchion budget release CALL`; `stanchion budget holds` shows them"
        )
    used = amounts("--used", args.used) if args.used else None

    def done(shield: Shield) -> None:
        by = answerer(args, shield)
        shield.release_call(args.name, used, why=args.why, by=by, tenant=args.tenant)

    _do(args, done)
    kept = (
        f"{_worded(used)} of it is charged, as used"
        if used is not None
        else "nothing of it is charged"
    )
    tell(f"{veiled(args.name)} is released: {kept}")
    return 0


def top_up(args: argparse.Namespace) -> int:
    """Let more be spent of a budget."""
    if not args.name or not args.amount:
        raise BadInput(
            "which budget, and by how much? write `stanchion budget top-up spend/run:ID tokens=500`"
        )
    more = amounts("MEASURE=AMOUNT", args.amount)

    def done(shield: Shield) -> None:
        by = answerer(args, shield)
        shield.top_up(args.name, more, why=args.why, by=by, tenant=args.tenant)

    _do(args, done)
    tell(f"{veiled(args.name)} is topped up by {_worded(more)}")
    return 0


def _worded(given: dict[str, int | float]) -> str:
    """Amounts as people read them: `5,000 tokens and $0.12`."""
    whole = {name: (counted, many) for counted, (name, many) in WHOLE.items()}
    each = [(*whole.get(name, (name, 1)), value) for name, value in given.items()]
    return " and ".join([amount(counted, round(value * many)) for counted, many, value in each])


def _do(args: argparse.Namespace, work: Callable[[Shield], None]) -> None:
    kinds = (StanchionError, ValueError, StoreLost, TicketError, AuditLost)
    with AsBadInput(*kinds), loaded(args) as shield:
        work(shield)


def amounts(option: str, text: str) -> dict[str, int | float]:
    """Amounts from what was typed; `BadInput` where they are none."""
    found: dict[str, int | float] = {}
    for part in text.split(","):
        measure, equals, number = (word.strip() for word in part.partition("="))
        try:
            value = float(number) if measure in FRACTIONS else int(number)
        except ValueError:
            raise BadInput(f"`{option}` is `{text}`, which is not an amount: {FORM}") from None
        if not equals or measure in found:
            raise BadInput(f"`{option}` is `{text}`, which is not an amount: {FORM}")
        found[measure] = value
    return found


def show_holds(args: argparse.Namespace) -> int:
    """Show what is held."""
    with opened(args.store, whose(args.project, args.store)) as store:
        found = [] if store is None else held(store, args.name, tenant_of(args.tenant))
    if args.json:
        put_json(*found)
    else:
        _show(found)
    return 0


def _show(found: list[HeldView]) -> None:
    if not found:
        put_line("nothing is held: every call has reported its outcome")
        return
    rows = [
        (
            shown(one.since_ms),
            "a process of the fleet" if one.slice else one.run,
            one.call,
            amount(part.measure, part.amount),
            " ".join(word for word in (part.budget, part.per, part.whose) if word),
            "" if one.heard_ms is None else span(max(0, wall_ms() - one.heard_ms)),
        )
        for one in found
        for part in one.parts
    ]
    columns = ("since", "held by", "call", "reserved", "of", "silent for")
    put_table(columns, rows, ("reserved",))
