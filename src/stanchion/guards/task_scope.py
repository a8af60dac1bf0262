"""Task scope: an agent that reaches for tools its task has nothing to do with is told so."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import ClassVar, Final

import msgspec

from stanchion.kernel.actions import Category
from stanchion.kernel.contract.values import UNSAID, PolicySaid, keep_said
from stanchion.kernel.events import ToolCall
from stanchion.kernel.findings import Finding
from stanchion.kernel.guard import Kind
from stanchion.kernel.names import Names, names
from stanchion.kernel.option import ACTIONS, PlainActionName, list_actions
from stanchion.kernel.stages import Stage
from stanchion.kernel.words import Words, declare
from stanchion.readings import Reading

CODES: Final = declare(
    {
        "task.unrelated": Words(
            "tool `{}` is not one of the tools that belong to task `{}`",
            "come back to the task, or say why the step belongs to it",
        )
    }
)

KEPT: Final = 4_096
"""How many tasks are remembered."""


class TaskScope(msgspec.Struct, frozen=True, dict=True):
    """Warns of a tool that is not among those a task is about.

    They stand in the policy under `tasks.<name>.related_tools`; a task without that list is not
    judged. A task's additional tools are related to it.
    """

    name: ClassVar = "task_scope"
    kind: ClassVar = Kind.PURE
    stages: ClassVar = frozenset({Stage.TOOL_CALL})
    category: ClassVar = Category.SCOPE
    priority: ClassVar = 8
    reads: ClassVar = frozenset({("tasks", "related_tools"), ("tasks", "additional_tools")})

    action: PlainActionName = "warn"
    """The action for a tool that is not related to the task."""

    said: ClassVar[PolicySaid] = UNSAID
    scoped = keep_said

    @cached_property
    def _related(self) -> Callable[[str], Names | None]:
        listed = self.said.found("tasks", "related_tools")

        @lru_cache(KEPT)
        def related(task: str) -> Names | None:
            found = listed(task)
            return None if found is None else names(found)

        return related

    def judge(self, reading: Reading[ToolCall], /) -> Finding | None:
        """Warn of a tool that the task has nothing to do with."""
        event = reading.event
        run = event.run
        related = self._related(run.task)
        if related is None or event.tool in related or event.tool in run.additional_tools:
            return None
        return Finding(ACTIONS[self.action], "task.unrelated", (event.tool, run.task))

    actions = list_actions
