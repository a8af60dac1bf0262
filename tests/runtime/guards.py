"""Small guards for tests: each answers what it is told, at the stage it is told."""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec

from stanchion.kernel.actions import Action, Category
from stanchion.kernel.findings import Finding, Patch, Terms
from stanchion.kernel.guard import Kind
from stanchion.kernel.stages import Stage


class Says(msgspec.Struct, frozen=True):
    """A pure guard that gives one finding at some stages, for some tools."""

    kind: ClassVar[Kind] = Kind.PURE
    action: Action
    stages: frozenset[Stage]
    id: str = "says"
    priority: int = 50
    category: Category = Category.SAFETY
    tools: frozenset[str] | None = None
    patches: tuple[Patch, ...] = ()
    effects: tuple[str, ...] = ()
    terms: Terms | None = None
    guidance: str = ""
    mode: str = "enforce"

    def judge(self, reading: Any, /) -> Finding | None:
        event = reading.event
        if self.tools is not None and event.tool not in self.tools:
            return None
        return Finding(
            self.action,
            "test.said",
            text=f"{self.id} says {self.action.name}",
            guidance=self.guidance,
            patches=self.patches if self.patches else self._all(reading),
            effects=self.effects,
            terms=self.terms,
        )

    def _all(self, reading: Any) -> tuple[Patch, ...]:
        """A redaction has something to do: it writes the content as it is."""
        return (Patch((), reading.content),) if self.action is Action.REDACT else ()


def says(action: Action, *stages: Stage, **fields: Any) -> Says:
    """A guard that gives that action at these stages."""
    return Says(action, frozenset(stages), **fields)
