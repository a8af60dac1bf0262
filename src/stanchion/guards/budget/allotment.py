"""What was carved out of a run's budgets for a child, and the lines on which budgets count."""

from __future__ import annotations

from typing import ClassVar, Final

import msgspec

from stanchion.guards.budget.entry import ACTS, phrase, shown
from stanchion.kernel.actions import Action, Category
from stanchion.kernel.counter_scopes import scope_key
from stanchion.kernel.events import Charge, Event, RunInfo
from stanchion.kernel.findings import Finding
from stanchion.kernel.guard import Kind
from stanchion.kernel.stages import Stage
from stanchion.kernel.state import IDLE_S, Line
from stanchion.kernel.units import Unit

SPENDS: Final = frozenset({Stage.TOOL_CALL, Stage.MODEL_CALL, Stage.CHARGE, Stage.HANDOFF})
HOLD_MS: Final = 3_600_000
"""How long a reservation is open; after that it stays charged at its estimate until it is
settled."""

ALLOTTED: Final = "grant"
"""What an allotment is called in stores and trails: keys and ids that are kept do not change with
our words."""


class Allotment(msgspec.Struct, frozen=True):
    """Bounds a child by what was carved out of its parent's budget for it."""

    name: ClassVar = ALLOTTED
    kind: ClassVar = Kind.METER
    stages: ClassVar = SPENDS
    category: ClassVar = Category.BUDGET
    priority: ClassVar = 30

    def lines(self, event: Event, /) -> tuple[Line, ...]:
        """A counter for each measure that was allotted."""
        allotted = allotments(event.run)
        charge = event.stage is Stage.CHARGE
        return tuple(
            [
                spend_line(
                    event,
                    allotment_key(event.run, unit),
                    unit,
                    ((limit if limit else -1, Action.BLOCK),),
                )
                for unit, limit in allotted.items()
                if not (charge and unit in ACTS)
            ]
        )

    def word(
        self, event: Event, action: Action, values: tuple[int, ...], said: tuple[int, ...], /
    ) -> Finding:
        """Say what of the allotment is used up."""
        at = said.index(max(said))
        unit = Unit(self.lines(event)[at].unit)
        limit, used = phrase(unit, allotments(event.run)[unit]), shown(unit, values[at])
        return Finding(action, "budget.exceeded", (limit, "child run", used))


def allotments(run: RunInfo) -> dict[Unit, int]:
    """What was carved out for a run; what it may use of anything else is what its parent may."""
    return (
        {}
        if run.allotment is None
        else {unit: run.allotment[unit] for unit in Unit if run.allotment[unit] >= 0}
    )


def allotment_key(run: RunInfo, unit: Unit) -> str:
    """The counter of what a child has used of its allotment."""
    return scope_key(msgspec.structs.replace(run, purse=""), "run", ALLOTTED, unit.name.lower())


def spend_line(
    event: Event,
    name: str,
    unit: Unit,
    bands: tuple[tuple[int, Action], ...],
    window_ms: int = 0,
    idle_s: int = IDLE_S,
) -> Line:
    """A counter on which an estimate is held. A call is a call whatever comes of it, and a charge
    that does not stand beside its call is booked for good: neither is ever settled."""
    beside = not isinstance(event, Charge) or (event.call != "" and not event.settled)
    final = unit is Unit.ONE or not beside
    return Line(
        name, bands, unit, hold_ms=0 if final else HOLD_MS, window_ms=window_ms, idle_s=idle_s
    )
