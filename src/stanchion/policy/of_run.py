"""Guards that a run brings along, whatever guards its policy has: one holds it to its mandate, one
asks a person at a risk level that wants one."""

from __future__ import annotations

from typing import Any, ClassVar, Final

import msgspec

from stanchion.kernel.actions import Action, Category
from stanchion.kernel.events import Event, RunInfo
from stanchion.kernel.findings import Finding
from stanchion.kernel.guard import Kind, Placed
from stanchion.kernel.mandate import MANDATE, OUTSIDE
from stanchion.kernel.stages import Stage
from stanchion.kernel.words import Words, declare
from stanchion.readings import Reading
from stanchion.readings.mandate import effect_of_call, fits_mandate

CODES: Final = declare(
    {
        OUTSIDE: Words(
            "`{}` ({}) is outside of what this task may do: {}",
            "go on with what the task may do, or say in your answer that it would need this",
            asked="wait for the answer; meanwhile go on with what the task may do",
        )
    }
)


class MandateGuard(msgspec.Struct, frozen=True):
    """Waits for a person where a call does not fit what its task may do.

    `me` are the user's own addresses and accounts.
    """

    name: ClassVar = MANDATE
    kind: ClassVar = Kind.PURE
    stages: ClassVar = frozenset({Stage.TOOL_CALL, Stage.EGRESS})
    category: ClassVar = Category.SCOPE
    priority: ClassVar = 6

    me: tuple[str, ...] = ()

    def judge(self, reading: Reading[Event], /) -> Finding | None:
        """Ask about a call that does not fit every layer of the run's mandate."""
        event = reading.event
        if fits_mandate(event, self.me):
            return None
        said = (event.tool if event.tool else "request", effect_of_call(event))
        return Finding(Action.ESCALATE, OUTSIDE, (*said, event.run.mandate.words))

    def actions(self) -> tuple[Action, ...]:
        """What this guard can answer."""
        return (Action.ESCALATE,)


def held_to(stage: Stage, shadow: bool, me: tuple[str, ...]) -> tuple[Placed, ...]:
    """The guard that holds runs with a mandate to it, at the stages where it stands."""
    if stage not in MandateGuard.stages:
        return ()
    guard = MandateGuard(me)
    return (Placed(MANDATE, guard, guard.priority, guard.category, guard.stages, shadow),)


CRITICAL: Final = "critical"
"""The level at which a person is asked about every action, whatever a policy says of it."""

ASKS: Final = "risk-approval"
"""The id of the guard that asks."""


class Approval(msgspec.Struct, frozen=True):
    """Waits for a person, whatever the action is: for runs at a risk level that asks for it."""

    name: ClassVar = "approval"
    kind: ClassVar = Kind.PURE
    stages: ClassVar = frozenset({Stage.TOOL_CALL, Stage.EGRESS, Stage.HANDOFF})
    category: ClassVar = Category.SAFETY
    # Behind all others: where one of them asks as well, its reason is the one that a person reads
    # first.
    priority: ClassVar = 10_000

    def judge(self, reading: Any, /) -> Finding:
        """Ask: there is nothing to weigh."""
        return Finding(Action.ESCALATE, "kernel.approval", (reading.event.run.risk,))

    def actions(self) -> tuple[Action, ...]:
        """What this guard can answer."""
        return (Action.ESCALATE,)


def asking(stage: Stage, risk: str, approval: bool, shadow: bool) -> tuple[Placed, ...]:
    """The guard that asks a person at a risk level, where the level wants one and it stands at that
    stage."""
    if stage not in Approval.stages or not (risk == CRITICAL or approval):
        return ()
    return (
        Placed(ASKS, Approval(), Approval.priority, Approval.category, Approval.stages, shadow),
    )


def guards_of_run(
    stage: Stage, run: RunInfo, approval: bool, shadow: bool, me: tuple[str, ...]
) -> tuple[Placed, ...]:
    """What holds a run to its mandate, and asks a person at a risk level that wants one."""
    asks = asking(stage, run.risk, approval, shadow) if run.risk else ()
    return (*asks, *(held_to(stage, shadow, me) if run.mandate.layers else ()))
