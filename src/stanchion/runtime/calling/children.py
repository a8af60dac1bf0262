"""Children: a budget carved out of a parent's, and what is left of it given back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from stanchion.guards.budget import allotment_key, allotments
from stanchion.kernel.events import SPAWNED, Handoff
from stanchion.kernel.state import Batch, Line, Reply, Settle, StoreLost, When
from stanchion.kernel.units import Amounts, Unit, amounts
from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.deciding.judging import admit
from stanchion.runtime.driving.flow import Flow

MEASURES = {
    "calls": Unit.ONE,
    "tokens": Unit.TOKENS,
    "cost_usd": Unit.COST_MICROUSD,
    "api_calls": Unit.API_CALLS,
    "duration_s": Unit.DURATION_MS,
}
"""What a budget can be given in."""


class Carved(NamedTuple):
    """What was carved out for a child: by unit, -1 where nothing was, and the hold on its parent's
    budgets."""

    allotment: Amounts
    hold: str


def allotted(budget: Mapping[str, Any]) -> Amounts:
    """A budget as amounts by unit, -1 for those it does not speak of."""
    unknown = [name for name in budget if name not in MEASURES]
    if unknown or not budget:
        said = f"`{unknown[0]}` is not a measure" if unknown else "the budget is empty"
        raise ValueError(f"{said}: give some of {', '.join(MEASURES)}")
    calls, seconds = budget.get("calls", 0), budget.get("duration_s", 0)
    for name, value in (("calls", calls), ("duration_s", seconds)):
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 10**9:
            raise ValueError(
                f"{name} is `{value}`: give a number that is not negative and below 10^9"
            )
    rest = {name: budget[name] for name in ("tokens", "cost_usd", "api_calls") if name in budget}
    whole = (int(calls), *amounts(**rest, duration_ms=round(seconds * 1000))[1:])
    named = {MEASURES[name] for name in budget}
    one, tokens, cost, api_calls, working = [whole[unit] if unit in named else -1 for unit in Unit]
    return (one, tokens, cost, api_calls, working)


def carve(desk: Desk, agent: str, budget: Mapping[str, Any]) -> Flow[Carved]:
    """Carve a child's budget out of its parent's, all levels at once or none; raises `Refused`
    where it is not there.

    It is a handoff to the child: judged, recorded, and held until the child gives back what it did
    not use.
    """
    allotment = allotted(budget)
    one, tokens, cost, api_calls, working = [max(0, amount) for amount in allotment]
    event = desk.event(Handoff, to=agent, payload={"budget": dict(budget)})
    event = msgspec.structs.replace(event, traits=(*event.traits, SPAWNED))
    decision, _ = yield from admit(desk, event, (one, tokens, cost, api_calls, working))
    return Carved(allotment, decision.id if decision.held else "")


def give_back(desk: Desk) -> Flow[None]:
    """Settle what was carved out for a run with what it used; what is still under way counts as
    reserved.

    What waits for the store goes before it.
    """
    yield from desk.shield.unsettled.carry()
    hold, desk.carved = desk.carved, ""
    if not hold:
        return
    units = list(allotments(desk.info))
    lines = tuple(
        [Line(allotment_key(desk.info, unit), unit=unit, when=When.LOOK) for unit in units]
    )
    try:
        reply: Reply = yield Batch(desk.new_id(), desk.info.tenant, lines=lines)
        used = dict(zip(units, reply.values, strict=True))
        one, tokens, cost, api_calls, working = [used.get(unit, 0) for unit in Unit]
    except StoreLost:
        desk.tell(
            "the store could not be reached: what this run did not use stays charged to its parent"
        )
        return
    settles: tuple[Settle, ...] = ((hold, (one, tokens, cost, api_calls, working)),)
    yield from desk.shield.unsettled.send(Batch(desk.new_id(), desk.info.tenant, settles=settles))
