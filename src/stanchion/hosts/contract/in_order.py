"""The order of a stream: text that is held back lets what comes after it overtake its own
events."""

from __future__ import annotations

from typing import Any


class InOrder:
    """Gives the pieces of a stream in the order in which their events came, by the numbers of those
    events from 0.

    Each event has at least one piece. A further one of an event whose turn has been goes on at
    once.
    """

    def __init__(self) -> None:
        self._next = 0
        self._early: dict[int, list[Any]] = {}

    def ready(self, number: int, piece: Any) -> list[Any]:
        """Take a piece of an event; gives the pieces whose turn it is now."""
        if number < self._next:
            return [piece]
        self._early.setdefault(number, []).append(piece)
        out: list[Any] = []
        while self._next in self._early:
            out += self._early.pop(self._next)
            self._next += 1
        return out
