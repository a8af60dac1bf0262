"""The course of a judgement: what happens round every decision, and what follows from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, Final

import msgspec

from stanchion.kernel.actions import PROCEEDS, UNCHANGED, Action
from stanchion.kernel.chain import Plans
from stanchion.kernel.content import content_of, with_content
from stanchion.kernel.decision import Decision
from stanchion.kernel.engine import decide
from stanchion.kernel.events import Event, Moment
from stanchion.kernel.findings import Finding, Wait
from stanchion.kernel.mandate import MANDATE
from stanchion.kernel.stages import Stage
from stanchion.kernel.state import Stake
from stanchion.kernel.units import JUST_ONE, Amounts
from stanchion.runtime.deciding.aftermath import aftermath, looked_at, owe, passed_over
from stanchion.runtime.deciding.allowances import decided
from stanchion.runtime.deciding.degrade import NO_LESSER, joined, lesser
from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.deciding.discretion import worded
from stanchion.runtime.deciding.edits import Edit, questions, told, unanswered, unfit
from stanchion.runtime.deciding.left import cut_off, not_begun, unheard
from stanchion.runtime.deciding.mandates import allow_besides, keep_mandate
from stanchion.runtime.deciding.open_calls import overtaken
from stanchion.runtime.deciding.record import barred, confirmed, written
from stanchion.runtime.deciding.run_memory import terms_of
from stanchion.runtime.deciding.start import LAPSED
from stanchion.runtime.deciding.under_way import STARTS, CallWay, StartedCall
from stanchion.runtime.deciding.unreadable_content import ABOUT_UNREAD, formless
from stanchion.runtime.deciding.unsettled import owed
from stanchion.runtime.driving.flow import AWAY, HERE, Flow, TimePause

if TYPE_CHECKING:
    from stanchion.runtime.deciding.bypass import BypassLeave
    from stanchion.runtime.deciding.escalation import Granted

AGAIN: Final = "again"
"""What a store says of a hold that was settled before."""


class CourseTerms(msgspec.Struct, frozen=True):
    """On what terms something is judged: what it reserves, what stands against it, a person's yes,
    the guardrails it goes past, the decision by which it is a lesser one. `made` is the moment of
    something that is judged as it is, the first time."""

    event: Event
    spent: Amounts
    refused: tuple[Finding, ...] = ()
    granted: Granted | None = None
    edit: Edit | None = None
    past: tuple[BypassLeave, ...] = ()
    degraded: Decision | None = None
    made: Moment | None = None

    def again(self, desk: Desk, event: Event | None = None, **changed: Any) -> CourseTerms:
        """The same thing once more, now, on other terms."""
        event = desk.renewed(self.event if event is None else event)
        return msgspec.structs.replace(self, event=event, made=None, **changed)

    def without_a_yes(self, desk: Desk) -> CourseTerms:
        """It has no yes any more, and is what the agent asked for again."""
        before = self.event if self.edit is None else self.edit.before
        return self.again(desk, event=before, granted=None, edit=None)


class Course(msgspec.Struct, eq=False):
    """What is judged until its decision stands: an action that may start (it has a `way`), or
    something that is judged as it is."""

    terms: CourseTerms
    way: CallWay | None
    waits: bool
    judged_by: Plans | None = None
    """`None` for the plans of the policy that is in force by then."""
    notes: tuple[str, ...] = ()
    stakes: tuple[Stake, ...] = ()
    reprice: Callable[[Event], Amounts] | None = None
    first: str = ""
    waited_ms: int = 0
    started: StartedCall | None = None
    taking: Moment | None = None
    """What the store may be asked about, and has not answered."""
    awake_ns: int = 0
    """When this attempt began, by a clock that goes on while the host sleeps."""

    def moment(self, desk: Desk, plans: Plans) -> Moment:
        """What is judged next. A person's yes holds under the policy that they gave it for."""
        terms = self.terms
        if terms.made is not None:
            return terms.made
        self.awake_ns = desk.shield.awake_ns()
        if terms.granted is not None and not terms.granted.covers(plans.policy.hash):
            self.terms = terms = terms.without_a_yes(desk)
        event, granted = terms.event, terms.granted
        attempt = 1 if terms.degraded is None else 2
        again = self.way is not None and event.id != self.first
        about = event, terms.spent, (), attempt, terms.refused
        if granted is None and not terms.past:
            return desk.moment(*about, self.stakes, again=again)
        past = tuple([one for one in terms.past if one.policy == plans.policy.hash])
        self.terms = msgspec.structs.replace(terms, past=past)
        stakes = (*self.stakes, *[stake for one in past for stake in one.stakes(event)])
        bypasses = tuple([name for one in past for name in one.bypasses])
        ticket = next((one.ticket.id for one in past), "")
        lifts: tuple[str, ...] = ()
        if granted is not None:
            ticket, lifts, stakes = granted.ticket, granted.lifts, (*stakes, *granted.stakes(event))
        return desk.moment(*about, stakes, ticket, again, lifts, bypasses)

    def heard(self, desk: Desk, moment: Moment, decision: Decision) -> None:
        """It is decided, and the store has carried it out or not. What starts has to have an
        outcome, what does not begin is left, what nobody was told is owed, a yes is used up."""
        terms, inputs = self.terms, decision.inputs
        if self.way is None:
            if inputs.reply is None and (moment.settles or inputs.lost or inputs.stale):
                owe(desk, moment, decision)
            elif decision.skipped:
                passed_over(desk, moment, decision)
            self.taking = None
        else:
            starts = UNCHANGED if terms.degraded is None else PROCEEDS
            if self.started is not None and decision.action <= starts:
                self.started.decision = decision
            if inputs.lost and not decision.proceeds:
                unheard(desk, self.way, decision)
            if decision.action > Action.QUEUE and any(
                Action.QUEUE in (one.action, one.said) for one in decision.findings
            ):
                self.way.waited = True  # it has a place in a line in which it is not going to wait
        if terms.granted is not None:
            from stanchion.runtime.deciding.escalation import note_use

            note_use(desk, terms.granted, decision)
        if terms.past:
            from stanchion.runtime.deciding.bypass import note_past

            note_past(desk, terms.past, terms.event, decision)

    def after(self, desk: Desk, decision: Decision) -> Flow[CourseTerms | Decision]:
        """What follows from a decision: it stands, or the terms on which it is judged again."""
        if self.terms.granted is not None:
            yield from looked_at(desk, self.terms.granted, decision)
        cases = JUDGED_AS_IT_IS if self.way is None else MAY_START
        follow_up = cases.get(decision.action)
        return decision if follow_up is None else (yield from follow_up(desk, self, decision))

    def over(self, desk: Desk, decision: Decision) -> Flow[tuple[Decision, Event]]:
        """It stands: the decision, with that by which it is a lesser one, and the event as it goes
        ahead. What does not go ahead gives its place in a line back; what the runtime does not
        start itself is not under way."""
        terms, event = self.terms, self.terms.event
        if self.way is None:
            if desk.shield.policy.learns:  # what came of a call is learnt from
                desk.shield.experience.heard(event, desk.plans, decision)
            return decision, event
        if self.way.waited and not decision.proceeds:
            yield from desk.shield.unsettled.tell(owed(desk, event, ()))
        if decision.proceeds and decision.patches:
            event = with_content(event, decision.patched(content_of(event)))
        if terms.degraded is not None:
            decision = joined(terms.degraded, decision, event)
        if terms.edit is not None:
            decision = told(desk, terms.edit, decision, event)
        if decision.proceeds:
            desk.allowed.enter(decision, self.awake_ns)
        if not decision.proceeds or event.stage not in STARTS:
            desk.under_way.over(self.way.call)
        return decision, event

    def leave(self, desk: Desk, error: BaseException) -> Flow[None]:
        """Whoever judged it was cut off: leave what it may have taken."""
        if self.way is not None:
            yield from cut_off(desk, self.way, error)
        elif self.taking is not None:
            owe(desk, self.taking)


