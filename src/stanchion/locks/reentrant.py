"""The lock for one who may come again while it holds it."""

from __future__ import annotations

import sys
from _thread import get_ident
from types import FrameType, TracebackType

from stanchion.locks.frames import has_ended
from stanchion.locks.lock import Lock


class Reentrant(Lock):
    """The same for one whose holder may come again while it holds it, further down in the same
    thread."""

    __slots__ = ()

    def __enter__(self) -> None:
        frame = sys._getframe(1)
        me = (frame, get_ident())
        holder = self._held.setdefault(0, me)
        if holder is not me and not self._is_above(frame):
            self._wait(me, None)

    def __exit__(
        self, kind: type[BaseException] | None, error: object, trace: TracebackType | None
    ) -> None:
        if self._is_held_by(sys._getframe(1)):
            super().__exit__(kind, error, trace)

    def _is_above(self, frame: FrameType) -> bool:
        """Whether a frame that this thread will come back to holds it."""
        holder = self._last()
        if holder is None or holder[0] is None or holder[0] is frame:
            return False
        return holder[1] == get_ident() and not has_ended(holder[0])
