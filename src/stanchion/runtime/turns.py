"""Turns: decisions that found a record changed under them go one after the other, instead of racing again."""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from collections.abc import Callable
from typing import Final

from stanchion.kernel.state import Moved

PATIENCE_S: Final = 5.0
"""How long a decision lets others go first. Turns are a courtesy: the store alone decides who was first."""


class Place:
    """A place in a line; whoever stands there waits until it is called."""

    __slots__ = ("_called", "_tell")

    def __init__(self) -> None:
        self._called = threading.Event()
        self._tell: Callable[[], object] | None = None

    def call(self) -> None:
        """Say that its turn has come."""
        self._called.set()
        tell = self._tell
        if tell is not None:
            with contextlib.suppress(RuntimeError):
                tell()

    @property
    def called(self) -> bool:
        """Whether its turn has come."""
        return self._called.is_set()

    def wait(self, patience_s: float) -> None:
        """Wait for the turn in this thread, no longer than that."""
        self._called.wait(patience_s)

    async def await_turn(self, patience_s: float) -> None:
        """Wait for the turn on the running event loop, no longer than that."""
        import asyncio

        loop = asyncio.get_running_loop()
        come = asyncio.Event()
        self._tell = lambda: loop.call_soon_threadsafe(come.set)
        if not self._called.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(come.wait(), patience_s)


class Turns:
    """Who is in line for a record, in this process; first come, first served."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lines: dict[str, deque[Place]] = {}

    def join(self, key: str) -> Place:
        """A place at the end of the line for a record; it is done when its turn has come."""
        place = Place()
        with self._lock:
            line = self._lines.setdefault(key, deque())
            line.append(place)
            first = len(line) == 1
        if first:
            place.call()
        return place

    def leave(self, key: str, place: Place) -> None:
        """Leave the line, whether or not the turn had come; the next one goes."""
        with self._lock:
            line = self._lines[key]
            line.remove(place)
            following = line[0] if line else None
            if not line:
                del self._lines[key]
        if following is not None and not following.called:
            following.call()


class Courtesy:
    """How one flow behaves in line: it joins when something moved under it, and leaves when it got through."""

    __slots__ = ("_key", "_place", "_turns")

    def __init__(self, turns: Turns) -> None:
        self._turns = turns
        self._key = ""
        self._place: Place | None = None

    def join(self, moved: Moved) -> Place | None:
        """The place to wait at; none where it is in a line already, or nothing but time has moved."""
        if self._place is not None or not moved.key:
            return None
        self._key = moved.key
        self._place = self._turns.join(moved.key)
        return self._place

    def leave(self) -> None:
        """Leave the line."""
        if self._place is not None:
            self._turns.leave(self._key, self._place)
            self._place = None