def _wait(desk: Desk, course: Course, decision: Decision) -> Flow[CourseTerms | Decision]:
    """It waits in its line, and is judged again; it stands where it has waited long enough."""
    assert course.way is not None
    course.way.waited = True
    wait = terms_of(decision, WAIT)
    if course.waited_ms + wait.pause_ms > wait.timeout_ms:
        return decision
    course.waited_ms += wait.pause_ms
    yield TimePause(wait.pause_ms / 1000)
    return course.terms.again(desk)


def _ask(desk: Desk, course: Course, decision: Decision) -> Flow[CourseTerms | Decision]:
    """It is judged again by a person's answer, once there is one."""
    from stanchion.runtime.deciding.escalation import ask

    terms, event = course.terms, course.terms.event
    stands = formless(event)
    answer = stands[0] if stands else (yield from ask(desk, event, decision, course.waits))
    if course.way is None:
        course.notes, course.waits = (), False
    if answer is None:
        return decision
    if isinstance(answer, Finding):
        return terms.again(desk, refused=(*terms.refused, answer))
    if not answer.edits or course.way is None:
        return terms.again(desk, granted=answer)
    if Action.REDACT not in desk.can:  # its host would run the call as the agent asked for it
        return terms.again(desk, refused=(*terms.refused, unfit(answer)))
    # First nothing is lifted: what is asked about the changed call may be another question. Leave
    # to go past a guardrail was for the call as it was.
    edit = Edit(event, answer, questions(decision))
    changed = with_content(event, {**content_of(event), **answer.edits})
    return terms.again(desk, event=changed, edit=edit, past=(), granted=answer._replace(lifts=()))


