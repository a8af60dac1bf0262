"""The sieve that every installation has: literals that patterns need, looked for together by RE2."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from stanchion.readings.scan.pattern import Pattern, compiled
from stanchion.readings.scan.tree import BORDER

BETWEEN: Final = bytes([BORDER])
MOST: Final = 16
"""Patterns whose literal stands in a text so many times are looked for in all of it: that costs less."""

Regions = list[tuple[int, int]]
"""Parts of a text, in order and apart from each other."""


class LiteralSieve:
    """Says which patterns may match in which parts of a text: round the literals that each of them needs. A pattern
    that needs none may match anywhere, and costs a pass of its own."""

    def __init__(self, patterns: Sequence[Pattern]) -> None:
        self._patterns = patterns
        needs: dict[bytes, list[int]] = {}
        self._always: list[int] = []
        for number, pattern in enumerate(patterns):
            if pattern.head is None:
                self._always.append(number)
            for literal in pattern.head.literals if pattern.head is not None else ():
                needs.setdefault(literal, []).append(number)
        ordered = sorted(needs, key=lambda literal: (-len(literal), literal))
        self._needed_by = {literal: _with_beginnings(literal, needs) for literal in ordered}
        self._any: Any = compiled("|".join([_spelled(literal) for literal in ordered])) if ordered else None

    def regions(self, flat: bytes) -> dict[int, Regions]:
        """Where patterns may match, by their numbers."""
        size = len(flat)
        found: dict[int, Regions] = {
            number: [(0, size)] for number in self._always if size >= self._patterns[number].shortest
        }
        if self._any is None:
            return found
        lowered = flat.lower()
        search = self._any.search
        at = 0
        times: dict[bytes, int] = {}
        while (seen := search(lowered, at)) is not None:
            start, end = seen.span()
            at = start + 1
            literal = lowered[start:end]
            times[literal] = count = times.get(literal, 0) + 1
            if count < MOST:
                self._note(lowered, literal, start, found)
            elif count == MOST:
                self._note_all(size, literal, found)
        return found

    def _note(self, lowered: bytes, literal: bytes, start: int, found: dict[int, Regions]) -> None:
        """Note where patterns may match that need a literal."""
        for short, number in self._needed_by[literal]:
            pattern = self._patterns[number]
            first, last = self._near(lowered, start, start + len(short), pattern.reach)
            if last - first < pattern.shortest and not pattern.block:
                continue
            regions = found.setdefault(number, [])
            if regions and first <= regions[-1][1]:
                regions[-1] = (min(first, regions[-1][0]), max(last, regions[-1][1]))
            else:
                regions.append((first, last))

    def _note_all(self, size: int, literal: bytes, found: dict[int, Regions]) -> None:
        """Note that patterns may match anywhere that need a literal."""
        for _, number in self._needed_by[literal]:
            found[number] = [(0, size)]

    def needed(self, flat: bytes) -> set[int]:
        """The patterns of which a literal is in a text, by their numbers."""
        found: set[int] = set()
        if self._any is not None:
            lowered = flat.lower()
            at = 0
            while (seen := self._any.search(lowered, at)) is not None:
                at = seen.start() + 1
                found.update([number for _, number in self._needed_by[lowered[seen.start() : seen.end()]]])
        return found

    @staticmethod
    def _near(lowered: bytes, start: int, end: int, reach: int) -> tuple[int, int]:
        """The part of a text that matches with a literal at a place can reach; none goes over the end of a text."""
        first, last = max(0, end - reach), min(len(lowered), start + reach)
        border = lowered.find(BETWEEN, end, last)
        return max(first, lowered.rfind(BETWEEN, first, start) + 1), last if border < 0 else border


def _with_beginnings(literal: bytes, needs: dict[bytes, list[int]]) -> list[tuple[bytes, int]]:
    """Who needs a literal, or one that it begins with: where it stands, that stands, too."""
    short = [literal[:end] for end in range(1, len(literal) + 1)]
    return [(one, number) for one in short if one in needs for number in needs[one]]


def _spelled(literal: bytes) -> str:
    return "".join([f"\\x{byte:02x}" for byte in literal])
