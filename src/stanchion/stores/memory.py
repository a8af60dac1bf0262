"""A store in this process's memory: the fastest, gone with the process."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

from stanchion.kernel.carry import carry_out, take_back
from stanchion.kernel.cells import KEEP, CellState, read
from stanchion.kernel.state import CLOCK, Batch, Reply, text_or_value
from stanchion.locks import Lock
from stanchion.stores.seen import Hold, SeenCell, open_hold, seen


def wall_ms() -> int:
    """Milliseconds since 1970."""
    return time.time_ns() // 1_000_000


class MemoryStore:
    """Runs every batch under one lock, wholly or not at all; its clock never runs backwards."""

    def __init__(self, clock: Callable[[], int] = wall_ms) -> None:
        self._state = CellState()
        self._lock = Lock(lambda: take_back(self._state))
        self._clock = clock
        self._last = 0

    @property
    def place(self) -> str:
        """Nowhere: it ends with this process."""
        return ""

    def carry(self, batch: Batch) -> Reply:
        """Carry a batch out."""
        with self._lock:
            now = self._clock()
            if now > self._last:
                self._last = now
            return carry_out(self._state, batch, self._last)

    async def acarry(self, batch: Batch) -> Reply:
        """Carry a batch out; nothing here ever waits, so the loop may as well do it."""
        return self.carry(batch)

    def carry_at_once(self, batch: Batch) -> Reply | None:
        """Carry a batch out."""
        return self.carry(batch)

    def read(self, key: str) -> tuple[int, Any]:
        """A cell's number and value."""
        with self._lock:
            number, value = read(self._state, key)
        return number, text_or_value(value)

    def look(self, prefix: str = "") -> Iterator[SeenCell]:
        """Every cell whose key begins so, in the order of their keys; one that nobody wrote to is
        none."""
        return filter(None, map(self._seen, self._keys(prefix)))

    def holds(self) -> Iterator[Hold]:
        """Every hold that is not settled."""
        with self._lock:
            now = self._now()
            open_holds = sorted(
                self._state.holds.items(), key=lambda item: (item[1][0], item[1][3])
            )
            return iter([open_hold(hold_id, held, now) for hold_id, held in open_holds])

    def held(self, tenant: str, hold_id: str) -> Hold | None:
        """The hold with that id."""
        with self._lock:
            found = self._state.holds.get(hold_id)
            return None if found is None else open_hold(hold_id, found, self._now())

    def close(self) -> None:
        """Nothing to let go of."""

    def _now(self) -> int:
        return max(self._clock(), self._last)

    def _keys(self, prefix: str) -> list[str]:
        with self._lock:
            return sorted(
                [key for key in self._state.cells if key.startswith(prefix) and key != CLOCK]
            )

    def _seen(self, key: str) -> SeenCell | None:
        with self._lock:
            cell = self._state.cells.get(key)
            return None if cell is None or cell[KEEP] < 0 else seen(key, cell, self._now())