def _ask_again(desk: Desk, course: Course, decision: Decision) -> Flow[CourseTerms | Decision]:
    """A person is asked; about a call that one has changed only by the yes to that, where it is the
    same question."""
    terms, edit = course.terms, course.terms.edit
    if edit is None:
        return (yield from _ask(desk, course, decision))
    if (terms.granted is not None and terms.granted.lifts) or not edit.answers(decision):
        return terms.again(desk, granted=None, refused=(*terms.refused, unanswered(edit)))
    return terms.again(desk, granted=edit.granted)


def _go_past(desk: Desk, course: Course, decision: Decision) -> Flow[CourseTerms | Decision]:
    """It goes past the guardrail that refused it, where somebody has said yes to that or an
    emergency lets it; without its yes or leave, where somebody else was first to that."""
    terms = course.terms
    if decision.code == "kernel.taken" and (terms.granted is not None or terms.past):
        return msgspec.structs.replace(terms.without_a_yes(desk), past=())
    if terms.degraded is not None or not desk.shield.policy.bypasses:
        return decision
    from stanchion.runtime.deciding.bypass import past, remembered

    found = yield from past(desk, terms.event, decision, course.waits, terms.past)
    if found is None:
        return remembered(desk, terms.event, decision)
    return terms.again(desk, past=(*terms.past, found))


def _lessen(desk: Desk, course: Course, decision: Decision) -> Flow[CourseTerms | Decision]:
    """It is judged as a lesser one, once."""
    terms = course.terms
    if terms.degraded is not None:
        return decision
    event, before = terms.event, content_of(terms.event)
    if decision.patches:
        event = with_content(event, decision.patched(before))
    refused, spent = terms.refused, terms.spent
    less = yield from lesser(desk, event, decision, before)
    if less is None:
        less, refused = desk.renewed(event), (*refused, NO_LESSER)
    elif course.reprice is not None:
        spent = course.reprice(less)
    return msgspec.structs.replace(
        terms, event=less, refused=refused, spent=spent, degraded=decision
    )


WAIT: Final = Wait()

FollowUp = Callable[[Desk, Course, Decision], Flow[CourseTerms | Decision]]

MAY_START: Final[Mapping[Action, FollowUp]] = {
    Action.DEGRADE: _lessen,
    Action.QUEUE: _wait,
    Action.ESCALATE: _ask_again,
    Action.BLOCK: _go_past,
}
"""What follows from a decision about an action that may start; any other stands."""

JUDGED_AS_IT_IS: Final[Mapping[Action, FollowUp]] = {Action.ESCALATE: _ask}
"""What follows from a decision about something that is judged as it is."""


