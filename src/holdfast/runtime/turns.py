"""Turns: decisions that found a record changed under them go one after the other, instead of racing again."""

from __future__ import annotations

import threading
from collections import deque
from concurrent.futures import Future
from typing import Any, Final

from holdfast.kernel.decision import Decision
from holdfast.kernel.state import CLOCK, Reply
from holdfast.runtime.drivers import Flow
from holdfast.runtime.effects import Turn

PATIENCE_S: Final = 5.0
"""How long a decision lets others go first. Turns are a courtesy: the store alone decides who was first."""

Place = Future[None]


class Turns:
    """Who is in line for a record, in this process; first come, first served."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lines: dict[str, deque[Place]] = {}

    def join(self, key: str) -> Place:
        """A place at the end of the line for a record; it is done when its turn has come."""
        place: Place = Future()
        with self._lock:
            line = self._lines.setdefault(key, deque())
            line.append(place)
            first = len(line) == 1
        if first:
            place.set_result(None)
        return place

    def leave(self, key: str, place: Place) -> None:
        """Leave the line, whether or not the turn had come; the next one goes."""
        with self._lock:
            line = self._lines[key]
            line.remove(place)
            following = line[0] if line else None
            if not line:
                del self._lines[key]
        if following is not None and not following.done():
            following.set_result(None)


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
