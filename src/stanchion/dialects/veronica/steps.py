"""The steps of an integration: one limit for it and for all its children."""

from __future__ import annotations

from typing import ClassVar, Final

from msgspec.structs import replace

from stanchion.guards.step_limit import StepLimit
from stanchion.kernel.events import Event, RunInfo
from stanchion.kernel.scopes import scope_key
from stanchion.kernel.stages import Stage
from stanchion.kernel.state import Line

COUNTER: Final = "core"
"""The counter of the steps, alone and in an integration."""


class FamilySteps(StepLimit, frozen=True, kw_only=True):
    """A limit of steps that a run shares with the one it was spawned by: a child's steps are its
    parent's, also where a budget was carved out for it."""

    stages: ClassVar[frozenset[Stage]] = frozenset({Stage.TOOL_CALL, Stage.MODEL_CALL})

    id: str

    def lines(self, event: Event, /) -> tuple[Line, ...]:
        """The counter of the run that has no parent."""
        return super().lines(replace(event, run=eldest(event.run)) if event.run.parents else event)


def eldest(run: RunInfo) -> RunInfo:
    """A run under the name of the first of its family."""
    return replace(run, id=run.root) if run.parents else run


def steps_key(run: RunInfo) -> str:
    """Where the steps of a family are counted."""
    return scope_key(replace(eldest(run), purse=""), "run", "steps", COUNTER)
