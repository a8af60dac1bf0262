"""The course of a judgement: what happens round every decision, written once as a generator that
both drivers run."""

from __future__ import annotations

from time import perf_counter_ns
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

import msgspec

from stanchion.kernel.actions import PROCEEDS, Action
from stanchion.kernel.chain import Plans
from stanchion.kernel.decision import Decision
from stanchion.kernel.engine import decide
from stanchion.kernel.events import Event, Moment
from stanchion.kernel.findings import Finding
from stanchion.kernel.mandate import MANDATE
from stanchion.kernel.stages import Stage
from stanchion.runtime.deciding.aftermath import aftermath, looked_at, owe, passed_over
from stanchion.runtime.deciding.allowances import decided
from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.deciding.discretion import worded
from stanchion.runtime.deciding.mandates import allow_besides, keep_mandate
from stanchion.runtime.deciding.open_calls import overtaken
from stanchion.runtime.deciding.record import barred, confirmed, written
from stanchion.runtime.deciding.unread import formless
from stanchion.runtime.deciding.unsettled import owed
from stanchion.runtime.driving.flow import AWAY, HERE, Flow

if TYPE_CHECKING:
    from stanchion.runtime.deciding.escalation import Granted

R_co = TypeVar("R_co", covariant=True)

AGAIN: Final = "again"
"""What a store says of a hold that was settled before."""


class Course(Protocol[R_co]):
    """What differs by what is judged: a moment as it is (`judge`), or an action that may start
    (`assess`)."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What is written down beside the decision."""

    @property
    def judged_by(self) -> Plans | None:
        """The plans that it is judged by; `None` for those of the policy that is in force by
        then."""

    @property
    def waited(self) -> bool:
        """Whether it stood in a line, where it may have taken a place."""

    def moment(self, desk: Desk, plans: Plans) -> Moment:
        """What is judged next."""

    def enter(self, desk: Desk, moment: Moment) -> None:
        """It is about to be judged, as it fits: from here on it may take something."""

    def heard(self, desk: Desk, moment: Moment, decision: Decision) -> None:
        """It is decided, and the store has carried it out or not: see to what was taken."""

    def after(self, desk: Desk, moment: Moment, decision: Decision) -> Flow[Decision | None]:
        """The decision as it stands; `None` where the next moment of this course is judged
        instead."""

    def over(self, desk: Desk, decision: Decision) -> R_co:
        """It stands: what the caller gets."""

    def cut_off(self, desk: Desk, error: BaseException) -> Flow[None]:
        """Whoever judged it was cut off: leave what it may have taken."""


def follow(desk: Desk, course: Course[R_co]) -> Flow[R_co]:
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
    shield = desk.shield
    try:
        while True:
            begun_ns = perf_counter_ns()
            if desk.unkept:
                yield from keep_mandate(desk)
            plans = desk.plans if course.judged_by is None else course.judged_by
            moment, is_long = desk.fitted(course.moment(desk, plans), plans)
            if shield.policy.recalls is not None:
                moment = desk.carrying(moment)
            event = moment.events[0]
            course.enter(desk, moment)
            if shield.memory is not None and shield.memory.is_due(event.at):
                yield from shield.memory.check(event.at)
            barrier = barred(desk, moment) if shield.journal.trouble else None
            if barrier is not None:
                return (yield from _ended(desk, course, event, barrier))
            if shield.unsettled.waiting:
                yield from shield.unsettled.catch_up()

            if is_long:
                yield AWAY
            if getattr(plans.policy, "clears", False):
                moment, decision = yield from decided(desk, plans, moment)
            else:
                decision = yield from decide(plans, moment, shield.records)
            course.heard(desk, moment, decision)

            if decision.findings:
                decision = worded(plans, moment, decision)
            outcome = written(desk, plans, moment, decision, begun_ns, course.notes)
            if is_long:
                yield HERE
            if outcome is not None:
                decision = yield from confirmed(desk, event, decision, outcome)

            reply = decision.inputs.reply
            if shield.unsettled.waiting and reply is not None:
                yield from shield.unsettled.carry()
            if moment.settles and reply is not None and AGAIN in reply.settled:
                yield from overtaken(desk, moment, reply)
            if event.stage is Stage.MODEL_CALL and decision.action <= PROCEEDS:
                from stanchion.runtime.deciding.pauses import next_step

                yield from next_step(desk)
            if MANDATE in moment.lifts:
                yield from allow_besides(desk, moment, decision)
            if shield.policy.recalls is not None:
                desk.learn(moment, decision)
            if shield.policy.contextual:
                desk.surrounded().learn(event, decision)
            if decision.findings:
                yield from aftermath(desk, event, decision)
                stood = yield from course.after(desk, moment, decision)
                if stood is None:
                    continue
                decision = stood
            if decision.action > PROCEEDS and course.waited:
                return (yield from _ended(desk, course, event, decision))
            return course.over(desk, decision)
    except BaseException as error:
        yield from course.cut_off(desk, error)
        raise


