"""Cover: what places of a text cover together, sorted once so that nobody compares each place with
every other."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from itertools import accumulate


class Cover:
    """Places of a text, each from its first character to behind its last."""

    __slots__ = ("_ends", "_starts")

    def __init__(self, places: Iterable[tuple[int, int]]) -> None:
        ordered = sorted(places)
        self._starts = [start for start, _ in ordered]
        self._ends = list(accumulate([end for _, end in ordered], max))
        """How far the places reach up to each of them."""

    def touches(self, start: int, end: int) -> bool:
        """Whether one of the places has a character in common with another place."""
        before = bisect_left(self._starts, end)
        return before > 0 and self._ends[before - 1] > start

    def holds(self, start: int, end: int) -> bool:
        """Whether one of the places has the whole of another place in it."""
        before = bisect_right(self._starts, start)
        return before > 0 and self._ends[before - 1] >= end

    def clear(self, at: int) -> int:
        """The last place up to another one over which none of the places reaches."""
        while (before := bisect_left(self._starts, at)) and self._ends[before - 1] > at:
            at = self._starts[bisect_right(self._ends, at)]
        return at
