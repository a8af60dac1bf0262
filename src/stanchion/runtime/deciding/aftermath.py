"""The aftermath of a decision: what it means for the run as a whole is carried out, and what it
leaves is owed."""

from __future__ import annotations

from typing import Final

from stanchion.kernel.actions import Action
from stanchion.kernel.decision import Decision
from stanchion.kernel.events import Event, Moment
from stanchion.kernel.findings import ASK, FINAL, GUIDE, MARKS, ROLLBACK, Isolate, Narrow
from stanchion.kernel.happened import has_happened
from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.deciding.mandates import narrow
from stanchion.runtime.deciding.shifts import EXHAUSTED, end_run, isolate, repeated, signalled
from stanchion.runtime.deciding.taken import doubtful, owed, places_of
from stanchion.runtime.deciding.terms import terms_of
from stanchion.runtime.deciding.undo import roll_back
from stanchion.runtime.driving.flow import Flow
from stanchion.runtime.standing.occurring import tell_run
from stanchion.telemetry.occurrences import Kind

ISOLATE: Final = Isolate()
FORGOT: Final = "kernel.store_forgot"


def owe(desk: Desk, moment: Moment, decision: Decision | None = None) -> None:
    """Leave to the next trip what a moment was to give back and nobody knows to be given back; one
    that begins something gives back what it may have taken, which is nothing where the store was
    not asked."""
    event, unsettled = moment.events[0], desk.shield.unsettled
    if moment.settles or has_happened(event):
        unsettled.owe(owed(desk, event, moment.settles))
    elif decision is None or decision.inputs.crowd is None:
        unsettled.owe(doubtful(desk, event))


def passed_over(desk: Desk, moment: Moment, decision: Decision) -> None:
    """Leave to the next trip the places that an outcome was to give back, at guards which its
    refusal kept from being asked."""
    if has_happened(moment.events[0]):
        desk.shield.unsettled.owe(places_of(desk, moment.events[0], decision.skipped))


def aftermath(desk: Desk, event: Event, decision: Decision) -> Flow[None]:
    """Carry out what a decision means for its run: warnings, states, its end, what is undone, whom
    it asks."""
    if decision.action >= Action.ESCALATE:
        desk.last_refused = (event, decision)
    for finding in decision.findings:
        if finding.action == Action.WARN:
            desk.notice(event, finding)
        elif isinstance(finding.terms, Narrow):
            yield from narrow(desk, decision, finding.terms)
    if decision.code in EXHAUSTED:
        desk.shield.answers.unpaid.refused(
            desk.shield.policy, desk.info, decision, desk.shield.clock()
        )
    yield from signalled(desk, event, decision)
    determining = decision.determining
    if decision.code == FORGOT:
        text = "the state store was emptied, or restored from an older copy: see `stanchion store`"
        tell_run(desk, Kind.STORE_FORGOT, text, event, "store")
    if decision.action == Action.HALT and determining is not None and determining.guard != "kernel":
        tell_run(desk, Kind.RUN_HALTED, f"a run was ended: {determining.message}", event)
        last = determining if FINAL in determining.effects else None
        yield from end_run(desk, "kernel.ended", determining.message, last)
    elif decision.action == Action.QUARANTINE:
        terms = terms_of(decision, ISOLATE)
        why = "" if determining is None else determining.message
        whole = terms.what == "agent" or not event.tool
        name = f"agent:{desk.info.agent}" if whole else f"tool:{event.tool}"
        nobody = whole and terms.what == "only_tool"
        if not nobody and (
            terms.after <= 1 or (yield from repeated(desk, name, decision, terms.after))
        ):
            yield from isolate(desk, name, terms, why)
    if not decision.effects:
        return
    if decision.action == Action.RETRY and determining is not None and GUIDE in determining.effects:
        desk.tell(determining.advice)
    if not MARKS.isdisjoint(decision.effects):
        from stanchion.runtime.deciding.effects import carry_out

        yield from carry_out(desk, event, decision)
    if ROLLBACK in decision.effects:
        yield from roll_back(desk)
    if ASK in decision.effects and decision.action != Action.ESCALATE:
        from stanchion.runtime.deciding.escalation import report

        yield from report(desk, event, decision)
