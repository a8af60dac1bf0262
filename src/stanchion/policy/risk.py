"""The yes of a person that a risk level asks for, whatever a run at that level does."""

from __future__ import annotations

from typing import Any, ClassVar, Final

import msgspec

from stanchion.kernel.actions import Action, Category
from stanchion.kernel.findings import Finding
from stanchion.kernel.guard import Kind, Placed
from stanchion.kernel.stages import Stage

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
