"""Time boxes: one thread that looks after questions when their time is over, there while any is open."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final

from stanchion.locks import Lock

FOREVER: Final = float("inf")
LONGEST_S: Final = 3_600.0
"""After so long it looks anew, however far away the next time is."""


class TimeBoxes:
    """Calls `sweep` at the time that it gave when it was last called; `due` says when that is."""

    def __init__(self, due: Callable[[], float], sweep: Callable[[], None], clock: Callable[[], float]) -> None:
        self._due, self._sweep, self._clock = due, sweep, clock
        self._closed = False
        self._begin()

    def _begin(self) -> None:
        self._lock = Lock()
        self._sooner = threading.Event()
        self._next = FOREVER
        self._at_work = False

    def by(self, due: float) -> None:
        """See that somebody looks by then. Who calls this has said before what `due` is to give."""
        with self._lock:
            if self._closed:
                return
            if self._at_work:
                if due < self._next:
                    self._sooner.set()
                return
            self._at_work = self._started()

    def close(self) -> None:
        """Look no more."""
        with self._lock:
            self._closed = True
            self._sooner.set()

    def forked(self) -> None:
        """In a forked process: the thread is the parent's."""
        self._begin()

    def _started(self) -> bool:
        try:
            threading.Thread(target=self._work, name="stanchion-time-boxes", daemon=True).start()
        except RuntimeError:  # the system has no more threads to give: the next to ask looks
            return False
        return True

    def _work(self) -> None:
        while (wait_s := self._wait_s()) is not None:
            if wait_s <= 0 or not self._sooner.wait(min(wait_s, LONGEST_S)):
                self._sweep()

    def _wait_s(self) -> float | None:
        """How long nothing is due; `None` where nothing is any more, and the thread ends."""
        with self._lock:
            self._sooner.clear()
            self._next = FOREVER if self._closed else self._due()
            if self._next == FOREVER:
                self._at_work = False
                return None
            return self._next - self._clock()
