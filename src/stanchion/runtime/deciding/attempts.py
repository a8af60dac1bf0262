"""Attempts: the course of an action, judged again on other terms while it is not clear whether it
starts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from stanchion.approvals.words import EDIT_ASKS, EDIT_UNFIT, EDITED
from stanchion.kernel.actions import PROCEEDS, UNCHANGED, Action
from stanchion.kernel.chain import Plans
from stanchion.kernel.content import content_of, with_content
from stanchion.kernel.decision import Decision
from stanchion.kernel.events import Event, Moment
from stanchion.kernel.findings import Finding, Patch, Wait
from stanchion.kernel.state import Stake
from stanchion.kernel.units import JUST_ONE, Amounts
from stanchion.runtime.deciding.aftermath import looked_at
from stanchion.runtime.deciding.course import follow
from stanchion.runtime.deciding.degrade import NO_LESSER, joined, lesser
from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.deciding.left import cut_off, not_begun, unheard
from stanchion.runtime.deciding.run_memory import terms_of
from stanchion.runtime.deciding.start import LAPSED
from stanchion.runtime.deciding.under_way import STARTS, CallWay, StartedCall
from stanchion.runtime.deciding.unread import formless
from stanchion.runtime.driving.flow import Flow, TimePause

if TYPE_CHECKING:
    from stanchion.runtime.deciding.bypass import BypassLeave
    from stanchion.runtime.deciding.escalation import Granted


class ActionCourse(msgspec.Struct, eq=False):
    """What one action is judged on: what it reserves and rests on, and what stands against it; and
    what came of it so
    far: how long it has waited, a person's yes, the guardrails it goes past, the decision by which
    it is to be a lesser one."""

    event: Event
    first: str
    spent: Amounts
    refused: tuple[Finding, ...]
    stakes: tuple[Stake, ...]
    waits: bool
    reprice: Callable[[Event], Amounts] | None
    way: CallWay
    patience: QueuePatience | None = None
    granted: Granted | None = None
    edit: Edit | None = None
    past: tuple[BypassLeave, ...] = ()
    degraded: Decision | None = None
    started: StartedCall | None = None
    awake_ns: int = 0
    """When this attempt began, by a clock that goes on while the host sleeps."""
    notes: tuple[str, ...] = ()
    judged_by: Plans | None = None

    @property
    def waited(self) -> bool:
        """Whether it stood in a line."""
        return self.way.waited

    def moment(self, desk: Desk, plans: Plans) -> Moment:
        """The action, or the same once more. A person's yes holds under the policy that they gave
        it for."""
        self.awake_ns = desk.shield.awake_ns()
        if self.granted is not None and not self.granted.covers(plans.policy.hash):
            self._without_a_yes(desk)
        event, granted = self.event, self.granted
        attempt, again = 1 if self.degraded is None else 2, event.id != self.first
        if granted is None and not self.past:
            return desk.moment(event, self.spent, (), attempt, self.refused, self.stakes, "", again)
        self.past = past = tuple([one for one in self.past if one.policy == plans.policy.hash])
        stakes = (*self.stakes, *[stake for one in past for stake in one.stakes(event)])
        bypasses = tuple([name for one in past for name in one.bypasses])
        ticket = next((one.ticket.id for one in past), "")
        lifts: tuple[str, ...] = ()
        if granted is not None:
            ticket, lifts, stakes = granted.ticket, granted.lifts, (*stakes, *granted.stakes(event))
        return desk.moment(
            event, self.spent, (), attempt, self.refused, stakes, ticket, again, lifts, bypasses
        )

    def enter(self, desk: Desk, moment: Moment) -> None:
        """It is under way from here on, and whoever is cut off leaves it."""
        self.event = event = moment.events[0]
        self.started = desk.under_way.enter(self.way, event, self.spent)

    def heard(self, desk: Desk, _moment: Moment, decision: Decision) -> None:
        """What starts by this decision has to have an outcome; what does not begin because nobody
        heard the store is left; and a person's yes is used up."""
        if self.started is not None and decision.action <= (
            UNCHANGED if self.degraded is None else PROCEEDS
        ):
            self.started.decision = decision
        if decision.inputs.lost and not decision.proceeds:
            unheard(desk, self.way, decision)
        if decision.action > Action.QUEUE and any(
            Action.QUEUE in (one.action, one.said) for one in decision.findings
        ):
            self.way.waited = True  # it has a place in a line in which it is not going to wait
        if self.granted is not None:
            from stanchion.runtime.deciding.escalation import note_use

            note_use(desk, self.granted, decision)
        if self.past:
            from stanchion.runtime.deciding.bypass import note_past

            note_past(desk, self.past, self.event, decision)

    def after(self, desk: Desk, _moment: Moment, decision: Decision) -> Flow[Decision | None]:
        """What follows from a decision: it stands, or the action is judged once more, when it has
        waited, when a person has answered, or as a lesser one."""
        event = self.event
        if self.granted is not None:
            yield from looked_at(desk, self.granted, decision)
        if decision.action == Action.QUEUE:
            return (yield from self._after_a_wait(desk, decision))
        if (self.granted is not None or self.past) and decision.code == "kernel.taken":
            self.past = ()
            self._without_a_yes(desk)
            return None
        if decision.action == Action.ESCALATE:
            return (yield from self._after_an_answer(desk, decision))
        if (
            decision.action == Action.BLOCK
            and self.degraded is None
            and desk.shield.policy.bypasses
        ):
            return (yield from self._after_a_refusal(desk, decision))
        before = content_of(event)
        if decision.patches:
            self.event = event = with_content(event, decision.patched(before))
        if self.degraded is not None or decision.action != Action.DEGRADE:
            return decision

        self.degraded = decision
        less = yield from lesser(desk, event, decision, before)
        if less is None:
            self.refused = (*self.refused, NO_LESSER)
            less = desk.renewed(event)
        elif self.reprice is not None:
            self.spent = self.reprice(less)
        self.event = less
        return None

    def _without_a_yes(self, desk: Desk) -> None:
        """It has no yes any more, and is what the agent asked for again."""
        before = self.event if self.edit is None else self.edit.before
        self.granted, self.edit, self.event = None, None, desk.renewed(before)

    def _after_a_wait(self, desk: Desk, decision: Decision) -> Flow[Decision | None]:
        self.patience = QueuePatience() if self.patience is None else self.patience
        self.way.waited = True
        waited = yield from self.patience.wait(desk, self.event, decision)
        if waited is None:
            return decision
        self.event = waited
        return None

    def _after_an_answer(self, desk: Desk, decision: Decision) -> Flow[Decision | None]:
        from stanchion.runtime.deciding.escalation import ask

        event = self.event
        if self.edit is not None:
            self._after_an_edit(desk, decision, self.edit)
            return None
        stands = formless(event)
        answer = stands[0] if stands else (yield from ask(desk, event, decision, self.waits))
        if answer is None:
            return decision
        if isinstance(answer, Finding):
            self.refused = (*self.refused, answer)
        elif answer.edits:
            if not fits(desk):
                self.refused, self.event = (*self.refused, unfit(answer)), desk.renewed(event)
                return None
            self.edit, self.past = Edit(event, answer, questions(decision)), ()
            # First nothing is lifted: what is asked about the changed call may be another question.
            # Leave to go past a guardrail was for the call as it was.
            self.granted, self.event = answer._replace(lifts=()), edited(desk, event, answer.edits)
            return None
        else:
            self.granted = answer
        self.event = desk.renewed(event)
        return None

    def _after_an_edit(self, desk: Desk, decision: Decision, edit: Edit) -> None:
        """A changed call about which a person has to be asked: by the yes to it, where that is the
        same question."""
        lifted = self.granted is not None and self.granted.lifts
        if lifted or not edit.answers(decision):
            self.granted, self.refused = None, (*self.refused, unanswered(edit))
        else:
            self.granted = edit.granted
        self.event = desk.renewed(self.event)

    def _after_a_refusal(self, desk: Desk, decision: Decision) -> Flow[Decision | None]:
        """Go past the guardrail that refused it, where somebody has said yes to that or an
        emergency lets it."""
        from stanchion.runtime.deciding.bypass import past, remembered

        found = yield from past(desk, self.event, decision, self.waits, self.past)
        if found is None:
            return remembered(desk, self.event, decision)
        self.past, self.event = (*self.past, found), desk.renewed(self.event)
        return None

    def over(self, desk: Desk, decision: Decision) -> tuple[Decision, Event]:
        """The decision, with that by which it is a lesser one, and the event as it goes ahead. What
        the runtime does not start itself is not under way."""
        if self.degraded is not None:
            decision = joined(self.degraded, decision, self.event)
        if self.edit is not None:
            decision = told(desk, self.edit, decision, self.event)
        goes_ahead = decision.action <= PROCEEDS
        if goes_ahead:
            desk.allowed.enter(decision, self.awake_ns)
        if not goes_ahead or self.event.stage not in STARTS:
            desk.under_way.over(self.way.call)
        return decision, self.event

    def cut_off(self, desk: Desk, error: BaseException) -> Flow[None]:
        """Leave what it was at."""
        yield from cut_off(desk, self.way, error)


