"""Starting: an action begins only while what it was allowed on can be shown to hold, also after a
process was stopped.

A place in a line, a probe, a slice or a hold may be somebody else's when its time is over. Whoever
was suspended in between does not notice: so the time since the judgement is measured by a clock
that goes on while the host sleeps.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import msgspec

from stanchion.kernel.actions import Action
from stanchion.kernel.findings import Finding
from stanchion.kernel.state import FOREVER

if TYPE_CHECKING:
    from stanchion.kernel.decision import Decision
    from stanchion.runtime.shield import Shield

START_MS: Final = 60_000
"""How long after its judgement an action may begin, where nothing that it rests on is kept for
less. Of what is kept, a quarter is left for beginning."""

MOST: Final = 100_000
"""How many actions of a run can be about to start at the same time; of more the oldest do not."""

LAPSED: Final = Finding(Action.BLOCK, "kernel.lapsed", guard="kernel")

_CLOCK: Final[int] = (
    getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
    if hasattr(time, "CLOCK_MONOTONIC")
    else -1
)


awake_ns: Final[Callable[[], int]] = (
    partial(time.clock_gettime_ns, _CLOCK) if _CLOCK >= 0 else time.monotonic_ns
)
"""Time that goes on while the host sleeps, as far as the system has such a clock."""


class Lapsed(Exception):
    """An action was about to begin too late: it has not begun."""


class Leave(msgspec.Struct, frozen=True):
    """Until when something may begin, and by which clock."""

    until_ns: int
    now_ns: Callable[[], int]

    def check(self) -> None:
        """Raise `Lapsed` where it is too late."""
        if self.now_ns() >= self.until_ns:
            raise Lapsed


class Allowed:
    """When the actions of a run were judged that are about to start."""

    __slots__ = ("_began", "_shield")

    def __init__(self, shield: Shield) -> None:
        self._shield = shield
        self._began: OrderedDict[str, int] = OrderedDict()

    def enter(self, decision: Decision, began_ns: int) -> None:
        """Remember when the judgement began by which an action goes ahead."""
        if len(self._began) >= MOST:
            self._began.popitem(last=False)
        self._began[decision.id] = began_ns

    def leave(self, decision: Decision, kept_s: float | None = None) -> Leave:
        """Until when an action may start that goes ahead; `kept_s` is how long something else is
        kept for it. A policy that only watches keeps nothing from starting."""
        within_ns = begins_within_ns(self._shield.policy, kept_s)
        began = self._began.pop(decision.id, -FOREVER)
        return Leave(began + within_ns, self._shield.awake_ns)

    def lapsed(self, decision: Decision) -> bool:
        """Whether it is too late for an action to start that goes ahead."""
        within_ns = begins_within_ns(self._shield.policy)
        return self._shield.awake_ns() >= self._began.pop(decision.id, -FOREVER) + within_ns


def begins_within_ns(policy: Any, kept_s: float | None = None) -> int:
    """How long after its judgement an action may begin under a policy, where something else is
    kept for it for `kept_s`. Where a policy only watches, that is longer than anything."""
    if policy.shadow:
        return 3 * FOREVER
    lease_ms = policy.lease_ms if kept_s is None else min(policy.lease_ms, int(kept_s * 1000))
    return int(min(START_MS, lease_ms - lease_ms // 4)) * 1_000_000
