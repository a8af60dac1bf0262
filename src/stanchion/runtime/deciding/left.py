"""Calls that are left by whoever was at them, or do not begin: what one took is given back, and
written down."""

from __future__ import annotations

from collections.abc import Iterable
from weakref import ref

from stanchion.kernel.decision import Decision
from stanchion.kernel.events import Event
from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.deciding.record import left
from stanchion.runtime.deciding.taken import doubtful, owed
from stanchion.runtime.deciding.under_way import CLOSED, INTERRUPTED, NOT_BEGUN, Started, Way
from stanchion.runtime.driving.flow import Flow


def abandoned(desk: Desk, call: str, error: BaseException | None = None, how: str = "") -> bool:
    """Write down that a call was left which is still under way, and have what it took given back on
    the next trip; says whether it was. One that was not begun gives all of it back."""
    started = desk.under_way.leave(call) if call else None
    if started is None:
        return False
    leave(desk, started, error, how)
    return True


def close_calls(desks: Iterable[ref[Desk]]) -> None:
    """Write down that calls were left which are under way when their shield is closed: nobody can
    write their end any more."""
    for known in list(desks):
        if (desk := known()) is not None:
            for call in desk.under_way.calls():
                abandoned(desk, call, how=CLOSED)


def cut_off(desk: Desk, way: Way, error: BaseException, how: str = "") -> Flow[None]:
    """Leave what somebody was at who is cut off, and tell the store, unless they are only collected
    as garbage."""
    abandoned(desk, way.call, error, how)
    if not isinstance(error, GeneratorExit):
        yield from desk.shield.unsettled.catch_up()


def not_begun(desk: Desk, decision: Decision, event: Event) -> None:
    """Write down that a call was not begun after all, and have all that it took given back on the
    next trip."""
    started = desk.under_way.leave(decision.id)
    if started is not None:
        started.begun = False
        leave(desk, started)
    else:
        desk.shield.unsettled.owe(
            owed(desk, event, ((decision.id, None),) if decision.held else ())
        )


def leave(desk: Desk, started: Started, error: BaseException | None = None, how: str = "") -> None:
    """Have what a call took given back on the next trip, and write down that it was left. What was
    not even decided has no record."""
    event, decision = started.event, started.decision
    page = () if started.page is None else (started.page.left(started.begun),)
    if decision is None:
        desk.shield.unsettled.owe(doubtful(desk, event, page))
        desk.under_way.over(event.id)
        return
    used = started.reserved if started.begun else None
    desk.shield.unsettled.owe(
        owed(desk, event, ((decision.id, used),) if decision.held else (), page)
    )
    why = how if how else INTERRUPTED
    left(desk, event, decision, why if started.begun else NOT_BEGUN, error)


def unheard(desk: Desk, way: Way, decision: Decision) -> None:
    """Leave a call that does not begin, because the store did not answer, or was not asked."""
    if decision.inputs.crowd is None or way.waited:
        abandoned(desk, way.call)
    else:
        desk.under_way.over(way.call)
