"""Tool denylist: tools that nobody may use, whatever other lists say."""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar, Final

import msgspec

from holdfast.kernel.actions import Action, Category
from holdfast.kernel.events import ToolCall
from holdfast.kernel.findings import Finding
from holdfast.kernel.guard import Kind
from holdfast.kernel.names import Names, names
from holdfast.kernel.option import ACTIONS, PlainActionName
from holdfast.kernel.stages import Stage
from holdfast.kernel.words import Words, declare

CODES: Final = declare({"tool.denied": Words("tool `{}` is on the denylist", "do the step with another tool")})


class ToolDenylist(msgspec.Struct, frozen=True, dict=True):
    """Refuses the tools it lists; a name is exact unless a glob is written."""

    name: ClassVar[str] = "tool_denylist"
    kind: ClassVar[Kind] = Kind.PURE
    stages: ClassVar[frozenset[Stage]] = frozenset({Stage.TOOL_CALL})
    category: ClassVar[Category] = Category.SAFETY
    priority: ClassVar[int] = 3

    tools: tuple[str, ...]
    action: PlainActionName = "block"

    @cached_property
    def _names(self) -> Names:
        return names(self.tools)

    def judge(self, event: ToolCall, /) -> Finding | None:
        """Refuse a listed tool."""
        listed, tool = self._names, event.tool
        if tool in listed.exact or (listed.globs and tool in listed):
            return Finding(ACTIONS[self.action], "tool.denied", (tool,))
        return None

    def actions(self) -> tuple[Action, ...]:
        """What this guard can answer."""
        return (ACTIONS[self.action],)
