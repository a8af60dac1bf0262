"""Judging a moment as it is: an outcome that has happened and settles what it took, or words that
come or go."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from stanchion.kernel.actions import Action
from stanchion.kernel.chain import Plans
from stanchion.kernel.decision import Decision
from stanchion.kernel.events import Moment
from stanchion.kernel.findings import Finding
from stanchion.runtime.deciding.aftermath import owe, passed_over
from stanchion.runtime.deciding.course import follow
from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.deciding.unread import formless
from stanchion.runtime.driving.flow import Flow

if TYPE_CHECKING:
    from stanchion.runtime.deciding.escalation import Granted


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
            from stanchion.runtime.deciding.strikes import looked_at

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
