"""Faults of guards: they raise, answer nonsense, are late, or never answer."""

from __future__ import annotations

import re
import threading
from typing import Any, ClassVar, Final

from stanchion.kernel.guard import Kind
from tests.faults.table.cells import STAGES
from tests.faults.table.fault import Fault
from tests.faults.table.world import World

SLOW: Final = re.compile(r"(a+)+$")
ASKING: Final = tuple(stage for stage in STAGES if stage != "model_chunk")
"""Chunks take no guard that asks."""


class Inline:
    """A guard that judges inline, and fails while the fault is there."""

    kind: ClassVar[Kind] = Kind.PURE
    id: ClassVar[str] = "own"

    def __init__(self, world: World, answer: Any) -> None:
        self.stages = [world.stage]
        self._world, self._answer = world, answer

    def judge(self, _reading: Any) -> Any:
        """Pass, or fail."""
        if not self._world.on:
            return None
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer


class Asked:
    """A guard that is asked, and does not answer in time while the fault is there."""

    id: ClassVar[str] = "own"

    def __init__(self, world: World, ends: bool) -> None:
        self.stages = [world.stage]
        self.deadline_ms = 60_000
        self._world, self._ends = world, ends

    def judge(self, _event: Any, stop: threading.Event) -> Any:
        """Pass, or wait until nobody waits for the answer any more, or for ever."""
        if self._world.on:
            (stop if self._ends else threading.Event()).wait()


class Impatient(Asked):
    """The same with a deadline that is over at once."""

    def __init__(self, world: World, ends: bool) -> None:
        super().__init__(world, ends)
        self.deadline_ms = 40


def holds_on(event: Any) -> None:
    """Hold the interpreter for longer than anybody waits, once: where the event bears the mark of
    the cell's run."""
    if event.run.id == "cell" and event.tool != "list_files":
        SLOW.match("a" * 60 + "b")


FAULTS: Final = (
    Fault(name="a guard raises", guards=lambda world: (Inline(world, RuntimeError("broken")),)),
    Fault(name="a guard answers nonsense", guards=lambda world: (Inline(world, 7),)),
    Fault(
        name="a guard answers too late",
        guards=lambda world: (Impatient(world, ends=True),),
        stages=ASKING,
    ),
    Fault(
        name="a guard never answers",
        guards=lambda world: (Impatient(world, ends=False),),
        stages=ASKING,
    ),
    Fault(
        name="an isolated guard holds the interpreter",
        over=lambda world: world.warmed(world.shield.run("ann", "between")),
        isolated="tests.faults.table.of_guards:holds_on",
        stages=ASKING,
    ),
)
