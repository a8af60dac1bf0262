"""Turns: decisions that found a record changed under them go one after the other, instead of racing
again."""

from __future__ import annotations

import contextlib
import sys
import time
from _thread import allocate_lock
from collections import deque
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING, Any, Final

from stanchion.kernel.state import Moved
from stanchion.locks import RESUMABLE, Lock, has_ended

if TYPE_CHECKING:
    from asyncio import Task

PATIENCE_S: Final = 5.0
"""How long a decision lets others go first. Turns are a courtesy: the store alone decides who was
first."""
STEP_S: Final = 0.05
"""How long one who waits sleeps before it looks whether those before it are still there."""


class LineWaiter:
    """A place in a line; whoever stands there waits until it is called. `look` is called now and
    then meanwhile."""

    __slots__ = ("_bell", "_look", "_tell", "called")

    def __init__(self, look: Callable[[], object] | None = None) -> None:
        self.called = False
        """Whether its turn has come."""
        self._bell = allocate_lock()
        self._bell.acquire()
        self._tell: Callable[[], object] | None = None
        self._look = look

    def call(self) -> None:
        """Say that its turn has come."""
        self.called = True
        for tell in (self._bell.release, self._tell):
            if tell is not None:
                with contextlib.suppress(
                    RuntimeError
                ):  # it was called before, or its event loop is gone
                    tell()

    def wait(self, patience_s: float) -> None:
        """Wait for the turn in this thread, no longer than that."""
        until = time.monotonic() + patience_s
        while not self.called and time.monotonic() < until:
            self._bell.acquire(timeout=self._step(until))
            if self._look is not None:
                self._look()

    async def await_turn(self, patience_s: float) -> None:
        """Wait for the turn on the running event loop, no longer than that."""
        import asyncio

        loop = asyncio.get_running_loop()
        come = asyncio.Event()
        self._tell = lambda: loop.call_soon_threadsafe(come.set)
        until = time.monotonic() + patience_s
        while not self.called and time.monotonic() < until:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(come.wait(), self._step(until))
            if self._look is not None:
                self._look()

    def _step(self, until: float) -> float:
        left = max(0.0, until - time.monotonic())
        return left if self._look is None else min(left, STEP_S)


class Turns:
    """Who is in line for a record, in this process; first come, first served. Who was cut off
    before it left the line holds nobody up."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._lines: dict[str, deque[tuple[LineWaiter, LineOwner]]] = {}

    @property
    def lines(self) -> list[str]:
        """The records that somebody is in line for."""
        return list(self._lines)

    def join(self, key: str, owner: LineOwner) -> LineWaiter:
        """A place at the end of the line for a record, for as long as its owner is at work; it is
        called when its turn has come."""
        place = LineWaiter(lambda: self._go_on(key))
        with self._lock:
            line = self._lines.get(key)
            if line is None:
                line = self._lines[key] = deque()
            line.append((place, owner))
        self._go_on(key)
        return place

    def leave(self, key: str, place: LineWaiter) -> None:
        """Leave the line, whether or not the turn had come; the next one goes."""
        with self._lock:
            line = self._lines.get(key) or deque()
            for one in [one for one in line if one[0] is place]:
                line.remove(one)
        self._go_on(key)

    def _go_on(self, key: str) -> None:
        """Call the first in line who is still there."""
        with self._lock:
            line = self._lines.get(key)
            while line and line[0][1].is_gone():
                line.popleft()
            if line:
                first: LineWaiter | None = line[0][0]
            else:
                first = None
                self._lines.pop(key, None)
        if first is not None and not first.called:
            first.call()


class LineOwner:
    """Whoever stands in line: a call in a thread, by its frame, or a task."""

    __slots__ = ("_frame", "_task")

    def __init__(self, frame: FrameType) -> None:
        self._frame, self._task = frame, _task(frame)

    def is_gone(self) -> bool:
        """Whether it was cut off before it left the line."""
        return has_ended(self._frame) if self._task is None else self._task.done()


def _task(frame: FrameType) -> Task[Any] | None:
    if not frame.f_code.co_flags & RESUMABLE:
        return None
    import asyncio

    return asyncio.current_task()


class Courtesy:
    """How one flow behaves in line: it joins when something moved under it, and leaves when it got
    through."""

    __slots__ = ("_key", "_place", "_turns")

    def __init__(self, turns: Turns) -> None:
        self._turns = turns
        self._key = ""
        self._place: LineWaiter | None = None

    def join(self, moved: Moved) -> LineWaiter | None:
        """The place to wait at; none where it is in a line already, or nothing but time has moved.
        Whoever calls this stands in line until it leaves, or ends."""
        if self._place is not None or not moved.key:
            return None
        self._key = moved.key
        self._place = self._turns.join(moved.key, LineOwner(sys._getframe(1)))
        return self._place

    def leave(self) -> None:
        """Leave the line."""
        if self._place is not None:
            self._turns.leave(self._key, self._place)
            self._place = None
