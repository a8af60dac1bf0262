"""The isolated guards of a shield: one process each, kept over reloads, ended with the shield."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from stanchion.kernel.guard import Placed
from stanchion.runtime.answers.isolated.guard import IsolatedGuard


class Isolation:
    """Gives what answers for isolated guards; one that is the same in a later policy keeps its
    process."""

    def __init__(self) -> None:
        self._guards: dict[tuple[str, str, int, bool], IsolatedGuard] = {}

    def answerers(self, isolated: Iterable[Placed]) -> dict[str, IsolatedGuard]:
        """What answers for these guards, by their ids; raises `PolicyError` where one cannot be
        isolated."""
        found = {}
        for placed in isolated:
            guard = placed.guard
            made = (placed.id, guard.call, guard.deadline_ms, placed.fail_open or guard.deep)
            if made not in self._guards:
                self._guards[made] = IsolatedGuard(*made)
            found[placed.id] = self._guards[made]
        return found

    def ready(self, answerers: Iterable[Any]) -> None:
        """Have the processes of these started, without waiting for them."""
        for answerer in answerers:
            if isinstance(answerer, IsolatedGuard):
                answerer.ready()

    def keep(self, answerers: Collection[Any]) -> None:
        """End the processes of all guards but these: no policy that is remembered has the
        others."""
        for made, guard in list(self._guards.items()):
            if guard not in answerers:
                del self._guards[made]
                guard.close()

    def close(self) -> None:
        """End all processes."""
        for guard in self._guards.values():
            guard.close()
