"""A run's beginning as the trail tells it, in each process that is at the run."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import TYPE_CHECKING, Final

from stanchion.audit.journal import Start
from stanchion.kernel.actions import Action
from stanchion.kernel.events import RunInfo
from stanchion.locks.forks import forks
from stanchion.policy.veil import renamed

if TYPE_CHECKING:
    from stanchion.runtime.shield import Shield


_ACTIONS: Final = tuple(Action)


class Beginning:
    """When a run began. A process that goes on with it says so, instead of beginning it anew."""

    def __init__(self, shield: Shield) -> None:
        self._shield = shield
        self._made, self._forks = shield.clock(), forks()
        self._began = 0

    def announce(self, run: RunInfo, deadline_at_ms: int | None) -> None:
        """Write down that the run begins, or goes on."""
        shield = self._shield
        now, policy = shield.clock(), shield.policy
        if not self._began and self._forks != forks():
            # Another process may have gone on with it already, and says that it began then.
            self._began = self._made
        who = renamed(run, policy.veil.of_run(run))
        begun = Start(
            who,
            now,
            policy.hash,
            shield.origin,
            shield.env,
            deadline_at_ms,
            self._began,
            policy.tools_digest,
        )
        shield.journal.begin(begun)
        self._began = self._began if self._began else now


def counts() -> list[Iterator[int]]:
    """What counts decisions by their action: each is one `next`, which no lock has to be around.
    Asked for a count, it counts once more."""
    return [count() for _ in _ACTIONS]
