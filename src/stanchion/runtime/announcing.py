"""A run's beginning and end as the trail tells them, in each process that is at the run."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import TYPE_CHECKING

from stanchion.audit.forking import forks
from stanchion.audit.journal import Finish, Start
from stanchion.kernel.actions import NAMES, Action
from stanchion.kernel.events import RunInfo
from stanchion.policy.veil import renamed

if TYPE_CHECKING:
    from stanchion.runtime.desk import Desk
    from stanchion.runtime.shield import Shield


class Beginning:
    """When a run began. A process that goes on with it says so, instead of beginning it anew."""

    def __init__(self, shield: Shield) -> None:
        self._shield = shield
        self._made, self._forks = shield.clock(), forks()
        self._began = 0

    def announce(self, run: RunInfo, deadline_at_ms: int | None) -> None:
        """Write down that the run begins, or goes on."""
        shield = self._shield
        now, policy = shield.clock(), shield.policy.hash
        if not self._began and self._forks != forks():
            # Another process may have gone on with it already, and says that it began then.
            self._began = self._made
        who = renamed(run, shield.policy.veil.of_run(run))
        shield.journal.begin(Start(who, now, policy, shield.origin, shield.env, deadline_at_ms, self._began))
        self._began = self._began if self._began else now


def counts() -> list[Iterator[int]]:
    """What counts decisions by their action: each is one `next`, which no lock has to be around. Asked for a count,
    it counts once more."""
    return [count() for _ in Action]


def tell_end(desk: Desk, code: str, why: str) -> None:
    """Write down that a run has ended, what this process decided in it, and what it had produced."""
    shield, veil = desk.shield, desk.shield.policy.veil
    decided = {NAMES[action]: number for action, number in enumerate(map(next, desk.decided)) if number}
    produced, left_out = desk.produced(), desk.partial.left_out
    if desk.veiled:
        produced, left_out = (), left_out + len(produced)
    who = renamed(desk.info, veil.of_run(desk.info))
    finish = Finish(who, shield.clock(), code, veil.words(why), decided, produced, left_out)
    if not shield.unwritten.put(lambda: shield.journal.end(finish), f"the end of run `{who.id}`"):
        desk.tell("the audit trail cannot be written: the end of this run is recorded as soon as it can be")
