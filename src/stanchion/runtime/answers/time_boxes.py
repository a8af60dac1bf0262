"""Time boxes: one thread that looks after questions when their time is over, there while any is
open, and somebody has asked it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Final
from weakref import ReferenceType, finalize, ref

from stanchion.locks import Lock

FOREVER: Final = float("inf")
LONGEST_S: Final = 3_600.0
"""After so long it looks anew, however far away the next time is."""


class TimeBoxes:
    """Calls `sweep` at the time that it gave when it was last called; `due` says when that is."""

    def __init__(
        self, due: Callable[[], float], sweep: Callable[[], None], clock: Callable[[], float]
    ) -> None:
        self._due, self._sweep, self._clock = due, sweep, clock
        self._closed = False
        self._bells: list[SimpleQueue[None]] = []
        self._begin()
        finalize(self, _ring, self._bells).atexit = False

    def _begin(self) -> None:
        self._lock = Lock()
        # A queue, because it can be rung wherever garbage is collected, even by the thread that
        # waits for it.
        self._sooner: SimpleQueue[None] = SimpleQueue()
        self._bells[:] = [self._sooner]
        self._next = FOREVER
        self._at_work = False

    def by(self, due: float) -> None:
        """See that somebody looks by then. Who calls this has said before what `due` is to give."""
        with self._lock:
            if self._closed:
                return
            if self._at_work:
                if due < self._next:
                    self._sooner.put(None)
                return
            self._at_work = self._started()

    def close(self) -> None:
        """Look no more."""
        with self._lock:
            self._closed = True
            self._sooner.put(None)

    def forked(self) -> None:
        """In a forked process: the thread is the parent's."""
        self._begin()

    def _started(self) -> bool:
        try:
            given = (ref(self), self._sooner)
            threading.Thread(
                target=_work, args=given, name="stanchion-time-boxes", daemon=True
            ).start()
        except RuntimeError:  # the system has no more threads to give: the next to ask looks
            return False
        return True

    def look(self, waited: bool) -> float | None:
        """Sweep where the time has come without a bell, and say how long nothing is due then;
        `None` where nothing is any more, and the thread ends."""
        if waited:
            self._sweep()
        with self._lock:
            while not self._sooner.empty():
                self._sooner.get_nowait()
            self._next = FOREVER if self._closed else self._due()
            if self._next == FOREVER:
                self._at_work = False
                return None
            return self._next - self._clock()


def _work(whose: ReferenceType[TimeBoxes], sooner: SimpleQueue[None]) -> None:
    """What the thread does. It keeps nobody alive whose questions they are, and ends with them."""
    waited = False
    while (wait_s := _looked(whose, waited)) is not None:
        waited = wait_s <= 0 or not _rung(sooner, min(wait_s, LONGEST_S))


def _looked(whose: ReferenceType[TimeBoxes], waited: bool) -> float | None:
    boxes = whose()
    return None if boxes is None else boxes.look(waited)


def _rung(sooner: SimpleQueue[None], wait_s: float) -> bool:
    try:
        sooner.get(timeout=wait_s)
    except Empty:
        return False
    return True


def _ring(bells: list[SimpleQueue[None]]) -> None:
    for bell in bells:
        bell.put(None)
