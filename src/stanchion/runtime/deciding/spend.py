"""Spending: what an action reserves before it starts, what it used when it is over, and what was
more than reserved."""

from __future__ import annotations

from typing import Any, Final

from stanchion.kernel.decision import Decision
from stanchion.kernel.events import Event, Handoff, ModelCall, ToolCall
from stanchion.kernel.stages import Stage
from stanchion.kernel.state import Batch, When
from stanchion.kernel.units import JUST_ONE, MICRO, NOTHING, Amounts, Unit
from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.driving.flow import Flow

OPEN_WORLD: Final = "open_world"
"""The annotation of a tool that reaches beyond this system: each of its calls is an external API
call."""


CALLS_OUT: Final = frozenset({Stage.MODEL_CALL, Stage.EGRESS})
"""Stages at which each action is one external API call."""

WORKS: Final = frozenset({Stage.TOOL_CALL, Stage.MODEL_CALL, Stage.HANDOFF})
"""Stages at which something begins that takes working time."""

NAMES: Final = ("tokens", "dollars", "API calls", "seconds of work")
PARTS: Final = (1, MICRO, 1, 1000)
"""What the measures of an action are called, and how many of what is counted make one of each."""

Named = frozenset[Unit]
"""What a host has said of an action, also where it said that it is nothing."""


def reserving(
    desk: Desk,
    event: Event,
    spent: Amounts,
    timeout_s: float | None = None,
    named: Named = frozenset(),
) -> Amounts:
    """What an action reserves: what its host says, one API call if it reaches outside, and as an
    upper bound of its working time the time it may take, or what a budget reserves for that. Only
    what a budget bounds is reserved."""
    measures = desk.measures
    if not measures:
        return spent
    one, tokens, cost, api_calls, working_ms = spent
    if not api_calls and Unit.API_CALLS in measures and Unit.API_CALLS not in named:
        api_calls = int(OPEN_WORLD in event.traits or event.stage in CALLS_OUT)
    if (
        not working_ms
        and Unit.DURATION_MS in measures
        and Unit.DURATION_MS not in named
        and event.stage in WORKS
    ):
        working_ms = (
            _bound(desk, event)[Unit.DURATION_MS] if timeout_s is None else int(timeout_s * 1000)
        )
    reserved = (one, tokens, cost, api_calls, working_ms)
    return spent if reserved == spent else reserved


def lending(
    desk: Desk,
    event: Event,
    spent: Amounts,
    timeout_s: float | None = None,
    named: Named = frozenset(),
) -> tuple[Amounts, Named]:
    """What a host's own tool call or handoff reserves, and what of that goes back where its outcome
    does not say how much was used: nobody but the host can know whether it uses tokens or money at
    all.

    A handoff takes at least one of everything that a budget bounds, so that none begins where
    nothing is left.
    """
    reserved = reserving(desk, event, spent, timeout_s, named)
    bound, least = _bound(desk, event), int(event.stage is Stage.HANDOFF)
    lent = [
        unit for unit in LENT if unit in desk.measures and unit not in named and not reserved[unit]
    ]
    lent = [unit for unit in lent if max(bound[unit], least)]
    if not lent:
        return reserved, frozenset()
    one, *rest = [max(bound[unit], least) if unit in lent else reserved[unit] for unit in Unit]
    tokens, cost, api_calls, working_ms = rest
    return (one, tokens, cost, api_calls, working_ms), frozenset(lent)


LENT: Final = (Unit.TOKENS, Unit.COST_MICROUSD, Unit.API_CALLS, Unit.DURATION_MS)


def _bound(desk: Desk, event: Event) -> Amounts:
    """What the policy reserves for an action that nobody has estimated."""
    return desk.shield.policy.bounds(event.stage, event.tool, event.run)


