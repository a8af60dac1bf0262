"""Assessing an action: judged until it is clear whether it starts."""

from __future__ import annotations

from collections.abc import Callable

from stanchion.kernel.decision import Decision
from stanchion.kernel.events import Event
from stanchion.kernel.findings import Finding
from stanchion.kernel.state import Stake
from stanchion.kernel.units import JUST_ONE, Amounts
from stanchion.runtime.deciding.attempts import Attempts
from stanchion.runtime.deciding.course import follow
from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.deciding.left import not_begun
from stanchion.runtime.deciding.start import LAPSED
from stanchion.runtime.deciding.under_way import Way
from stanchion.runtime.driving.flow import Flow


def assess(
    desk: Desk,
    event: Event,
    spent: Amounts = JUST_ONE,
    refused: tuple[Finding, ...] = (),
    stakes: tuple[Stake, ...] = (),
    waits: bool = False,
    reprice: Callable[[Event], Amounts] | None = None,
    way: Way | None = None,
) -> Flow[tuple[Decision, Event]]:
    """Judge an action until it is clear whether it starts: queued ones wait, a lesser one is judged
    once more, what is to be lesser and cannot be is refused, and one that a person has to answer
    for is judged again when one has (`waits`: here and now, otherwise when it is asked for again).

    `stakes` are records that the action rests on; `reprice` says what a lesser one reserves.
    Returns the decision and the event as it goes ahead, patched. Whoever is cut off behind this
    leaves the action by its `way`.
    """
    way = Way() if way is None else way
    way.waited = False
    return follow(desk, Attempts(event, event.id, spent, refused, stakes, waits, reprice, way))


def admit(
    desk: Desk,
    event: Event,
    spent: Amounts = JUST_ONE,
    refused: tuple[Finding, ...] = (),
    stakes: tuple[Stake, ...] = (),
    way: Way | None = None,
) -> Flow[tuple[Decision, Event]]:
    """Like `assess`, for a caller who asked to run it: raises `Refused` where it does not go
    ahead."""
    decision, event = yield from assess(desk, event, spent, refused, stakes, waits=True, way=way)
    if not decision.proceeds:
        raise desk.refusal(decision)
    return decision, event


def lapsed(desk: Desk, decision: Decision, event: Event, reserved: Amounts) -> Flow[Decision]:
    """Give back what an action has reserved that begins too late; gives the decision that refuses
    it."""
    not_begun(desk, decision, event)
    yield from desk.shield.unsettled.carry()
    refused, _ = yield from assess(desk, desk.renewed(event), reserved, (LAPSED,))
    return refused