def assess(
    desk: Desk,
    event: Event,
    spent: Amounts = JUST_ONE,
    refused: tuple[Finding, ...] = (),
    stakes: tuple[Stake, ...] = (),
    waits: bool = False,
    reprice: Callable[[Event], Amounts] | None = None,
    way: CallWay | None = None,
) -> Flow[tuple[Decision, Event]]:
    """Judge an action until it is clear whether it starts: queued ones wait, a lesser one is judged
    once more, what is to be lesser and cannot be is refused, and one that a person has to answer
    for is judged again when one has (`waits`: here and now, otherwise when it is asked for again).

    `stakes` are records that the action rests on; `reprice` says what a lesser one reserves.
    Returns the decision and the event as it goes ahead, patched. Whoever is cut off behind this
    leaves the action by its `way`.
    """
    way = CallWay() if way is None else way
    way.waited = False
    return follow(desk, ActionCourse(event, event.id, spent, refused, stakes, waits, reprice, way))


def admit(
    desk: Desk,
    event: Event,
    spent: Amounts = JUST_ONE,
    refused: tuple[Finding, ...] = (),
    stakes: tuple[Stake, ...] = (),
    way: CallWay | None = None,
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


WAIT: Final = Wait()


class QueuePatience:
    """How long one action has waited so far."""

    def __init__(self) -> None:
        self._waited_ms = 0

    def wait(self, desk: Desk, event: Event, decision: Decision) -> Flow[Event | None]:
        """Wait, and give the action once more for a new judgement; `None` where it has waited long
        enough."""
        terms = terms_of(decision, WAIT)
        if self._waited_ms + terms.pause_ms > terms.timeout_ms:
            return None
        self._waited_ms += terms.pause_ms
        yield TimePause(terms.pause_ms / 1000)
        return desk.renewed(event)


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


def edited(desk: Desk, event: Event, edits: dict[str, Any]) -> Event:
    """The call with the arguments that a person has changed, for a new judgement."""
    return desk.renewed(with_content(event, {**content_of(event), **edits}))


def fits(desk: Desk) -> bool:
    """Whether a run's host can have a call changed: one that cannot would run it as the agent asked
    for it."""
    return Action.REDACT in desk.can


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
