"""Authority: what is above an agent's level of autonomy is for a person to decide."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import ClassVar, Final

import msgspec

from stanchion.kernel.actions import Category
from stanchion.kernel.contract.values import UNSAID, Cure, PolicySaid, keep_said
from stanchion.kernel.events import RunInfo, ToolCall
from stanchion.kernel.findings import Finding
from stanchion.kernel.guard import Kind
from stanchion.kernel.option import (
    ACTIONS,
    PlainActionName,
    list_actions,
)
from stanchion.kernel.stages import Stage
from stanchion.kernel.words import Words, declare
from stanchion.readings import Reading

CODES: Final = declare(
    {
        "authority.exceeded": Words(
            "tool `{}` needs autonomy level {}, and agent `{}` has {}",
            "wait for a person, or leave the decision to someone with that authority",
        )
    }
)

CURES: Final = {"": (Cure("/agents/{agent}/autonomy_level", "{1}"),)}

Levels = Callable[[str], int | None]
"""Gives a level of autonomy by a name; `None` where nothing is said."""


class Authority(msgspec.Struct, frozen=True, dict=True):
    """Escalates a tool whose authority is above the agent's level of autonomy.

    A tool's authority stands in the policy under `tools.<name>.authority`, an agent's level under
    `agents.<id>.autonomy_level`, or under its role; an agent without one has level 0.
    """

    name: ClassVar = "authority"
    kind: ClassVar = Kind.PURE
    stages: ClassVar = frozenset({Stage.TOOL_CALL})
    category: ClassVar = Category.SCOPE
    priority: ClassVar = 5
    cures: ClassVar = CURES
    reads: ClassVar = frozenset(
        {
            ("tools", "authority"),
            ("agents", "autonomy_level"),
            ("roles", "autonomy_level"),
        }
    )

    action: PlainActionName = "escalate"
    """The action for a tool above the agent's level."""

    said: ClassVar[PolicySaid] = UNSAID
    scoped = keep_said

    @cached_property
    def _levels(self) -> tuple[Levels, Levels, Levels]:
        """Those of agents and roles, and what tools need."""
        found, level = self.said.found, "autonomy_level"
        return found("agents", level), found("roles", level), found("tools", "authority")

    def judge(self, reading: Reading[ToolCall], /) -> Finding | None:
        """Escalate what needs more authority than the agent has."""
        event = reading.event
        needed = self._levels[2](event.tool)
        level = self._level(event.run)
        if needed is None or needed <= level:
            return None
        return Finding(
            ACTIONS[self.action], "authority.exceeded", (event.tool, needed, event.run.agent, level)
        )

    def _level(self, run: RunInfo) -> int:
        agents, roles, _ = self._levels
        said = (agents(run.agent), roles(run.role), 0)
        return next(level for level in said if level is not None)

    actions = list_actions
