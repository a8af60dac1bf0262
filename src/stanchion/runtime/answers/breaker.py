"""A rule's breaker: one that fails or is late again and again is left alone for a while."""

from __future__ import annotations

from collections.abc import Callable

from stanchion.locks import Lock


class Breaker:
    """Counts failures in a row. After `after` of them the rule rests for `rest_s`; then one
    question tries it."""

    def __init__(self, after: int, rest_s: float, clock: Callable[[], float]) -> None:
        self._after, self._rest_s, self._clock = after, rest_s, clock
        self._lock = Lock()
        self._in_a_row = 0
        self._until: float | None = None
        self.tripped = False
        """Whether it rests, or is tried: else there is nothing to ask."""

    def lets(self) -> bool:
        """Whether a question may be asked now."""
        if self._until is None:
            return True
        with self._lock:
            now = self._clock()
            if self._until is None or now < self._until:
                return self._until is None
            self._until = now + self._rest_s  # whoever comes next waits for what this one finds
            return True

    def passed(self) -> None:
        """It has answered in time."""
        if self._in_a_row or self._until is not None:
            with self._lock:
                self._in_a_row, self._until, self.tripped = 0, None, False

    def failed(self) -> None:
        """It has failed, or was late."""
        with self._lock:
            self._in_a_row += 1
            if self._in_a_row >= self._after:
                self._until, self.tripped = self._clock() + self._rest_s, True
