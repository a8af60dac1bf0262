"""How a store stands, as figures: whether it can be read, what waits for a person, and how much of
budgets is used."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from heapq import nlargest
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import unquote

from stanchion.approvals.shelf import TENANTS, head_key, head_of, tenants_of
from stanchion.kernel.contract.powers import having
from stanchion.kernel.counter_scopes import FLEET
from stanchion.kernel.regex import regex
from stanchion.kernel.state import StoreLost, key
from stanchion.kernel.units import Unit
from stanchion.stores.seen import SeenCell
from stanchion.telemetry.catalogue import BUDGET_USED, STORE_UP, TICKETS_WAITING
from stanchion.telemetry.registry import Series

if TYPE_CHECKING:
    from stanchion.policy.compiled import CompiledPolicy
    from stanchion.policy.veil import Veil

MOST: Final = 100
"""How many budgets are shown: those that are used up most."""
MOST_TENANTS: Final = 100

LimitOf = Callable[[str], int | None]
"""Gives the limit of a budget by whose it is; `None` where that has none."""

_PARTS: Final = regex(r"\{[^{}]*\}budget:([^:]+):([^:]+):([^:]+):?(.*?)(?:/[0-9]+)?", re.DOTALL)


class SpentBudget(NamedTuple):
    """How much of one budget is used, and whose it is."""

    share: float
    tenant: str
    budget: str
    measure: str
    per: str
    whose: str


def state_figures(
    store: Any, policy: CompiledPolicy | None, tenants: Iterable[str]
) -> list[Series]:
    """How a store stands; of budgets only those whose limits a policy says, for the tenants that
    are named."""
    try:
        found = [*_tickets(store, policy), *_budgets(store, policy, tenants)]
    except StoreLost:
        return [Series(STORE_UP.name, (), (0,))]
    return [Series(STORE_UP.name, (), (1,)), *found]


def _tickets(store: Any, policy: CompiledPolicy | None) -> Iterator[Series]:
    for tenant in tenants_of(store.read(TENANTS)[1])[:MOST_TENANTS]:
        shown = tenant if policy is None else policy.veil.name(tenant)
        yield Series(
            TICKETS_WAITING.name, (shown,), (head_of(store.read(head_key(tenant))[1]).count,)
        )


def _budgets(store: Any, policy: CompiledPolicy | None, tenants: Iterable[str]) -> Iterator[Series]:
    limits = {} if policy is None else _limits(policy)
    if policy is None or not limits:
        return
    cells = (
        _spent(tenant, cell, limits)
        for tenant in dict.fromkeys((*tenants, FLEET))
        for cell in store.look(key(tenant, "budget"))
    )
    veil: Veil = policy.veil
    for one in nlargest(MOST, [spent for spent in cells if spent is not None]):
        names = (
            veil.name(one.tenant),
            veil.name(one.budget),
            one.measure,
            one.per,
            veil.name(one.whose),
        )
        yield Series(BUDGET_USED.name, names, (one.share,))


def _limits(policy: CompiledPolicy) -> dict[tuple[str, str], LimitOf]:
    """What gives the limit of each counter by whose it is: the same for all, or a task's own."""
    found: dict[tuple[str, str], LimitOf] = {}
    for seat in policy.seats:
        spends = having(seat.placed.guard, "limits")
        if spends is None:
            continue
        guard: Any = spends
        counter = str(getattr(guard, "counter", seat.placed.id))
        of_task = getattr(guard, "of_task", None) is not None
        for unit in guard.measured if of_task else guard.limits():
            found[counter, unit.name.lower()] = partial(_limit, guard, unit, of_task)
    return found


def _limit(guard: Any, unit: Unit, of_task: bool, whose: str) -> int | None:
    bounding = guard.for_task(whose) if of_task else guard
    limit: int | None = None if bounding is None else bounding.limits().get(unit)
    return limit


def _spent(
    tenant: str, cell: SeenCell, limits: dict[tuple[str, str], LimitOf]
) -> SpentBudget | None:
    taken = _PARTS.fullmatch(cell.key)
    if taken is None:
        return None
    budget, measure, per, whose = [unquote(part) for part in taken.groups()]
    limit_of = limits.get((budget, measure))
    limit = None if limit_of is None else limit_of(whose)
    if limit is None:
        return None
    used = cell.number if cell.live is None else cell.live
    return SpentBudget(used / limit if limit else 1.0, tenant, budget, measure, per, whose)
