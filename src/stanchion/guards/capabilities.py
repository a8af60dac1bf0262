"""Capabilities: an agent uses the tools that need no more than it can do."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import ClassVar, Final

import msgspec

from stanchion.kernel.actions import Category
from stanchion.kernel.contract.values import UNSAID, Cure, PolicySaid, keep_said
from stanchion.kernel.events import ToolCall
from stanchion.kernel.findings import Finding
from stanchion.kernel.guard import Kind
from stanchion.kernel.option import ACTIONS, PlainActionName, list_actions
from stanchion.kernel.stages import Stage
from stanchion.kernel.words import Words, declare
from stanchion.readings import Reading

CODES: Final = declare(
    {
        "capability.missing": Words(
            "tool `{}` needs `{}`, which agent `{}` does not have",
            "leave the step to an agent that can do it, or do it with a tool that needs less",
        )
    }
)

CURES: Final = {"": (Cure("/agents/{agent}/capabilities+", "{1}"),)}

Needs = Callable[[str], tuple[str, ...] | None]
"""Gives what a tool needs, by its name."""


class Capabilities(msgspec.Struct, frozen=True, dict=True):
    """Refuses a tool that needs a capability which neither the agent nor its role has.

    What a tool needs stands in the policy under `tools.<name>.needs`, what an agent has under
    `capabilities`.
    """

    name: ClassVar = "capabilities"
    kind: ClassVar = Kind.PURE
    stages: ClassVar = frozenset({Stage.TOOL_CALL})
    category: ClassVar = Category.SCOPE
    priority: ClassVar = 5
    cures: ClassVar = CURES
    reads: ClassVar = frozenset(
        {("tools", "needs"), ("roles", "capabilities"), ("agents", "capabilities")}
    )

    action: PlainActionName = "block"
    """The action for a tool that needs a capability which the agent does not have."""

    said: ClassVar[PolicySaid] = UNSAID
    scoped = keep_said

    @cached_property
    def _needs(self) -> Needs:
        return self.said.found("tools", "needs")

    def judge(self, reading: Reading[ToolCall], /) -> Finding | None:
        """Refuse a tool that needs what the agent has not."""
        event = reading.event
        needs = self._needs(event.tool)
        for needed in needs if needs is not None else ():
            if needed not in event.run.capabilities:
                return Finding(
                    ACTIONS[self.action],
                    "capability.missing",
                    (event.tool, needed, event.run.agent),
                )
        return None

    actions = list_actions
