"""Recording: every decision is written down before it takes effect, and what cannot be recorded does not happen."""

from __future__ import annotations

from time import perf_counter_ns
from typing import Any, Final

import msgspec

from stanchion.audit.errors import AuditLost
from stanchion.audit.record import INTENT, KINDS, OUTCOME
from stanchion.kernel.actions import Action, Risk
from stanchion.kernel.chain import Plans
from stanchion.kernel.content import content_of
from stanchion.kernel.decision import Decision
from stanchion.kernel.events import Event, Failure, Moment, ToolCall, ToolResult
from stanchion.kernel.findings import Finding
from stanchion.kernel.state import Batch, StoreLost
from stanchion.policy.veil import renamed
from stanchion.runtime.asides import aside
from stanchion.runtime.desk import Desk
from stanchion.runtime.discretion import discreet, unseen, wanted
from stanchion.runtime.drivers import Flow
from stanchion.runtime.effects import Invoke
from stanchion.runtime.faulting import described
from stanchion.runtime.veiling import hidden_in, hidden_names, veiled

WAITS: Final = Risk.HIGH
"""From this risk on an action waits until its record is on the disk."""

MAX_CACHED: Final = 100_000
"""How many records a shield keeps at hand; what is dropped is read again."""


def written(
    desk: Desk, plans: Plans, moment: Moment, decision: Decision, begun_ns: int, notes: tuple[str, ...] = ()
) -> AuditLost | int | None:
    """Write a decision down. Gives `None` where all is well, the mark of a record that has to be waited for, or why
    it could not be written; `confirmed` deals with both.

    Late answers and cached records are left as the next decision may find them.
    """
    shield = desk.shield
    event = moment.events[0]
    try:
        if desk.told is not event.run:
            desk.announce(event.run)
        took_ns = perf_counter_ns() - begun_ns
        hide = unseen(plans, moment, decision) if decision.skipped else ()
        record = decision
        if hide or decision.shadow:
            record = discreet(decision, content_of(event), (*wanted(decision.shadow), *hide))
        shown, pairs = moment, hidden_in(plans, event, decision)
        if pairs:
            shown, record = veiled(moment, record, pairs)
            notes = renamed(notes, pairs)
        if record is not decision:
            # What is written is not what was judged: judged again, it would not leave what this decision left.
            record = msgspec.structs.replace(record, wrote=())
        mark: int = shield.journal.write(shown, record, took_ns, notes, hide)
    except AuditLost as lost:
        return lost
    finally:
        if moment.late:
            desk.owed(moment, decision)
    with desk.counting:
        desk.decided[decision.action] += 1
    if decision.shadow and KINDS[event.stage] != INTENT:
        # The agent gets what a guard in shadow mode would have redacted, but no record does.
        desk.veiled = desk.veiled or any(finding.patches for finding in decision.shadow)
    if len(shield.records) > MAX_CACHED:
        shield.records.clear()
    return mark if event.risk >= WAITS and decision.proceeds and KINDS[event.stage] == INTENT else None


def confirmed(desk: Desk, decision: Decision, outcome: AuditLost | int) -> Flow[Decision]:
    """Wait for a record to get to the disk; where it does not, the decision becomes a refusal that keeps nothing."""
    lost = outcome
    if isinstance(lost, int):
        try:
            yield Invoke(desk.shield.journal.sync, (lost,))
        except AuditLost as error:
            lost = error
        else:
            return decision
    refused = unrecorded(desk, decision, lost)
    if decision.held and not refused.held:
        try:
            yield Batch(desk.new_id(), desk.info.tenant, settles=((decision.id, None),))
        except StoreLost:
            desk.tell("the store could not be reached: what the last call reserved stays charged")
    return refused


def barred(desk: Desk, moment: Moment) -> Decision | None:
    """The refusal of a moment that could not be recorded now, found before any state is touched.

    What came of an action is judged all the same: it has happened already. Late answers wait for the next event.
    """
    if moment.settles or KINDS[moment.events[0].stage] == OUTCOME:
        return None
    try:
        desk.shield.journal.probe()
    except AuditLost as lost:
        decision = Decision(moment.id, Action.ALLOW, desk.plans.policy.hash)
        refused = unrecorded(desk, decision, lost)
        if refused.proceeds:
            return None
        desk.owed(moment, refused)
        return refused
    return None


def unrecorded(desk: Desk, decision: Decision, lost: AuditLost) -> Decision:
    """What becomes of a decision that could not be recorded; a policy that only watches does not refuse."""
    shadow = desk.plans.policy.shadow
    aside("the audit trail cannot be written", lost)
    finding = Finding(Action.BLOCK, "kernel.audit_lost", (str(lost),), guard="kernel", shadow=shadow)
    if shadow:
        return msgspec.structs.replace(decision, shadow=(*decision.shadow, finding))
    action = max(decision.action, Action.BLOCK)
    findings = (finding, *decision.findings)
    return msgspec.structs.replace(decision, action=action, findings=findings, patches=(), held=False)


def left(desk: Desk, event: Event, decision: Decision, how: str, error: BaseException | None = None) -> None:
    """Write down what came of an action whose outcome nobody judges: it was interrupted, or gave its last item."""
    about: dict[str, Any] = {"call": decision.id, "tool": event.tool}
    if isinstance(event, ToolCall):
        about["args"] = event.args
    outcome: Any
    if error is None:
        outcome = desk.event(ToolResult, **about)
    else:
        outcome = desk.event(Failure, **about, **(described(desk.shield.policy, error) | {"text": ""}))
    ended = Decision(outcome.id, Action.ALLOW, decision.policy)
    shown, said = veiled(Moment((outcome,)), ended, hidden_names(desk.plans, outcome))
    try:
        desk.shield.journal.write(shown, said, 0, (how,))
    except AuditLost:
        desk.tell("the audit trail could not be written: the outcome of the last call is not recorded")
