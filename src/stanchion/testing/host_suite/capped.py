"""A guard that changes arguments, for a behaviour that no policy can ask for."""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec

from stanchion.kernel.actions import Action, Category
from stanchion.kernel.findings import Finding, Patch
from stanchion.kernel.guard import Kind
from stanchion.kernel.stages import Stage


class Capped(msgspec.Struct, frozen=True):
    """A guard that has `take` called with no more than ten rows."""

    kind: ClassVar[Kind] = Kind.PURE
    id: str = "capped"
    stages: frozenset[Stage] = frozenset({Stage.TOOL_CALL})
    priority: int = 50
    category: Category = Category.SAFETY
    mode: str = "enforce"

    def judge(self, reading: Any, /) -> Finding | None:
        """Change the limit."""
        if reading.event.tool != "take":
            return None
        return Finding(
            Action.REDACT,
            "suite.capped",
            text="no more than ten rows",
            patches=(Patch(("limit",), 10),),
        )
