"""Marks of records on their way to the disk: who waits for one is told that it got there, or why it
did not."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from stanchion.audit.errors import AuditLost
from stanchion.locks import Condition


class Marks:
    """How many records of a trail are on the disk, and which of them are lost. Records are numbered
    as they come."""

    def __init__(self, synced: int) -> None:
        self._done = Condition()
        self.first = synced
        """How many records there were before: those of a process that this one was forked from."""
        self._synced = synced
        self._lost: deque[tuple[int, int, str]] = deque(maxlen=64)

    def reached(self, mark: int) -> None:
        """All records up to that mark are on the disk."""
        with self._done:
            self._synced = mark
            self._done.notify_all()

    def lost(self, mark: int, why: str) -> None:
        """The records up to that mark that are not on the disk yet will not get there."""
        with self._done:
            self._lost.append((self._synced, mark, why))
            self._synced = mark
            self._done.notify_all()

    def end(self, mark: int, why: str = "") -> None:
        """No more records come: those up to that mark are on the disk or, with a reason, will not
        get there."""
        if why:
            self.lost(mark, why)
        else:
            self.reached(mark)

    def wait(self, mark: int, wait_s: float, hurry: Callable[[], None]) -> None:
        """Wait until a record is on the disk, after asking for it; raises `AuditLost` where it does
        not get there."""
        with self._done:
            if self._synced < mark:
                hurry()
                self._done.wait_for(lambda: self._synced >= mark or bool(self._why(mark)), wait_s)
            why = self._why(mark)
            if why:
                raise AuditLost(why)
            if self._synced < mark:
                raise AuditLost(f"the disk did not answer within {wait_s:g} s")

    def _why(self, mark: int) -> str:
        """Why a record did not get to the disk; empty where it did, or still may."""
        return next((why for after, upto, why in self._lost if after < mark <= upto), "")
