"""The aftermath of a decision: its record is waited for, and what it means for the run as a whole is carried out."""

from __future__ import annotations

from typing import Final

from stanchion.audit.errors import AuditLost
from stanchion.kernel.actions import Action
from stanchion.kernel.decision import Decision
from stanchion.kernel.events import Event, Moment
from stanchion.kernel.findings import ASK, ROLLBACK, Isolate
from stanchion.kernel.happened import has_happened
from stanchion.runtime.desk import Desk
from stanchion.runtime.drivers import Flow
from stanchion.runtime.owed import doubtful, owed, places_of
from stanchion.runtime.recording import confirmed
from stanchion.runtime.standing import end_run, isolate, repeated, signalled
from stanchion.runtime.terms import terms_of
from stanchion.runtime.under_way import Way, abandoned
from stanchion.runtime.undoing import roll_back

ISOLATE: Final = Isolate()


def owe(desk: Desk, moment: Moment, decision: Decision | None = None) -> None:
    """Leave to the next trip what a moment was to give back and nobody knows to be given back; one that begins
    something gives back what it may have taken, which is nothing where the store was not asked."""
    event, unsettled = moment.events[0], desk.shield.unsettled
    if moment.settles or has_happened(event):
        unsettled.owe(owed(desk, event, moment.settles))
    elif decision is None or decision.inputs.crowd is None:
        unsettled.owe(doubtful(desk, event))


def unheard(desk: Desk, way: Way, decision: Decision) -> None:
    """Leave a call that does not begin, because the store did not answer, or was not asked."""
    if decision.inputs.crowd is None or way.waited:
        abandoned(desk, way.call)
    else:
        desk.under_way.over(way.call)


def passed_over(desk: Desk, moment: Moment, decision: Decision) -> None:
    """Leave to the next trip the places that an outcome was to give back, at guards which its refusal kept from being
    asked."""
    if has_happened(moment.events[0]):
        desk.shield.unsettled.owe(places_of(desk, moment.events[0], decision.skipped))


def seen_to(desk: Desk, event: Event, decision: Decision, outcome: AuditLost | int | None) -> Flow[Decision]:
    """Wait for the record of a start, and carry out what concerns the run as a whole."""
    if outcome is not None:
        decision = yield from confirmed(desk, event, decision, outcome)
    if desk.shield.unsettled.waiting and decision.inputs.reply is not None:
        yield from desk.shield.unsettled.carry()
    yield from aftermath(desk, event, decision)
    return decision


def aftermath(desk: Desk, event: Event, decision: Decision) -> Flow[None]:
    """Carry out what a decision means for its run: warnings, states, its end, what is undone, whom it asks."""
    for finding in decision.findings:
        if finding.action == Action.WARN:
            desk.notice(event, finding)
    yield from signalled(desk, event, decision)
    determining = decision.determining
    if decision.action == Action.HALT and determining is not None and determining.guard != "kernel":
        yield from end_run(desk, "kernel.ended", determining.message)
    elif decision.action == Action.QUARANTINE:
        terms = terms_of(decision, ISOLATE)
        why = "" if determining is None else determining.message
        whole = terms.what == "agent" or not event.tool
        name = f"agent:{desk.info.agent}" if whole else f"tool:{event.tool}"
        if terms.after <= 1 or (yield from repeated(desk, name, decision, terms.after)):
            yield from isolate(desk, name, terms.for_ms, why)
    if decision.effects and ROLLBACK in decision.effects:
        yield from roll_back(desk)
    if decision.effects and ASK in decision.effects and decision.action != Action.ESCALATE:
        from stanchion.runtime.escalating import report

        yield from report(desk, event, decision)
