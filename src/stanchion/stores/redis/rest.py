"""Resting: after a failure a server is left alone for a moment, so that nobody waits for it in
vain."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from stanchion.kernel.state import StoreLost
from stanchion.locks import Lock

FIRST_S: Final = 0.05
LONGEST_S: Final = 1.0


class Rest:
    """How long a server that failed is left alone: longer with each failure, until it works
    again."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.why = ""
        """Why the server is left alone; empty while it works."""
        self._clock = clock
        self._lock = Lock()
        self._pause_s = FIRST_S
        self._until = 0.0

    def check(self, attempt_s: float) -> None:
        """Refuse at once while the server rests; afterwards one caller may try, and the others wait
        for its news."""
        with self._lock:
            if not self.why:
                return
            now = self._clock()
            if now < self._until:
                raise StoreLost(self.why)
            self._until = now + attempt_s

    def failed(self, why: str) -> None:
        """Leave the server alone."""
        with self._lock:
            self.why = why
            self._until = self._clock() + self._pause_s
            self._pause_s = min(2 * self._pause_s, LONGEST_S)

    def worked(self) -> None:
        """Take it up again."""
        with self._lock:
            self.why = ""
            self._pause_s = FIRST_S
