"""Hooks: a user's own check of one tool's calls, asked as a lookup with a deadline, never run
inline."""

from __future__ import annotations

from typing import Any, ClassVar, Final

import msgspec

from stanchion.guards._jsonschema.words import LONGEST_NAME
from stanchion.kernel.actions import Action, Category
from stanchion.kernel.events import ToolCall
from stanchion.kernel.findings import Finding
from stanchion.kernel.guard import Kind
from stanchion.kernel.lookups import Lookup
from stanchion.kernel.stages import Stage
from stanchion.readings import Reading

HOOKS_ID: Final = "schema-hooks"
LONGEST: Final = 10 * LONGEST_NAME
"""How much of a hook's own words is shown."""


class HookCall(msgspec.Struct, frozen=True):
    """What a hook gets to see: a tool and the arguments it is called with, and nothing that an
    equal call could have otherwise."""

    tool: str
    args: dict[str, Any]


class Hooked(msgspec.Struct, frozen=True):
    """A question to hooks: the call, and when it is made."""

    call: HookCall
    at: int


class ToolHooks(msgspec.Struct, frozen=True):
    """Asks the hooks of a tool: a text refuses, nothing passes, an error or silence refuses."""

    name: ClassVar = "schema_hooks"
    kind: ClassVar = Kind.ASKING
    deep: ClassVar = False
    stages: ClassVar = frozenset({Stage.TOOL_CALL})
    category: ClassVar = Category.QUALITY
    priority: ClassVar = 7

    deadline_ms: int = 1_000

    def ask(self, reading: Reading[ToolCall], /) -> Lookup:
        """The question is the call."""
        event = reading.event
        return Lookup("", Hooked(HookCall(event.tool, event.args), event.at), self.deadline_ms)

    def judge(self, reading: Reading[ToolCall | Hooked], value: Any, /) -> Finding | None:
        """Read a hook's answer; one of any other shape is the hook's failure, which refuses."""
        event = reading.event
        if value is None:
            return None
        if not isinstance(value, str):
            raise TypeError("a hook answers None or a text")
        tool = event.call.tool if isinstance(event, Hooked) else event.tool
        return Finding(Action.BLOCK, "schema.hook", (tool, value[:LONGEST]))

    def actions(self) -> tuple[Action, ...]:
        """What this guard can answer."""
        return (Action.BLOCK,)
