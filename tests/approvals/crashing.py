"""A process that is killed at a chosen trip to its store, and never says anything again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stanchion.kernel.state import Batch, Reply
from stanchion.stores.protocol import Store
from stanchion.stores.seen import Hold, SeenCell


class Killed(BaseException):
    """The process is gone."""


class Dying:
    """A store whose process is killed at a trip: before it is carried out, or (`applied`) before
    the answer comes. From then on nothing of that process reaches the store."""

    place = ""

    def __init__(self, store: Store, at: int, applied: bool) -> None:
        self._store, self._at, self._applied = store, at, applied
        self.trips = 0

    @property
    def dead(self) -> bool:
        """Whether it was killed."""
        return self.trips >= self._at

    def carry(self, batch: Batch) -> Reply:
        """Carry a batch out, or die."""
        self._alive()
        self.trips += 1
        if self.trips == self._at:
            if self._applied:
                self._store.carry(batch)
            raise Killed
        return self._store.carry(batch)

    async def acarry(self, batch: Batch) -> Reply:
        """The same for async code."""
        return self.carry(batch)

    def _alive(self) -> None:
        if self.dead:
            raise Killed

    def read(self, key: str) -> tuple[int, Any]:
        """A cell."""
        self._alive()
        return self._store.read(key)

    def look(self, prefix: str = "") -> Iterator[SeenCell]:
        """Cells."""
        self._alive()
        return self._store.look(prefix)

    def holds(self) -> Iterator[Hold]:
        """Holds."""
        self._alive()
        return self._store.holds()

    def held(self, tenant: str, hold_id: str) -> Hold | None:
        """A hold."""
        self._alive()
        return self._store.held(tenant, hold_id)

    def close(self) -> None:
        """The store behind it stays open."""
