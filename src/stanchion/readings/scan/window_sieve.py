"""The sieve that every installation has: windows of all patterns, looked for together by RE2."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import Any, Final

from stanchion.kernel.regex import regex
from stanchion.readings.scan.pattern import Pattern, compiled
from stanchion.readings.scan.pattern_parser import BORDER

BETWEEN: Final = bytes([BORDER])
MOST: Final = 16
"""A pattern whose windows stand in a text so many times is looked for in all of it: that costs
less."""

IDLE: Final = 128
"""After so many windows that told nothing new, those that can tell nothing more are looked for no
longer."""

ROUNDS: Final = 6
"""How many times that is done in one text: afterwards all patterns are looked for in all of it."""

WALKED: Final = 4_096
"""How many characters are looked at one by one before the automaton is worth being compiled: a
process that judges one command never needs it."""

MEMORY: Final = 64 << 20
"""How many bytes the automaton of all windows may take: with less it would be made anew again and
again."""

Regions = list[tuple[int, int]]
"""Parts of a text, in order and apart from each other."""
Needs = list[tuple[re.Pattern[bytes] | None, int]]
"""What has to follow a literal, and the number of the pattern that needs both."""


class WindowSieve:
    """Says which patterns may match in which parts of a text: round the windows that each of them
    needs. A pattern that has none may match anywhere, and costs a pass of its own."""

    def __init__(self, patterns: Sequence[Pattern]) -> None:
        self._patterns = patterns
        self._always = tuple(
            [number for number, pattern in enumerate(patterns) if not pattern.windows]
        )
        needs: dict[bytes, Needs] = {}
        for number, pattern in enumerate(patterns):
            for literal, follow in pattern.windows:
                needs.setdefault(literal, []).append(
                    (_following(follow) if follow else None, number)
                )
        self._needs = needs
        self._lengths: dict[int, tuple[int, ...]] = {}
        for literal in sorted(needs, key=len):
            known = self._lengths.get(literal[0], ())
            self._lengths[literal[0]] = known if len(literal) in known else (*known, len(literal))
        self._left = WALKED

    def compile(self) -> None:
        """Compile what looks for all windows together, so that no text has to wait for it."""
        if self._needs:
            _ = self._any

    @cached_property
    def _any(self) -> Any:
        expressions = sorted(
            {window.expression for pattern in self._patterns for window in pattern.windows}
        )
        return compiled("|".join(expressions), MEMORY)

    def regions(self, flat: bytes) -> dict[int, Regions]:
        """Where patterns may match, by their numbers."""
        found: dict[int, Regions] = {}
        size = len(flat)
        for number in self._always:
            if size >= self._patterns[number].shortest:
                found[number] = [(0, size)]
        if not self._needs:
            return found
        lowered = flat.lower()
        times: dict[int, int] = {}
        if size <= self._left and "_any" not in self.__dict__:
            self._walk(lowered, found, times)
            return found
        self._search(lowered, found, times)
        return found

    def _search(self, lowered: bytes, found: dict[int, Regions], times: dict[int, int]) -> None:
        """Go from window to window. A text of nothing but windows has one at every place, and to
        find each costs far more than to read a character: so what is looked for in the whole text
        anyway is left out soon."""
        search = self._any.search
        idle = rounds = 0
        seen = search(lowered)
        while seen is not None:
            if not self._note(lowered, start := seen.start(), found, times):
                idle += 1
                if idle == IDLE:
                    idle, rounds = 0, rounds + 1
                    left = self._left_over(len(lowered), rounds, found, times)
                    if not left:
                        return
                    search = _searching("|".join(left)).search
            seen = search(lowered, start + 1)

    def _left_over(
        self, size: int, rounds: int, found: dict[int, Regions], times: dict[int, int]
    ) -> list[str]:
        """The windows that can still tell something. Patterns without one are looked for in all of
        the text; the more rounds there were, the fewer windows of a pattern are enough for that."""
        enough = MOST >> rounds
        for number in range(len(self._patterns)) if rounds > ROUNDS else list(times):
            if rounds > ROUNDS or times[number] > enough:
                times[number] = MOST + 1
                found[number] = [(0, size)]
        left = [
            pattern for number, pattern in enumerate(self._patterns) if times.get(number, 0) <= MOST
        ]
        return sorted({window.expression for pattern in left for window in pattern.windows})

    def _walk(self, lowered: bytes, found: dict[int, Regions], times: dict[int, int]) -> None:
        """The same without what is compiled: every place is looked at where a literal may begin."""
        self._left -= len(lowered)
        for start, byte in enumerate(lowered):
            if byte in self._lengths:
                self._note(lowered, start, found, times)

    def _note(
        self, lowered: bytes, start: int, found: dict[int, Regions], times: dict[int, int]
    ) -> bool:
        """Note where patterns may match of which a window begins at a place; says whether that was
        anything new."""
        new = 0
        for length in self._lengths[lowered[start]]:
            end = start + length
            for follow, number in self._needs.get(lowered[start:end], ()):
                count = times.get(number, 0)
                if count > MOST or (follow is not None and follow.match(lowered, end) is None):
                    continue
                new = times[number] = count + 1
                if count == MOST:
                    found[number] = [(0, len(lowered))]
                else:
                    self._add(lowered, start, end, number, found)
        return new > 0

    def _add(
        self, lowered: bytes, start: int, end: int, number: int, found: dict[int, Regions]
    ) -> None:
        pattern = self._patterns[number]
        first, last = _near(lowered, start, end, pattern.reach)
        if last - first < pattern.shortest and not pattern.block:
            return
        regions = found.setdefault(number, [])
        if regions and first <= regions[-1][1]:
            regions[-1] = (min(first, regions[-1][0]), max(last, regions[-1][1]))
        else:
            regions.append((first, last))


@lru_cache(4)
def _searching(expression: str) -> Any:
    """What looks for the windows that are left: texts of one kind leave the same ones."""
    return compiled(expression, MEMORY)


@lru_cache(1_024)
def _following(follow: str) -> re.Pattern[bytes]:
    """What follows a literal; it is short, whatever the pattern, so that it cannot take long to
    look."""
    return regex(follow.encode("latin-1"))


def _near(lowered: bytes, start: int, end: int, reach: int) -> tuple[int, int]:
    """The part of a text that matches with a literal at a place can reach; none goes over the end
    of a text."""
    first, last = max(0, end - reach), min(len(lowered), start + reach)
    border = lowered.find(BETWEEN, end, last)
    return max(first, lowered.rfind(BETWEEN, first, start) + 1), last if border < 0 else border
