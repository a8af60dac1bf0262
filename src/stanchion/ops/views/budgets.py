"""Budgets as they stand: what is used or reserved of each, its limit, and what is held and not
settled."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from stanchion.guards.budget import ALLOTTED, Budget
from stanchion.kernel.units import Unit
from stanchion.ops.views.amounts import MEASURES, UNITS
from stanchion.ops.views.names import name_of
from stanchion.ops.views.stored import windows
from stanchion.ops.views.veiled import veiled
from stanchion.policy.compiled import CompiledPolicy
from stanchion.runtime.deciding.open_calls import run_of, spends
from stanchion.stores.leasing.lease import POOLS, is_slice, lender_key, lender_of
from stanchion.stores.protocol import Store
from stanchion.stores.seen import Took

WHOLE: Final = ("tenant", "fleet")
"""Scopes of which there is one, so that their counters do not say whose they are."""

Limit = tuple[int, float | None]
"""A limit, and its window in seconds."""


class Limits(msgspec.Struct, frozen=True):
    """The limits of a policy by counter and what is measured: those that are the same for all, and
    the budgets that each task has its own limit of."""

    own: dict[tuple[str, str], Limit] = {}
    of_tasks: dict[tuple[str, str], Budget] = {}

    def of(self, counter: str, measure: str, whose: str) -> Limit | None:
        """The limit of a budget; `whose` is the task where it is a task's."""
        name = (counter, measure)
        bounding = self.of_tasks[name].for_task(whose) if name in self.of_tasks else None
        if bounding is None:
            return self.own.get(name)
        limits = {MEASURES[unit]: limit for unit, limit in bounding.limits().items()}
        return limits[measure], bounding.window_s


class BudgetView(msgspec.Struct, frozen=True):
    """One budget as it stands: whose, of what, how much is used or reserved, and its limit where
    that is known.

    Numbers are in the unit that `measure` names: `one` (calls), `tokens`, `cost_microusd`,
    `api_calls`, `duration_ms`.
    """

    tenant: str
    budget: str
    per: str
    whose: str
    measure: str
    used: int
    limit: int | None = None
    window_s: float | None = None
    period: str = ""
    """The hour, day or month that it is of, where it is one with a `window`."""

    @property
    def share(self) -> float:
        """How much of it is used; 0 where its limit is not known."""
        return 0.0 if self.limit is None else 1.0 if not self.limit else self.used / self.limit


class HeldPart(msgspec.Struct, frozen=True):
    """What is reserved of one budget: which, whose, of what, and how much."""

    tenant: str
    budget: str
    per: str
    whose: str
    measure: str
    amount: int


class HeldView(msgspec.Struct, frozen=True):
    """What a call has reserved and not settled. A slice is what a process holds of a budget of the
    whole fleet; `heard_ms` is when that process was last heard of."""

    call: str
    run: str
    since_ms: int
    parts: tuple[HeldPart, ...]
    slice: bool = False
    heard_ms: int | None = None


def limits_of(policy: CompiledPolicy) -> Limits:
    """The limits that a policy sets."""
    guards = [seat.placed.guard for seat in policy.seats if isinstance(seat.placed.guard, Budget)]
    own = {
        (str(guard.counter), MEASURES[unit]): (limit, guard.window_s)
        for guard in guards
        for unit, limit in guard.limits().items()
    }
    of_tasks = {
        (str(guard.counter), MEASURES[unit]): guard
        for guard in guards
        if guard.of_task is not None
        for unit in guard.measured
    }
    return Limits(own, of_tasks)


def budgets(store: Store, limits: Limits, name: str = "") -> list[BudgetView]:
    """Every budget in a store, by whose it is; or those of a run, task, agent or tenant of that
    name."""
    each = ((one, veiled(one)) for one in _spent(store, limits))
    found = [shown for one, shown in each if _is_of(one, name) or _is_of(shown, name)]
    return sorted(found, key=lambda one: (one.tenant, one.per, one.whose, one.budget, one.measure))


def most_used(found: list[BudgetView], count: int) -> list[BudgetView]:
    """Those of which least is left."""
    return sorted(found, key=lambda one: (-one.share, -one.used))[:count]


def held(store: Store, name: str = "", tenant: str | None = None) -> list[HeldView]:
    """What is held of budgets, the oldest first: all of it, or that of a call, run, budget, or
    whose that is called so, and of one tenant."""
    windowed = windows(store)
    beats = {seen.key: seen.touched_ms for seen in store.look(lender_key(""))}
    found = []
    for hold in store.holds():
        if not spends(hold):
            continue
        parts = tuple(_parts(hold.took, windowed))
        heard = (
            max(hold.since_ms, beats.get(lender_key(lender_of(hold.id)), 0))
            if is_slice(hold.id)
            else None
        )
        one = HeldView(hold.id, run_of(hold.id), hold.since_ms, parts, is_slice(hold.id), heard)
        shown = veiled(one)
        if _is_held_by(one, name, tenant) or _is_held_by(shown, name, tenant):
            found.append(shown)
    return sorted(found, key=lambda one: (one.since_ms, one.slice, one.call))


def _spent(store: Store, limits: Limits) -> Iterator[BudgetView]:
    for cell in store.look():
        name = name_of(cell.key, cell.live is not None)
        used = cell.number if cell.live is None else cell.live
        match name.parts:
            case ("budget", counter, unit, per, *whose) if unit in UNITS and not name.shadow:
                asked_s = name.asked_ms / 1000 if name.window_ms else None
                period = whose.pop()[1:] if len(whose) > (per not in WHOLE) else ""
                named = ":".join(whose)
                found = limits.of(counter, unit, named)
                limit, window_s = (None, asked_s) if found is None else found
                yield BudgetView(
                    name.tenant, counter, per, named, unit, used, limit, window_s, period
                )
            case (first, unit, "run", whose) if first == ALLOTTED and unit in UNITS:
                yield BudgetView(name.tenant, "allotment", "child run", whose, unit, used)


def _is_of(one: BudgetView, name: str) -> bool:
    return not name or name in (one.tenant, one.whose, one.budget)


def _parts(took: tuple[Took, ...], windowed: frozenset[str]) -> Iterator[HeldPart]:
    for part in took:
        if not part.keeps or part.key.startswith(POOLS):
            continue
        name = name_of(part.key, part.key in windowed)
        measure = MEASURES[Unit(part.unit)]
        match name.parts:
            case ("budget", counter, _, per, *whose):
                yield HeldPart(name.tenant, counter, per, ":".join(whose), measure, part.amount)
            case (first, _, "run", run) if first == ALLOTTED:
                yield HeldPart(name.tenant, "allotment", "child run", run, measure, part.amount)
            case _:
                yield HeldPart(name.tenant, name.text, "", "", measure, part.amount)


def _is_held_by(one: HeldView, name: str, tenant: str | None) -> bool:
    tenants = {part.tenant for part in one.parts}
    names = {
        one.call,
        one.run,
        *tenants,
        *[word for part in one.parts for word in (part.budget, part.whose)],
    }
    return (not name or name in names) and (tenant is None or tenant in tenants)
