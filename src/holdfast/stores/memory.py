"""A store in this process's memory: the fastest, gone with the process."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from holdfast.kernel.carry import carry_out
from holdfast.kernel.cells import State, read
from holdfast.kernel.state import Batch, Reply


def wall_ms() -> int:
    """Milliseconds since 1970."""
    return time.time_ns() // 1_000_000


class MemoryStore:
    """Runs every batch under one lock; its clock never runs backwards."""

    def __init__(self, clock: Callable[[], int] = wall_ms) -> None:
        self._state = State()
        self._lock = threading.Lock()
        self._clock = clock
        self._last = 0

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

    def read(self, key: str) -> tuple[int, Any]:
        """A cell's number and value."""
        with self._lock:
            return read(self._state, key)

    def close(self) -> None:
        """Nothing to let go of."""