def _ended(desk: Desk, course: Course[R_co], event: Event, decision: Decision) -> Flow[R_co]:
    """The end of a course that may have stood in a line: what does not go ahead gives its place
    there back."""
    if course.waited and decision.action > PROCEEDS:
        yield from desk.shield.unsettled.tell(owed(desk, event, ()))
    return course.over(desk, decision)


def judge(
    desk: Desk,
    moment: Moment,
    notes: tuple[str, ...] = (),
    plans: Plans | None = None,
    waits: bool = False,
) -> Flow[Decision]:
    """Judge a moment, write the decision down, and carry out what concerns the run as a whole; what
    a person has to answer for is judged again when one has (`waits`: here and now)."""
    return follow(desk, AsItIs(moment, desk.plans if plans is None else plans, notes, waits))


class AsItIs(msgspec.Struct, eq=False):
    """The course of a moment that is judged as it is. It changes nothing of it but a person's
    answer, and what it was to settle is owed until the store has answered."""

    next: Moment
    judged_by: Plans | None
    notes: tuple[str, ...]
    waits: bool
    waited: bool = False
    answer: Granted | Finding | None = None
    taking: Moment | None = None
    """What the store may be asked about, and has not answered."""

    def moment(self, _desk: Desk, _plans: Plans) -> Moment:
        """The moment, or the same with a person's answer."""
        return self.next

    def enter(self, _desk: Desk, moment: Moment) -> None:
        """From here on what it was to settle may be left unsettled."""
        self.taking = moment

    def heard(self, desk: Desk, moment: Moment, decision: Decision) -> None:
        """Owe what the store was not told, and the places at guards that were skipped."""
        if decision.inputs.reply is None and (
            moment.settles or decision.inputs.lost or decision.inputs.stale
        ):
            owe(desk, moment, decision)
        elif decision.skipped:
            passed_over(desk, moment, decision)
        self.taking = None
        if self.answer is not None:
            from stanchion.runtime.deciding.escalation import note_use

            note_use(desk, self.answer, decision)

    def after(self, desk: Desk, moment: Moment, decision: Decision) -> Flow[Decision | None]:
        """Ask a person where one has to answer for it; once they have, it is judged by their
        answer."""
        if self.answer is not None:
            yield from looked_at(desk, self.answer, decision)
        if decision.action != Action.ESCALATE:
            return decision
        from stanchion.runtime.deciding.escalation import ask, resumed

        stands = formless(moment.events[0])
        self.answer = (
            stands[0] if stands else (yield from ask(desk, moment.events[0], decision, self.waits))
        )
        if self.answer is None:
            return decision
        self.next, self.notes, self.waits = resumed(desk, moment, self.answer), (), False
        return None

    def over(self, desk: Desk, decision: Decision) -> Decision:
        """The decision; what came of a call is learnt from."""
        if desk.shield.policy.learns:
            desk.shield.experience.heard(self.next.events[0], desk.plans, decision)
        return decision

    def cut_off(self, desk: Desk, _error: BaseException) -> Flow[None]:
        """Owe what it was to give back, where the store has not answered."""
        if self.taking is not None:
            owe(desk, self.taking)
        yield from ()