def follow(desk: Desk, course: Course) -> Flow[tuple[Decision, Event]]:
    """Judge a moment, write the decision down, carry out what concerns the run as a whole; and
    again, until the decision stands.

    1. Make it fit: what was made before a reload is made to fit, and a store that may have
       forgotten is looked at, before anything is taken. Where nothing could be written down,
       nothing is judged.
    2. Decide: the engine judges. Whatever cuts this off, the course knows what may have been taken.
       What is long is judged and written down where it holds up nobody.
    3. Write it down: before the decision takes effect; what waits for the disk is waited for.
    4. Carry it out: only now. What others left for the store is carried along, the run remembers,
       and warnings, states and ends are carried out.
    """
    try:
        while True:
            begun_ns = perf_counter_ns()
            plans, moment, is_long = yield from _fitted(desk, course)
            barrier = barred(desk, moment) if desk.shield.journal.trouble else None
            if barrier is not None:
                return (yield from course.over(desk, barrier))
            yield from desk.shield.unsettled.catch_up()
            if is_long:
                yield AWAY
            moment, decision = yield from _decided(desk, course, plans, moment)
            outcome = written(desk, plans, moment, decision, begun_ns, course.notes)
            if is_long:
                yield HERE
            if outcome is not None:
                decision = yield from confirmed(desk, moment.events[0], decision, outcome)
            yield from _carried_out(desk, moment, decision)
            if decision.findings:
                yield from aftermath(desk, moment.events[0], decision)
                found = yield from course.after(desk, decision)
                if isinstance(found, CourseTerms):
                    course.terms = found
                    continue
                decision = found
            return (yield from course.over(desk, decision))
    except BaseException as error:
        yield from course.leave(desk, error)
        raise


def _fitted(desk: Desk, course: Course) -> Flow[tuple[Plans, Moment, bool]]:
    """What is judged next, as it fits the plans that it is judged by, and whether it is long."""
    if desk.unkept:
        yield from keep_mandate(desk)
    plans = desk.plans if course.judged_by is None else course.judged_by
    moment, is_long = desk.fitted(course.moment(desk, plans), plans)
    if desk.shield.policy.recalls is not None:
        moment = desk.carrying(moment)
    # From here on it may take something: whoever is cut off leaves it.
    course.taking = moment
    course.terms = terms = msgspec.structs.replace(course.terms, event=moment.events[0])
    if course.way is not None:
        course.started = desk.under_way.enter(course.way, terms.event, terms.spent)
    memory, at = desk.shield.memory, moment.events[0].at
    if memory is not None and memory.is_due(at):
        yield from memory.check(at)
    return plans, moment, is_long


def _decided(
    desk: Desk, course: Course, plans: Plans, moment: Moment
) -> Flow[tuple[Moment, Decision]]:
    """The engine's decision, and the moment as it was judged."""
    if getattr(plans.policy, "clears", False):
        moment, decision = yield from decided(desk, plans, moment)
    else:
        decision = yield from decide(plans, moment, desk.shield.records)
    course.heard(desk, moment, decision)
    return moment, worded(plans, moment, decision) if decision.findings else decision


def _carried_out(desk: Desk, moment: Moment, decision: Decision) -> Flow[None]:
    """Tell the store what waits, and have the run remember what was decided."""
    shield, event, reply = desk.shield, moment.events[0], decision.inputs.reply
    if reply is not None:
        yield from shield.unsettled.carry()
        if AGAIN in reply.settled:
            yield from overtaken(desk, moment, reply)
    if event.stage is Stage.MODEL_CALL and decision.proceeds:
        from stanchion.runtime.deciding.pauses import next_step

        yield from next_step(desk)
    if MANDATE in moment.lifts:
        yield from allow_besides(desk, moment, decision)
    if shield.policy.recalls is not None:
        desk.learn(moment, decision)
    if shield.policy.contextual:
        desk.surrounded().learn(event, decision)


def judge(
    desk: Desk,
    moment: Moment,
    notes: tuple[str, ...] = (),
    plans: Plans | None = None,
    waits: bool = False,
) -> Flow[Decision]:
    """Judge a moment, write the decision down, and carry out what concerns the run as a whole; what
    a person has to answer for is judged again when one has (`waits`: here and now)."""
    unread = tuple([one for one in moment.late if one.code in ABOUT_UNREAD])
    terms = CourseTerms(moment.events[0], moment.amounts, unread, made=moment)
    course = Course(terms, None, waits, desk.plans if plans is None else plans, notes)
    decision, _ = yield from follow(desk, course)
    return decision


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
    terms = CourseTerms(event, spent, refused)
    return follow(desk, Course(terms, way, waits, stakes=stakes, reprice=reprice, first=event.id))


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
