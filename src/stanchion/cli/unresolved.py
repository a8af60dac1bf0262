"""Names that a check does not look up: it asks the system's DNS only where it is told to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from stanchion.locks import Lock
from stanchion.runtime.answers.resolver import NOT_ASKED

MOST: Final = 100
"""How many names of one event are told."""


class Unasked:
    """A resolver that looks nothing up and notes the names it was asked for. A name is then judged
    by itself alone, and where the check counts (`strict`), because something happens behind it, as
    one that has no address."""

    def __init__(self, strict: bool = False) -> None:
        self._given: Any = () if strict else NOT_ASKED
        self._lock = Lock()
        self._names: dict[str, None] = {}

    def __call__(self, host: str, _port: int) -> Any:
        with self._lock:
            if len(self._names) < MOST:
                self._names[host] = None
        return self._given

    def take(self) -> tuple[str, ...]:
        """The names that were asked for since the last time."""
        with self._lock:
            names, self._names = tuple(self._names), {}
        return names


def looked_up() -> tuple[str, ...]:
    """What is told of names where they are looked up: none was left out."""
    return ()


Taking = Callable[[], tuple[str, ...]]
"""Gives the names that the event just judged would have had looked up."""