def used_by(desk: Desk, reserved: Amounts, began_ms: int, said: Amounts | None = None) -> Amounts:
    """What an action used: what its host or its model says, otherwise what was reserved; its time
    is measured."""
    spent = reserved if said is None else said
    if (
        Unit.DURATION_MS not in desk.measures
        or spent[Unit.DURATION_MS] != reserved[Unit.DURATION_MS]
    ):
        return spent
    return (*spent[:4], max(0, desk.shield.clock() - began_ms))


def overruns(reserved: Amounts, used: Amounts) -> tuple[str, ...]:
    """What an action used beyond what it had reserved, in words for its record."""
    words: list[str] = []
    for name, parts, more, most in zip(NAMES, PARTS, used[1:], reserved[1:], strict=True):
        if more > most > 0:
            words.append(
                f"it used {more / parts:g} {name}, {(more - most) / parts:g} more than reserved"
            )
    return tuple(words)


def settled(decision: Decision, used: Amounts = JUST_ONE) -> tuple[tuple[str, Amounts | None], ...]:
    """How a decision's hold is closed: with what was used."""
    return ((decision.id, used),) if decision.held else ()


def close_hold(desk: Desk, decision: Decision, used: Amounts = JUST_ONE) -> Flow[None]:
    """Close a hold at its estimate where the outcome of its action is not known."""
    if decision.held:
        batch = Batch(desk.new_id(), desk.info.tenant, settles=settled(decision, used))
        if (yield from desk.shield.unsettled.send(batch)) is None:
            desk.tell(
                "the store could not be reached: what the last call reserved stays charged until "
                "it is back"
            )


def unforeseen(desk: Desk, reserved: Amounts, used: Amounts) -> Amounts:
    """What an action used of something that it had reserved nothing of: a hold cannot settle that,
    it has to be booked. `NOTHING` where no budget bounds it."""
    if not desk.measures:
        return NOTHING
    one, tokens, cost, api_calls, working = [
        used[unit] if not reserved[unit] and unit is not Unit.ONE else 0 for unit in Unit
    ]
    return (one, tokens, cost, api_calls, working)


def book(desk: Desk, event: Event, spent: Amounts) -> Flow[Any]:
    """Count a cost that is known already, whatever it exceeds: refusing it would not make it
    unspent.

    `event` is what it began with, by which its budgets are found. A lost store counts it when it is
    back.
    """
    if spent == NOTHING:
        return
    plan = desk.plans.of((event,), "")
    lines = tuple([line._replace(bands=(), hold_ms=0) for line in plan.lines if not line.follows])
    if lines:
        yield from desk.shield.unsettled.send(
            Batch(desk.new_id(), desk.info.tenant, lines=lines, amounts=spent)
        )


def start_of(desk: Desk, event: Any) -> Event:
    """What had begun, to find the budgets that it counts on."""
    if event.stage is Stage.CHARGE:
        start: Event = event
    elif event.stage is Stage.HANDOFF_DONE:
        start = desk.event(Handoff, to=event.to)
    else:
        start = desk.event(ToolCall, event.tool) if event.tool else desk.event(ModelCall)
    return start


def unbook(desk: Desk, event: Event, spent: Amounts) -> Flow[None]:
    """Take off what was counted for good for an action that does not begin after all; what was held
    for it goes back by itself. That it was asked for still counts."""
    if spent[1:] == NOTHING[1:]:
        return
    _, tokens, cost, api_calls, working_ms = spent
    plan = desk.plans.of((event,), "")
    counted = [line for line in plan.lines if not (line.follows or line.hold_ms or line.bits)]
    lines = tuple(
        [
            line._replace(bands=())
            for line in counted
            if line.when == When.PROCEED and spent[line.unit]
        ]
    )
    if lines:
        less: Amounts = (0, -tokens, -cost, -api_calls, -working_ms)
        yield from desk.shield.unsettled.send(
            Batch(desk.new_id(), desk.info.tenant, lines=lines, amounts=less)
        )
