"""Stores made of several that share what they keep, and take turns."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from stanchion.kernel.state import Batch, Reply
from stanchion.stores.protocol import Store
from stanchion.stores.seen import Hold, SeenCell
from stanchion.stores.sqlite import SqliteStore

Clock = Callable[[], int]


def two(path: Path, clock: Clock) -> list[Store]:
    """Two SQLite stores on one file."""
    return [SqliteStore(path, clock), SqliteStore(path, clock)]


class TakingTurns:
    """Two stores on one file or server: every batch is carried out by the one that did not carry
    the last one out."""

    def __init__(self, stores: Sequence[Store]) -> None:
        self._stores = [*stores]

    def carry(self, batch: Batch) -> Reply:
        """Carry a batch out by the other store."""
        self._stores.reverse()
        return self._stores[0].carry(batch)

    async def acarry(self, batch: Batch) -> Reply:
        """The same for async code."""
        self._stores.reverse()
        return await self._stores[0].acarry(batch)

    def read(self, key: str) -> tuple[int, Any]:
        """A cell, as the store that did not write last sees it."""
        return self._stores[1].read(key)

    def look(self, prefix: str = "") -> Iterator[SeenCell]:
        """Cells, as the store that did not write last sees them."""
        return self._stores[1].look(prefix)

    def holds(self) -> Iterator[Hold]:
        """Holds, as the store that did not write last sees them."""
        return self._stores[1].holds()

    def held(self, tenant: str, hold_id: str) -> Hold | None:
        """A hold, as the store that did not write last sees it."""
        return self._stores[1].held(tenant, hold_id)

    def close(self) -> None:
        """Close both."""
        for store in self._stores:
            store.close()


class OpenedAgain(TakingTurns):
    """A store that is closed and opened again after every few batches."""

    def __init__(self, path: Path, clock: Clock, every: int = 3) -> None:
        super().__init__(two(path, clock))
        self._path, self._clock, self._every, self._carried = path, clock, every, 0

    def carry(self, batch: Batch) -> Reply:
        """Carry a batch out, by a store that knows nothing yet now and then."""
        self._carried += 1
        if self._carried % self._every == 0:
            self.close()
            self._stores = two(self._path, self._clock)
        return self._stores[0].carry(batch)
