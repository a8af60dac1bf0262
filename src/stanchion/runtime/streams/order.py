"""The order of a stream's objects, some of which have text that is held back."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from stanchion.kernel.tuples import NamedTuple
from stanchion.runtime.streams.holdback import Held


class _Waiting(NamedTuple):
    """An object that waits: for the text of these channels, or for what stands before it. One
    without text has a number, by which channels know that they began behind it."""

    made: Any
    after: frozenset[str] = frozenset()
    number: int = 0


class Order:
    """Objects without text wait behind text that is held back, and so does whatever began after
    them: what opens a block goes out before what is in it, and what ends it behind that. Text that
    is not behind them does not wait."""

    def __init__(self, held: Mapping[str, Held]) -> None:
        self._held = held
        self._line: list[_Waiting] = []
        self._count = 0
        self._began: dict[str, int] = {}
        """The last object that waited where a channel began."""

    def put(
        self, made: Any, spoken: Collection[str], begun: Collection[str] = (), last: bool = False
    ) -> tuple[Any, ...]:
        """Take an object with text of some channels, and the channels that begin with it; gives
        what goes out now. The last object of its text also says that nothing comes behind it: what
        waited goes out first."""
        if spoken:
            self._begin(begun)
            behind = max([self._began.get(name, 0) for name in spoken])
            if not any(0 < one.number <= behind for one in self._line):
                return (*self.settle(), made) if last else (made, *self.settle())
            self._line.insert(len(self._line) if last else self._place(behind), _Waiting(made))
            return self.settle()
        after = frozenset([name for name, held in self._held.items() if held.text])
        if not after and not self._line:
            return (made,)
        self._count += 1
        self._line.append(_Waiting(made, after, self._count))
        self._begin(begun)
        return self.settle()

    def _begin(self, channels: Collection[str]) -> None:
        """Note behind which object channels begin, where one waits."""
        last = max([one.number for one in self._line], default=0)
        if last:
            self._began |= dict.fromkeys(channels, last)

    def _place(self, behind: int) -> int:
        """Where text has to stand that began behind an object: before the next one that has
        none."""
        return next(
            (place for place, one in enumerate(self._line) if one.number > behind), len(self._line)
        )

    def settle(self) -> tuple[Any, ...]:
        """What no longer waits, in its order."""
        out = []
        while self._line and not any(self._held[name].text for name in self._line[0].after):
            out.append(self._line.pop(0).made)
        return tuple(out)

    def first(self) -> list[str]:
        """The channels, those that began behind an object later than it."""
        return sorted(self._held, key=lambda name: self._began.get(name, 0))
