"""Waiting for something to be so, under the lock that outlives its holder."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Final

from stanchion.locks.bell import Bell
from stanchion.locks.lock import Lock

LOOK_S: Final = 0.5
"""How long one who waits for news sleeps before it looks for itself: whoever had them may have been
cut off."""


class Condition(Lock):
    """A lock around something that others wait for: `wait_for` lets go of it meanwhile,
    `notify_all` wakes who does."""

    __slots__ = ("_bells",)

    def __init__(self) -> None:
        super().__init__()
        self._bells: set[Bell] = set()

    def __exit__(
        self, kind: type[BaseException] | None, error: object, trace: TracebackType | None
    ) -> None:
        if self._is_held_by(sys._getframe(1)):  # not one who was cut off while it waited
            super().__exit__(kind, error, trace)

    def wait_for(self, is_so: Callable[[], bool], timeout: float) -> bool:
        """Wait, in the body of `with`, until something is so, for so many seconds at the most; says
        whether it is."""
        me = (sys._getframe(1),)
        until = time.monotonic() + timeout
        while not is_so():
            left = until - time.monotonic()
            if left <= 0:
                return False
            bell = Bell()
            self._bells.add(bell)
            super().__exit__(None, None, None)
            bell.wait(min(left, LOOK_S))
            if self._held.setdefault(0, me) is not me:
                self._wait(me, None)
        return True

    def notify_all(self) -> None:
        """Wake everybody who waits."""
        bells, self._bells = self._bells, set()
        for bell in bells:
            bell.set()
