"""Turns: decisions that found a record changed under them go one after the other, instead of racing again."""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from collections.abc import Callable
from typing import Any, Final

from holdfast.kernel.decision import Decision
from holdfast.kernel.state import CLOCK, Reply
from holdfast.runtime.drivers import Flow
from holdfast.runtime.effects import Turn

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


def in_turn(turns: Turns, deciding: Flow[Decision]) -> Flow[Decision]:
    """A decision that takes its turn once something has changed under it."""
    key = ""
    place: Place | None = None
    try:
        need: Any = deciding.send(None)
        while True:
            try:
                given = yield need
            except BaseException as error:  # noqa: BLE001 - what went wrong is for the decision to judge
                need = deciding.throw(error)
                continue
            if place is None and type(given) is Reply and given.stale:
                key = next((fresh.key for fresh in given.fresh if fresh.key != CLOCK), "")
                if key:
                    place = turns.join(key)
                    yield Turn(place, PATIENCE_S)
            need = deciding.send(given)
    except StopIteration as stop:
        made: Decision = stop.value
        return made
    finally:
        if place is not None:
            turns.leave(key, place)
