"""Calls that are left by whoever was at them, or do not begin: what one took is given back, and
written down."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final
from weakref import ref

from stanchion.audit.journal import Finish
from stanchion.kernel.actions import NAMES
from stanchion.kernel.decision import Decision
from stanchion.kernel.events import Event
from stanchion.kernel.gates import Ending
from stanchion.policy.veil import renamed
from stanchion.runtime.deciding.desk import SHIELD_CLOSED, Desk
from stanchion.runtime.deciding.record import left
from stanchion.runtime.deciding.under_way import (
    CLOSED,
    INTERRUPTED,
    LEFT,
    NOT_BEGUN,
    CallWay,
    StartedCall,
)
from stanchion.runtime.deciding.unsettled import doubtful, kept_for_run, owed
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
            desk.ended = SHIELD_CLOSED if desk.ended is None else desk.ended
            for call in desk.under_way.calls():
                abandoned(desk, call, how=CLOSED)


def cut_off(desk: Desk, way: CallWay, error: BaseException, how: str = "") -> Flow[None]:
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


def leave(
    desk: Desk, started: StartedCall, error: BaseException | None = None, how: str = ""
) -> None:
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


def unheard(desk: Desk, way: CallWay, decision: Decision) -> None:
    """Leave a call that does not begin, because the store did not answer, or was not asked."""
    if decision.inputs.crowd is None or way.waited:
        abandoned(desk, way.call)
    else:
        desk.under_way.over(way.call)


CLOSED_HERE: Final = Ending("kernel.ended", "it was closed")
"""The end of a run that was closed: it is this process's own, until somebody ends the run for
all."""


def close(desk: Desk) -> None:
    """End a run because it is closed, unless it has ended before."""
    if desk.ended is None:
        desk.ended = CLOSED_HERE
    end(desk, desk.ended.code, desk.ended.why)
    desk.shield.telemetry.run_ended(desk.info, desk.ended.code)
    if desk.shield.coverage is not None:
        desk.shield.coverage.leave(desk)
    if desk.shield.policy.learns:
        desk.shield.experience.ended(desk.info, desk.plans)


def end(desk: Desk, code: str, why: str) -> None:
    """Write down, once, that a run has ended, with what it had produced; a run that did nothing
    says nothing."""
    desk.answering.stop()
    desk.partial.complete()
    for one in desk.under_way.idle():
        leave(desk, one, how=LEFT)
    if (
        not desk.under_way.at_work()
    ):  # what somebody is still at stays locked for as long as a lock lasts
        desk.shield.unsettled.owe(kept_for_run(desk))
    if desk.told is None or desk.is_over:
        return
    desk.is_over = True
    _tell(desk, code, why)


def _tell(desk: Desk, code: str, why: str) -> None:
    """Write down that a run has ended, what this process decided in it, and what it had
    produced."""
    shield, veil = desk.shield, desk.shield.policy.veil
    decided = {
        NAMES[action]: number for action, number in enumerate(map(next, desk.decided)) if number
    }
    produced, left_out = desk.produced(), desk.partial.left_out
    if desk.veiled:
        produced, left_out = (), left_out + len(produced)
    who = renamed(desk.info, veil.of_run(desk.info))
    shield.telemetry.run_finished(code)
    finish = Finish(
        who,
        shield.clock(),
        code,
        veil.words(why),
        decided,
        produced,
        left_out,
        tuple(desk.flagged),
        dict(desk.strikes),
    )
    if not shield.unwritten.put(lambda: shield.journal.end(finish), f"the end of run `{who.id}`"):
        desk.tell(
            "the audit trail cannot be written: the end of this run is recorded as soon as it can "
            "be"
        )
