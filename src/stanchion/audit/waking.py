"""Waking the thread that brings records to the disk: soon after one was written, at once where somebody waits."""

from __future__ import annotations

from collections.abc import Callable

from stanchion.locks import Bell


class Waking:
    """What that thread sleeps on."""

    def __init__(self) -> None:
        self._wake, self._hurry = Bell(), Bell()
        self._woken = False

    def soon(self) -> None:
        """There is something to do, and more may come within the moment."""
        if not self._woken:
            self._woken = True
            self._wake.set()

    def at_once(self) -> None:
        """Somebody waits for it."""
        self._hurry.set()
        self._wake.set()

    def sleep(self, idle_s: float | None, moment_s: float, is_over: Callable[[], bool]) -> None:
        """Sleep until there is something to do, or for so long, and a moment more for what else comes."""
        if self._wake.wait(idle_s) and not is_over():
            self._hurry.wait(moment_s)
        self._wake.clear()
        self._woken = False
        self._hurry.clear()
