"""Marks of records on their way to the disk: who waits for one is told that it got there, or why it
did not."""

from __future__ import annotations

import time
from _thread import start_new_thread
from collections import deque
from collections.abc import Callable
from typing import Final

from stanchion.audit.errors import AuditLost
from stanchion.locks import Bell, Lock

LOOK_S: Final = 0.5
"""How long one who waits sleeps before it looks for itself: whoever had news may have been cut
off."""


class DiskMarks:
    """How many records of a trail are on the disk, and which of them are lost. Records are numbered
    as they come."""

    def __init__(self, synced: int) -> None:
        self._lock = Lock()
        self._bells: set[Bell] = set()
        self.first = synced
        """How many records there were before: those of a process that this one was forked from."""
        self._synced = synced
        self._lost: deque[tuple[int, int, str]] = deque(maxlen=64)

    def reached(self, mark: int, lost: str = "") -> None:
        """All records up to that mark are on the disk or, with a reason, those that are not yet
        will not get there."""
        with self._lock:
            if lost:
                self._lost.append((self._synced, mark, lost))
            self._synced = mark
        for bell in list(self._bells):
            bell.set()

    def wait(self, mark: int, wait_s: float, hurry: Callable[[], None]) -> None:
        """Wait until a record is on the disk, after asking for it; raises `AuditLost` where it does
        not get there."""
        bell, until = Bell(), time.monotonic() + wait_s
        try:
            self._bells.add(bell)
            if self._synced < mark:
                hurry()
            while self._synced < mark and (left_s := until - time.monotonic()) > 0:
                bell.wait(min(left_s, LOOK_S))
                bell.clear()
        finally:
            self._bells.discard(bell)
        with self._lock:
            why = self._why(mark)
            late = f"the disk did not answer within {wait_s:g} s" if self._synced < mark else ""
        if why or late:
            raise AuditLost(why or late)

    def _why(self, mark: int) -> str:
        """Why a record did not get to the disk; empty where it did, or still may."""
        return next((why for after, upto, why in self._lost if after < mark <= upto), "")


# Waking the thread that brings records to the disk: soon after one was written, at once where
# somebody waits.


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
