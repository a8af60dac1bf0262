"""A circuit: while the server is known to be lost nobody waits for it, and one at a time tries
again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

FIRST_S: Final = 0.1
LONGEST_S: Final = 2.0
"""How long nobody tries after a failure: twice as long after each one."""


class Circuit:
    """Opens at a failure, closes at a success. Whoever uses it has a lock."""

    __slots__ = ("_monotonic", "_pause_s", "_retry_at", "_trying", "reason")

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self.reason = ""
        self._monotonic: Final = monotonic
        self._pause_s = 0.0
        self._retry_at = 0.0
        self._trying = False

    @property
    def is_open(self) -> bool:
        """Whether the last attempt failed."""
        return self._pause_s > 0

    @property
    def is_resting(self) -> bool:
        """Whether the last attempt failed, and it is too early for another."""
        return self._pause_s > 0 and self._monotonic() < self._retry_at

    def may_try(self) -> bool:
        """Whether to attempt it now; while it is open that is one caller's turn, who tells how it
        went. One who does not has had its turn after a while."""
        if not self.is_open:
            return True
        if self.is_resting:
            return False
        self._trying = True
        self._retry_at = self._monotonic() + LONGEST_S
        return True

    def failed(self, reason: str) -> None:
        """Open, after an attempt for longer than the last time."""
        self.reason = reason
        if self.is_open and not self._trying:
            return
        self._pause_s = min(2 * self._pause_s, LONGEST_S) if self._pause_s else FIRST_S
        self._retry_at = self._monotonic() + self._pause_s
        self._trying = False

    def worked(self) -> None:
        """Close."""
        self._pause_s = 0.0
        self._trying = False
