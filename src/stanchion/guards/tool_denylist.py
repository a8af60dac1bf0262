"""Tool denylist: tools that nobody may use, whatever other lists say."""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar, Final

import msgspec

from stanchion.kernel.actions import Category
from stanchion.kernel.events import Event, ToolCall
from stanchion.kernel.findings import Finding
from stanchion.kernel.guard import Kind
from stanchion.kernel.names import Names, names
from stanchion.kernel.option import (
    ACTIONS,
    Glob,
    More,
    PlainActionName,
    list_actions,
)
from stanchion.kernel.stages import Stage
from stanchion.kernel.words import Words, declare
from stanchion.readings import Reading

CODES: Final = declare(
    {"tool.denied": Words("tool `{}` is on the denylist", "do the step with another tool")}
)

REMEDIES: Final = {
    "": ("a tool that is not on the list; this one is there as {entries:names}",),
}


class ToolDenylist(msgspec.Struct, frozen=True, dict=True):
    """Refuses the tools it lists; a name is exact unless a glob is written."""

    name: ClassVar = "tool_denylist"
    kind: ClassVar = Kind.PURE
    stages: ClassVar = frozenset({Stage.TOOL_CALL})
    category: ClassVar = Category.SAFETY
    priority: ClassVar = 3
    remedies: ClassVar = REMEDIES

    tools: More[tuple[Glob, ...]]
    """The tools to refuse, by name or glob; an empty list refuses none."""
    action: PlainActionName = "block"
    """The action for a call of a listed tool."""

    @cached_property
    def _names(self) -> Names:
        return names(self.tools)

    def judge(self, reading: Reading[ToolCall], /) -> Finding | None:
        """Refuse a listed tool."""
        event = reading.event
        listed, tool = self._names, event.tool
        if tool in listed.exact or (listed.globs and tool in listed):
            return Finding(ACTIONS[self.action], "tool.denied", (tool,))
        return None

    def places(self, finding: Finding, _event: Event | None, /) -> dict[str, object]:
        """The entries of the list that the tool is there by."""
        tool = str(finding.args[0]) if finding.args else ""
        return {"entries": [name for name in self.tools if tool in names((name,))]}

    actions = list_actions

    def reaches(self) -> dict[str, tuple[str, ...]]:
        """It speaks about the tools that it lists, and about no others."""
        return {"action.tool_name": self.tools}

    def always_speaks(self) -> bool:
        """Whether it lists every tool there is."""
        return "*" in self.tools
