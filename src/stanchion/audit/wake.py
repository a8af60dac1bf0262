"""Waking the thread that brings records to the disk: soon after one was written, at once where
somebody waits."""

from __future__ import annotations

from _thread import start_new_thread
from collections.abc import Callable

from stanchion.locks import Bell, Lock


class Waking:
    """That thread, and what it sleeps on. Whoever starts it may be cut off at any step: then the
    next one does."""

    def __init__(self) -> None:
        self._wake, self._hurry, self._ended = Bell(), Bell(), Bell()
        self._working = Lock()
        self._asked = self._resting = False

    def start(self, work: Callable[[], object]) -> None:
        """Have the thread work, unless it does."""
        if not self._working.locked:
            # Not by `threading`: a start that is cut off there leaves a thread that dies of it.
            start_new_thread(self._work, (work,))

    def _work(self, work: Callable[[], object]) -> None:
        if self._working.take(0):
            try:
                work()
            finally:
                self._ended.set()

    def join(self) -> None:
        """Wait until the thread has ended, if it was started."""
        if self._working.locked:
            self._ended.wait()

    def soon(self) -> None:
        """There is something to do, and more may come within the moment."""
        self._asked = True
        if self._resting:
            self._wake.set()

    def at_once(self) -> None:
        """Somebody waits for it."""
        self._asked = True
        self._hurry.set()
        self._wake.set()

    def sleep(self, idle_s: float | None, moment_s: float, is_over: Callable[[], bool]) -> None:
        """Sleep until there is something to do, or for so long, and a moment more for what else
        comes.

        While there is something to do in every moment, nobody has to wake it: to hand the
        interpreter over costs those who ask more than all the rest.
        """
        self._hurry.wait(moment_s)
        if not self._asked:
            self._resting = True  # before looking once more: who asks from now on rings the bell
            if not self._asked and self._wake.wait(idle_s) and not is_over():
                self._hurry.wait(moment_s)
            self._resting = False
        self._wake.clear()
        self._asked = False
        self._hurry.clear()
