"""A guard of permits: so many calls of one tool at once in a task, on however many hosts."""

from typing import Any, ClassVar, Final

import msgspec

from stanchion.kernel.actions import Action, Category
from stanchion.kernel.events import Event
from stanchion.kernel.findings import Finding
from stanchion.kernel.guard import Kind
from stanchion.kernel.stages import Stage
from stanchion.kernel.state import Line, key

TAKEN: Final = "slots.taken"
TOOL: Final = "slot"


class Slots(msgspec.Struct, frozen=True):
    """A slot is given back by the result of its call; where none comes, when its time is over."""

    id: ClassVar[str] = "slots"
    kind: ClassVar[Kind] = Kind.METER
    stages: ClassVar[frozenset[Stage]] = frozenset({Stage.TOOL_CALL})
    category: ClassVar[Category] = Category.BUDGET
    priority: ClassVar[int] = 20

    most: int
    hold_ms: int

    def lines(self, event: Event, /) -> tuple[Line, ...]:
        """One counter of the task, for the tool alone."""
        if event.tool != TOOL:
            return ()
        name = slots_key(event.run.tenant, event.run.task)
        return (Line(name, ((self.most, Action.BLOCK),), hold_ms=self.hold_ms, keep=False),)

    def word(
        self, _event: Event, action: Action, values: tuple[int, ...], _said: Any, /
    ) -> Finding:
        """Say how many are taken."""
        return Finding(action, TAKEN, values)

    def actions(self) -> tuple[Action, ...]:
        """What this guard can answer."""
        return (Action.BLOCK,)


def slots_key(tenant: str, task: str) -> str:
    """The counter of the slots of a task."""
    return key(tenant, "slots", task)
