"""What several seek, found in one scan and told apart again."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any

from stanchion.readings.scan.hyper import Kept
from stanchion.readings.scan.pattern import Pattern
from stanchion.readings.scan.scanner import Hits, Scanner, place
from stanchion.readings.scan.seek import Seek


class Together:
    """One scan for all who seek. One alone has its own scanner already, and so has one with a
    pattern that may match
    anywhere: that costs a pass, and only where it is asked for."""

    def __init__(self, seeks: Iterable[Seek]) -> None:
        own = dict.fromkeys(seeks)
        shared = [seek for seek in own if all(pattern.windows for pattern in seek.patterns)]
        known: dict[tuple[Any, ...], int] = {}
        self._patterns: list[Pattern] = []
        self._numbers: dict[Seek, dict[int, list[int]]] = {}
        for seek in shared if len(shared) > 1 else ():
            numbers = self._numbers[seek] = {}
            for number, pattern in enumerate(seek.patterns):
                same = pattern.text, pattern.keywords, pattern.block
                if same not in known:
                    known[same] = len(self._patterns)
                    self._patterns.append(pattern)
                numbers.setdefault(known[same], []).append(number)
        self._kept: Kept | None = None

    def __contains__(self, seek: Seek) -> bool:
        return seek in self._numbers

    def use(self, kept: Kept) -> None:
        """Take compiled patterns from there, if they are not compiled yet."""
        self._kept = kept
        if self._numbers:
            self._scanner.prepare()

    @cached_property
    def _scanner(self) -> Scanner:
        return Scanner(self._patterns, "re2" if self._kept is None else "auto", self._kept)

    @cached_property
    def scan(self) -> Any:
        """The work that finds everything in a reading: the same object each time."""
        return lambda reading: self._scanner.scan_joined(
            reading.joined, reading.reader.limits.matches_a_kb
        )

    def of(self, seek: Seek, found: Hits | None) -> Hits | None:
        """What one of those who seek has in what was found, by its own numbers."""
        if found is None:
            return None
        numbers = self._numbers[seek]
        mine: Hits = [
            sorted(
                [hit._replace(pattern=one) for hit in here for one in numbers.get(hit.pattern, ())],
                key=place,
            )
            for here in found
        ]
        return mine if any(mine) else None
