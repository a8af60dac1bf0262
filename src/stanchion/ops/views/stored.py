"""What a store holds, cell by cell and hold by hold, as it may be shown: secrets in names are
hidden."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from msgspec import UNSET, Struct, UnsetType, ValidationError

from stanchion import typed
from stanchion.kernel.gates import PAUSED, GateStanding, Paused, stop_of
from stanchion.kernel.registers import outcomes, streak
from stanchion.kernel.state import ANCHOR, EPOCH, STANDING
from stanchion.kernel.units import Unit
from stanchion.ops.views.amounts import MEASURES
from stanchion.ops.views.names import KeyName, name_of
from stanchion.ops.views.record_says import says
from stanchion.ops.views.standing import StateView, states
from stanchion.ops.views.veiled import veiled
from stanchion.runtime.answers.notebook import NOTES
from stanchion.stores.protocol import Store
from stanchion.stores.seen import SeenCell, Took

MOST: Final = 50
"""How many cells of a kind are told of each tenant."""

REGISTERS: Final = frozenset({"errors", "health"})
"""Counters whose number is the last outcomes of something, by the first part of their name."""

KEPT_ASIDE: Final = (EPOCH, f":{ANCHOR}")


class _Cell(Struct, frozen=True, kw_only=True, tag_field="kind"):
    """A cell: its key, whose it is, the parts of its name, and when it was last written."""

    key: str
    tenant: str
    parts: tuple[str, ...]
    shadow: bool
    touched_ms: int
    name: str
    """The name as people read it."""


class ShieldCell(_Cell, frozen=True, kw_only=True, tag="shield"):
    """The states of a tenant or the fleet, and of what is in it."""

    version: int
    value: Any
    states: tuple[StateView, ...]


class RunCell(_Cell, frozen=True, kw_only=True, tag="run"):
    """That a run has ended, or waits for a person, and why."""

    version: int
    value: Any
    run: str
    code: str
    why: str


class CounterCell(_Cell, frozen=True, kw_only=True, tag="counter"):
    """A counter: its total, what that measures where its name says so, and what is in its window if
    it has one."""

    total: int
    measure: str
    window_ms: int | UnsetType = UNSET
    in_window: int | UnsetType = UNSET


class OutcomesCell(_Cell, frozen=True, kw_only=True, tag="outcomes"):
    """The last outcomes of a tool, run, agent or tenant: how many are known, how many failed, how
    many of the last in a row."""

    known: int
    failed: int
    failed_in_a_row: int


class RecordCell(_Cell, frozen=True, kw_only=True, tag="record"):
    """A record: its version, its value as it is kept, and what it says in a few words. Of what a
    run has read, only how much it is."""

    version: int
    value: Any
    says: str


class TookView(Struct, frozen=True):
    """What a hold took from one counter. `keeps`: it is spend, which stays charged when the hold
    lapses."""

    key: str
    amount: int
    measure: str
    keeps: bool
    tenant: str
    name: str


class HoldView(Struct, frozen=True, tag="hold", tag_field="kind"):
    """A hold that is not settled: when it is due, what it took and when. `lapsed`: its time is
    over."""

    id: str
    due_ms: int
    lapsed: bool
    took: tuple[TookView, ...]
    since_ms: int = 0


CellView = ShieldCell | RunCell | CounterCell | OutcomesCell | RecordCell


class TenantView(Struct, frozen=True):
    """The cells of one tenant by kind, at most so many of each, and how many more there are."""

    tenant: str
    cells: dict[str, list[CellView]]
    more: dict[str, int]


def cells(store: Store, prefix: str, now: int) -> Iterator[CellView]:
    """Every cell whose name, or whose key, begins so; without a prefix, what the store keeps for
    itself is left out."""
    if prefix.startswith(("{", "~")):
        yield from (cell_of(seen, now) for seen in store.look(prefix))
        return
    for seen in store.look():
        if not prefix and seen.key.endswith(KEPT_ASIDE):
            continue
        if _begins(name_of(seen.key, seen.live is not None), prefix):
            yield cell_of(seen, now)


def cell_of(seen: SeenCell, now: int) -> CellView:
    """What a cell is, as it may be shown."""
    return veiled(_cell(seen, now))


def holds(store: Store, prefix: str) -> Iterator[HoldView]:
    """Every hold that is not settled and took from something that is named so."""
    windowed = windows(store)
    for hold in store.holds():
        named = [(took.key, name_of(took.key, took.key in windowed)) for took in hold.took]
        if not prefix or any(
            key.startswith(prefix) or _begins(name, prefix) for key, name in named
        ):
            took = tuple(
                [_took(each, name) for each, (_, name) in zip(hold.took, named, strict=True)]
            )
            yield veiled(HoldView(hold.id, hold.due_ms, hold.lapsed, took, hold.since_ms))


def windows(store: Store) -> frozenset[str]:
    """The keys of counters that have a window: those of holds do not say so themselves."""
    return frozenset(seen.key for seen in store.look() if seen.live is not None)


def by_tenant(found: Iterable[CellView], most: int = MOST) -> list[TenantView]:
    """Cells tenant by tenant, in the order of their names, at most so many of a kind."""
    tenants: dict[str, TenantView] = {}
    for cell in found:
        one = tenants.setdefault(cell.tenant, TenantView(cell.tenant, {}, {}))
        kind = str(type(cell).__struct_config__.tag)
        known = one.cells.setdefault(kind, [])
        if len(known) < most:
            known.append(cell)
        else:
            one.more[kind] = one.more.get(kind, 0) + 1
    return [one for _, one in sorted(tenants.items())]


def _begins(name: KeyName, prefix: str) -> bool:
    """Whether a name begins so, as it is or as it is shown."""
    return name.begins(prefix) or ("[" in prefix and veiled(name.text).startswith(prefix))


def _cell(seen: SeenCell, now: int) -> CellView:
    name = name_of(seen.key, seen.live is not None)
    base: dict[str, Any] = {
        "key": seen.key,
        "tenant": name.tenant,
        "parts": name.parts,
        "shadow": name.shadow,
        "touched_ms": seen.touched_ms,
        "name": name.text,
    }
    if seen.value is None:
        return _number(seen, name, base)
    base |= {"version": seen.number, "value": seen.value}
    try:
        if seen.key.endswith(STANDING):
            standing = typed.convert(seen.value, GateStanding)
            return ShieldCell(**base, states=tuple(states(name.tenant, standing, now)))
        if name.parts[0] == "run" and len(name.parts) == 2:
            told = stop_of(seen.value)
            if isinstance(told, Paused):
                return RunCell(
                    **base, run=name.parts[1], code=PAUSED, why=f"ticket `{told.ticket}` is open"
                )
            if told is not None:
                return RunCell(**base, run=name.parts[1], code=told.code, why=told.why)
    except ValidationError:
        pass
    if name.parts[0] == NOTES:
        base["value"] = None
    return RecordCell(**base, says=says(name, seen.value, now))


def _number(seen: SeenCell, name: KeyName, base: dict[str, Any]) -> CellView:
    if name.parts[0] in REGISTERS and len(name.parts) > 1 and seen.live is None:
        known, failed = outcomes(seen.number)
        return OutcomesCell(**base, known=known, failed=failed, failed_in_a_row=streak(seen.number))
    base |= {} if seen.live is None else {"window_ms": name.asked_ms, "in_window": seen.live}
    return CounterCell(**base, total=seen.number, measure=name.measure)


def _took(took: Took, name: KeyName) -> TookView:
    return TookView(
        took.key, took.amount, MEASURES[Unit(took.unit)], took.keeps, name.tenant, name.text
    )
