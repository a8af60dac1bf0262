"""Starting: an action begins only while what it was allowed on can be shown to hold, also after a process was stopped.

A place in a line, a probe, a slice or a hold may be somebody else's when its time is over. Whoever was suspended in
between does not notice: so the time since the judgement is measured by a clock that goes on while the host sleeps.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, NamedTuple

from stanchion.kernel.actions import Action
from stanchion.kernel.findings import Finding
from stanchion.kernel.state import Batch, StoreLost

if TYPE_CHECKING:
    from stanchion.kernel.decision import Decision
    from stanchion.kernel.events import Event
    from stanchion.kernel.units import Amounts
    from stanchion.runtime.desk import Desk
    from stanchion.runtime.drivers import Flow

START_MS: Final = 60_000
"""How long after its judgement an action may begin, where nothing that it rests on is kept for less."""

LAPSED: Final = Finding(Action.BLOCK, "kernel.lapsed", guard="kernel")

_CLOCK: Final[int] = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC) if hasattr(time, "CLOCK_MONOTONIC") else -1


def awake_ns() -> int:
    """Time that goes on while the host sleeps, as far as the system has such a clock."""
    return time.clock_gettime_ns(_CLOCK) if _CLOCK >= 0 else time.monotonic_ns()


class Lapsed(Exception):
    """An action was about to begin too late: it has not begun."""


class Leave(NamedTuple):
    """Until when something may begin, and by which clock."""

    until_ns: int
    now_ns: Callable[[], int]

    @property
    def over(self) -> bool:
        """Whether it is too late."""
        return self.now_ns() >= self.until_ns

    def check(self) -> None:
        """Raise `Lapsed` where it is too late."""
        if self.now_ns() >= self.until_ns:
            raise Lapsed


def leave_ms(lease_ms: int) -> int:
    """How long something may begin that rests on what is kept for so long: a part of that is left for beginning."""
    return min(START_MS, lease_ms - lease_ms // 4)


def lapsed(desk: Desk, decision: Decision, event: Event, reserved: Amounts) -> Flow[Decision]:
    """Give back what an action has reserved that begins too late; gives the decision that refuses it."""
    from stanchion.runtime.flows import assess

    if decision.held:
        try:
            yield Batch(desk.new_id(), desk.info.tenant, settles=((decision.id, None),))
        except StoreLost:
            desk.tell("the store could not be reached: what the last call reserved stays charged")
    refused, _ = yield from assess(desk, desk.renewed(event), reserved, (LAPSED,))
    return refused
