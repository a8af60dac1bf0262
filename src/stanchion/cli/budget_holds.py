"""What is reserved of budgets and not settled: by whom, for which call, since when, and of which budget."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator

import msgspec

from stanchion.cli.cells import name_of
from stanchion.cli.stores import opened
from stanchion.cli.table import table
from stanchion.cli.terminal import Terminal, json_line, put
from stanchion.cli.times import shown as shown_at, span
from stanchion.cli.veiled import veiled
from stanchion.cli.whose import tenant_of, whose
from stanchion.guards.budget import shown
from stanchion.kernel.units import Unit
from stanchion.runtime.open_calls import run_of, spends
from stanchion.stores.leasing.leased import POOLS, is_slice, lender_key, lender_of
from stanchion.stores.memory import wall_ms
from stanchion.stores.protocol import Store
from stanchion.stores.seen import Took

UNITS = {unit: unit.name.lower() for unit in Unit}


class Part(msgspec.Struct, frozen=True):
    """What is reserved of one budget: which, whose, of what, and how much."""

    tenant: str
    budget: str
    per: str
    whose: str
    measure: str
    amount: int


class Held(msgspec.Struct, frozen=True):
    """A hold that is not settled. A slice is what a process holds of a budget of the whole fleet; `heard_ms` is when
    that process was last heard of."""

    call: str
    run: str
    since_ms: int
    parts: tuple[Part, ...]
    slice: bool = False
    heard_ms: int | None = None


def show_holds(args: argparse.Namespace) -> int:
    """Show what is held."""
    tenant = tenant_of(args.tenant)
    with opened(args.store, whose(args.project, args.store)) as store:
        each = [] if store is None else [(one, veiled(one)) for one in held(store)]
    found = [seen for one, seen in each if _fits(one, args.name, tenant) or _fits(seen, args.name, tenant)]
    if args.json:
        sys.stdout.buffer.write(b"".join(json_line(one) for one in found))
    else:
        _show(found)
    return 0


def held(store: Store) -> list[Held]:
    """Every hold of a budget in a store, the oldest first."""
    windowed = {seen.key for seen in store.look() if seen.live is not None}
    beats = {seen.key: seen.touched_ms for seen in store.look(lender_key(""))}
    found = []
    for hold in store.holds():
        if not spends(hold):
            continue
        parts = tuple(_parts(hold.took, windowed))
        heard = max(hold.since_ms, beats.get(lender_key(lender_of(hold.id)), 0)) if is_slice(hold.id) else None
        found.append(Held(hold.id, run_of(hold.id), hold.since_ms, parts, is_slice(hold.id), heard))
    return sorted(found, key=lambda one: (one.since_ms, one.slice, one.call))


def _parts(took: tuple[Took, ...], windowed: set[str]) -> Iterator[Part]:
    for part in took:
        if not part.keeps or part.key.startswith(POOLS):
            continue
        name = name_of(part.key, part.key in windowed)
        measure = UNITS[Unit(part.unit)]
        match name.parts:
            case ("budget", counter, _, per, *whose_it_is):
                yield Part(name.tenant, counter, per, ":".join(whose_it_is), measure, part.amount)
            case ("grant", _, "run", run):
                yield Part(name.tenant, "grant", "child run", run, measure, part.amount)
            case _:
                yield Part(name.tenant, name.text, "", "", measure, part.amount)


def _fits(one: Held, name: str, tenant: str | None) -> bool:
    tenants = {part.tenant for part in one.parts}
    names = {one.call, one.run, *tenants, *[word for part in one.parts for word in (part.budget, part.whose)]}
    return (not name or name in names) and (tenant is None or tenant in tenants)


def _show(found: list[Held]) -> None:
    if not found:
        put(sys.stdout, "nothing is held: every call has reported what came of it")
        return
    rows = [
        (
            shown_at(one.since_ms),
            "a process of the fleet" if one.slice else one.run,
            one.call,
            shown(Unit[part.measure.upper()], part.amount),
            part.measure,
            " ".join(word for word in (part.budget, part.per, part.whose) if word),
            "" if one.heard_ms is None else span(max(0, wall_ms() - one.heard_ms)),
        )
        for one in found
        for part in one.parts
    ]
    columns = ("since", "held by", "call", "reserved", "measure", "of", "silent for")
    for line in table(columns, rows, ("reserved",), Terminal.of(sys.stdout, os.environ)):
        put(sys.stdout, line)
