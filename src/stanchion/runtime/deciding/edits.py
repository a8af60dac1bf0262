"""Calls that a person has changed before they go ahead."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import msgspec

from stanchion.approvals.words import EDIT_ASKS, EDIT_UNFIT, EDITED
from stanchion.kernel.actions import Action
from stanchion.kernel.content import content_of
from stanchion.kernel.decision import Decision
from stanchion.kernel.events import Event
from stanchion.kernel.findings import Finding, Patch
from stanchion.runtime.deciding.desk import Desk

if TYPE_CHECKING:
    from stanchion.runtime.deciding.escalation import Granted


class Edit(NamedTuple):
    """A call that goes ahead with other arguments: the event as the agent asked for it, the yes,
    and what the guards asked about it."""

    before: Event
    granted: Granted
    questions: frozenset[tuple[str, str]]

    def answers(self, decision: Decision) -> bool:
        """Whether the yes answers all that is asked about the call as it is now: the same guards
        ask the same."""
        return questions(decision) <= self.questions


def questions(decision: Decision) -> frozenset[tuple[str, str]]:
    """What the guards ask a person, those included that have their answer: by whom, and which
    question."""
    from stanchion.runtime.deciding.value_questions import asks_of

    return frozenset([(one.guard, one.code) for one in asks_of(decision)])


def unfit(granted: Granted) -> Finding:
    """What stands against a changed call that its host would run unchanged."""
    return Finding(Action.BLOCK, EDIT_UNFIT, (granted.ticket,), guard="kernel")


def unanswered(edit: Edit) -> Finding:
    """What stands against a changed call about which there is another question."""
    return Finding(Action.BLOCK, EDIT_ASKS, (edit.granted.ticket,), guard="kernel")


def told(desk: Desk, edit: Edit, decision: Decision, event: Event) -> Decision:
    """The decision about a changed call, as one that a host can carry out: with the whole new
    content. The agent reads that it was changed, and to what."""
    if not decision.proceeds:
        return decision
    args = msgspec.json.encode(edit.granted.edits, order="deterministic").decode()
    finding = Finding(Action.REDACT, EDITED, (edit.granted.ticket, args), guard="kernel")
    desk.tell(f"{finding.message}; {finding.advice}")
    return msgspec.structs.replace(
        decision,
        action=max(decision.action, Action.REDACT),
        findings=(*decision.findings, finding),
        patches=(Patch((), content_of(event)),),
    )
