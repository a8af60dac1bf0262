"""Attempts: an action whose first judgement has not made clear whether it starts is judged again, on other terms."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from stanchion.kernel.actions import Action
from stanchion.kernel.chain import Plans
from stanchion.kernel.content import content_of, with_content
from stanchion.kernel.decision import Decision
from stanchion.kernel.events import Event, Moment
from stanchion.kernel.findings import Finding
from stanchion.kernel.state import Stake
from stanchion.kernel.units import Amounts
from stanchion.runtime.desk import Desk
from stanchion.runtime.drivers import Flow
from stanchion.runtime.under_way import Way
from stanchion.runtime.unread import formless

if TYPE_CHECKING:
    from stanchion.runtime.escalating import Granted
    from stanchion.runtime.queueing import Line


class Attempts(msgspec.Struct, eq=False):
    """What one action is judged on: what it reserves and rests on, and what stands against it; and what came of it so
    far: a place in a line, a person's yes, the decision by which it is to be a lesser one."""

    first: str
    spent: Amounts
    refused: tuple[Finding, ...]
    stakes: tuple[Stake, ...]
    waits: bool
    reprice: Callable[[Event], Amounts] | None
    way: Way
    line: Line | None = None
    granted: Granted | None = None
    degraded: Decision | None = None

    def moment(self, desk: Desk, plans: Plans, event: Event) -> Moment:
        """The action once more. A person's yes holds under the policy that they gave it for."""
        if self.granted is not None and not self.granted.covers(plans.policy.hash):
            self.granted = None
        attempt, again = 1 if self.degraded is None else 2, event.id != self.first
        if self.granted is None:
            return desk.moment(event, self.spent, (), attempt, self.refused, self.stakes, "", again)
        ticket, lifts, stakes = self.granted.ticket, self.granted.lifts, (*self.stakes, self.granted.stake(event))
        return desk.moment(event, self.spent, (), attempt, self.refused, stakes, ticket, again, lifts)

    def after(self, desk: Desk, event: Event, decision: Decision) -> Flow[tuple[Decision, Event, bool]]:
        """What follows from a decision: it stands, or the action is judged once more (the last of what is given), when
        it has waited, when a person has answered, or as a lesser one. Also gives the event as it is then."""
        if decision.action == Action.QUEUE:
            from stanchion.runtime.queueing import Line

            self.line, self.way.waited = Line() if self.line is None else self.line, True
            waited = yield from self.line.wait(desk, event, decision)
            return (decision, event, False) if waited is None else (decision, waited, True)
        if self.granted is not None and decision.code == "kernel.taken":
            self.granted = None
            return decision, desk.renewed(event), True
        if decision.action == Action.ESCALATE:
            from stanchion.runtime.escalating import ask

            stands = formless(event)
            answer = stands[0] if stands else (yield from ask(desk, event, decision, self.waits))
            if answer is None:
                return decision, event, False
            if isinstance(answer, Finding):
                self.refused = (*self.refused, answer)
            else:
                self.granted = answer
            return decision, desk.renewed(event), True
        before = content_of(event)
        if decision.patches:
            event = with_content(event, decision.patched(before))
        if self.degraded is not None:
            from stanchion.runtime.degrading import joined

            return joined(self.degraded, decision, event), event, False
        if decision.action != Action.DEGRADE:
            return decision, event, False
        self.degraded = decision
        from stanchion.runtime.degrading import NO_LESSER, lesser

        less = yield from lesser(desk, event, decision, before)
        if less is None:
            self.refused = (*self.refused, NO_LESSER)
            return decision, desk.renewed(event), True
        self.spent = self.spent if self.reprice is None else self.reprice(less)
        return decision, less, True
