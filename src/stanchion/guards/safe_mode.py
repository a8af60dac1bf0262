"""Safe mode: an emergency brake that refuses every tool call and every retry, and nothing else."""

from __future__ import annotations

from typing import ClassVar, Final

import msgspec

from stanchion.kernel.actions import Action, Category
from stanchion.kernel.events import Failure, ToolCall
from stanchion.kernel.findings import Finding
from stanchion.kernel.guard import Kind
from stanchion.kernel.stages import Stage
from stanchion.kernel.words import Words, declare
from stanchion.readings import Reading

CODES: Final = declare(
    {
        "safe_mode.tool_refused": Words(
            "safe mode is on: tool `{}` is not run",
            "answer without tools, or wait until safe mode is off",
        ),
        "safe_mode.no_retry": Words(
            "safe mode is on: `{}` of tool `{}` is not retried",
            "report the error; do not repeat the call",
        ),
    }
)

REMEDIES: Final = {"": ("safe mode switched off",)}


class SafeMode(msgspec.Struct, frozen=True):
    """Refuses tool calls, whatever their name, and retries; completions, egress and charges are
    untouched."""

    name: ClassVar = "safe_mode"
    kind: ClassVar = Kind.PURE
    stages: ClassVar = frozenset({Stage.TOOL_CALL, Stage.ERROR})
    category: ClassVar = Category.SAFETY
    priority: ClassVar = 1
    remedies: ClassVar = REMEDIES
    for_safe_mode: ClassVar = True

    def judge(self, reading: Reading[ToolCall | Failure], /) -> Finding:
        """Refuse: in safe mode there is nothing to weigh."""
        event = reading.event
        if isinstance(event, Failure):
            return Finding(Action.BLOCK, "safe_mode.no_retry", (event.error, event.tool))
        return Finding(Action.BLOCK, "safe_mode.tool_refused", (event.tool,))

    def actions(self) -> tuple[Action, ...]:
        """What this guard can answer."""
        return (Action.BLOCK,)

    def reaches(self) -> dict[str, tuple[str, ...]]:
        """It speaks about everything."""
        return {}
