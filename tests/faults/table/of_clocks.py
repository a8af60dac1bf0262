"""Faults of clocks: set back, set forward, and time that passes while the process is suspended."""

from __future__ import annotations

from typing import Final

from tests.faults.table.boundary import nothing
from tests.faults.table.cells import AFTER
from tests.faults.table.fault import Fault
from tests.faults.table.world import World

HOUR_MS: Final = 3_600_000


def _suspended(world: World) -> None:
    """Both clocks go on for a day: between the decision and the action, or while that is at
    work."""

    def sleeps() -> None:
        world.store.after = nothing
        world.clock.advance(24 * HOUR_MS)
        world.store_clock.advance(24 * HOUR_MS)

    if world.stage in AFTER:
        sleeps()
    else:
        world.store.after = sleeps


FAULTS: Final = (
    Fault(name="the host's clock is set back", strike=lambda world: _moved(world.clock, -HOUR_MS)),
    Fault(
        name="the host's clock is set forward", strike=lambda world: _moved(world.clock, HOUR_MS)
    ),
    Fault(
        name="the store's clock is set back",
        strike=lambda world: _moved(world.store_clock, -HOUR_MS),
    ),
    Fault(name="the host is suspended for a day", strike=_suspended),
)


def _moved(clock: object, by_ms: int) -> None:
    clock.advance(by_ms)  # type: ignore[attr-defined]
