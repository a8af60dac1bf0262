"""The order of a stream's objects, some of which have text that is held back."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from stanchion.runtime.streams.holdback import Held


class Order:
    """Objects without text wait behind text that is held back, and so does whatever began after them: what opens a
    block goes out before what is in it. Text that is not behind them does not wait."""

    def __init__(self, held: Mapping[str, Held]) -> None:
        self._held = held
        self._waiting: list[Any] = []
        self._behind: set[str] = set()
        """Channels that began behind an object which waits."""

    def put(self, made: Any, spoken: Collection[str], begun: Collection[str] = ()) -> tuple[Any, ...]:
        """Take an object with text of some channels, and the channels that begin with it; gives what goes out now."""
        if self._waiting:
            self._behind.update(begun)
        waits = not spoken or not self._behind.isdisjoint(spoken)
        if self._blocked():
            if not waits:
                return (made,)
            self._waiting.append(made)
            self._behind.update(begun)
            return ()
        return (*self._released(), made) if waits else (made, *self._released())

    def settle(self) -> tuple[Any, ...]:
        """What no longer waits."""
        return () if self._blocked() else self._released()

    def first(self) -> list[str]:
        """The channels, those that began behind an object which waits last."""
        return sorted(self._held, key=lambda name: name in self._behind)

    def _blocked(self) -> bool:
        """Whether text is held back that stands before what waits, or would stand before it."""
        return any(held.text for name, held in self._held.items() if name not in self._behind)

    def _released(self) -> tuple[Any, ...]:
        waiting, self._waiting = tuple(self._waiting), []
        self._behind.clear()
        return waiting
