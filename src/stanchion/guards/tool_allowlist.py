"""Tool allowlist: an agent may use its own tools, its task's additional ones, and no others."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Any, ClassVar, Final, Literal

import msgspec

from stanchion.kernel.actions import Category
from stanchion.kernel.contract.values import Cure
from stanchion.kernel.events import Event, ToolCall
from stanchion.kernel.findings import Finding
from stanchion.kernel.guard import Kind
from stanchion.kernel.names import Names, names
from stanchion.kernel.option import (
    ACTIONS,
    PlainActionName,
    Shorter,
    list_actions,
)
from stanchion.kernel.stages import Stage
from stanchion.kernel.words import Words, declare
from stanchion.readings import Reading

CODES: Final = declare(
    {
        "tool.not_allowed": Words(
            "tool `{}` is not among the tools of agent `{}`",
            "use one of your own tools, or ask for this one",
        ),
        "tool.undeclared_agent": Words(
            "agent `{}` has no list of tools, and the policy asks for one",
            "have the agent's tools listed in the policy under `agents`",
        ),
    }
)

REMEDIES: Final = {
    "tool.undeclared_agent": (
        "a list of tools for `{agent}` under `agents`",
        "{agent:if}`undeclared: allow`",
    ),
    "": (
        "one of these tools: {listed:names}",
        "{listed:unless}no tool at all: the list is empty",
        "`{tool}` in `allowed_tools` of `{agent}`, or in `additional_tools` of its task",
    ),
}

CURES: Final = {
    "tool.not_allowed": (
        Cure("/tasks/{task}/additional_tools+", "{tool}"),
        Cure("/agents/{agent}/allowed_tools+", "{tool}"),
        Cure("tools+", "{tool}"),
    ),
    "tool.undeclared_agent": (Cure("/agents/{agent}/allowed_tools+", "{tool}"),),
}


class ToolAllowlist(msgspec.Struct, frozen=True, dict=True):
    """Refuses tools outside the agent's list, the task's additional tools and the guard's own.

    A list that is absent is not an empty one: an empty list allows nothing. Where neither the agent
    nor the guard has a list, `undeclared` says whether the call goes ahead.
    """

    name: ClassVar = "tool_allowlist"
    kind: ClassVar = Kind.PURE
    stages: ClassVar = frozenset({Stage.TOOL_CALL})
    category: ClassVar = Category.SCOPE
    priority: ClassVar = 4
    remedies: ClassVar = REMEDIES
    cures: ClassVar = CURES
    reads: ClassVar = frozenset(
        {("roles", "allowed_tools"), ("agents", "allowed_tools"), ("tasks", "additional_tools")}
    )

    tools: Shorter[tuple[str, ...] | None] = None
    """The tools that every agent may use, by name or glob, in addition to its own; an empty list
    adds none. If absent, only agents with their own list are limited."""
    undeclared: Annotated[Literal["allow", "refuse"], ("allow", "refuse")] = "allow"
    """Whether to allow or refuse calls of an agent that has no list, if `tools` is absent too."""
    action: PlainActionName = "block"
    """The action for a call of a tool that is not allowed."""

    @cached_property
    def _names(self) -> Names | None:
        return None if self.tools is None else names(self.tools)

    def passes_all(self, event: ToolCall, /) -> bool:
        """Whether one of the lists names the tool: nothing else is asked of a call."""
        return self._judged(event) is None

    def judge(self, reading: Reading[ToolCall], /) -> Finding | None:
        """Pass a tool that one of the lists names."""
        return self._judged(reading.event)

    def _judged(self, event: ToolCall) -> Finding | None:
        run = event.run
        own, shared, tool = run.allowed_tools, self._names, event.tool
        if own is None and shared is None and self.undeclared == "allow":
            return None
        if own is not None and (tool in own.exact or tool in own):
            return None
        if shared is not None and tool in shared:
            return None
        if tool in run.additional_tools:
            return None
        if own is None and shared is None:
            return Finding(ACTIONS[self.action], "tool.undeclared_agent", (run.agent,))
        return Finding(ACTIONS[self.action], "tool.not_allowed", (tool, run.agent))

    def rises_with(self, _table: str, key: str, old: Any, /) -> bool:
        """An agent that had no list may have been refused more than its first list refuses."""
        return (
            key != "allowed_tools"
            or old is not None
            or (self.tools is None and self.undeclared == "allow")
        )

    def places(self, _finding: Finding, event: Event | None, /) -> dict[str, object]:
        """The agent, its tool, and the tools of all lists."""
        if event is None:
            return {}
        run = event.run
        lists = [known for known in (run.additional_tools, run.allowed_tools, self._names) if known]
        listed = {name for known in lists for name in (*known.exact, *known.globs)}
        agent = run.agent if run.agent else "the agent"
        return {"agent": agent, "tool": event.tool, "listed": sorted(listed)}

    actions = list_actions
