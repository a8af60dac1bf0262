"""What is reserved of budgets and not settled: by whom, for which call, since when, and of which
budget."""

from __future__ import annotations

import argparse

from stanchion.cli.printing import put_json, put_table
from stanchion.cli.stores import opened
from stanchion.cli.terminal import put_line
from stanchion.cli.whose import tenant_of, whose
from stanchion.stores.memory import wall_ms
from stanchion.views.amounts import amount
from stanchion.views.budgets import HeldView, held
from stanchion.views.times import shown, span


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
