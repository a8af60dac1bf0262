"""What somebody looks for in the texts of an event."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any

from stanchion.readings.scan.pattern import Pattern
from stanchion.readings.scan.scanner import Hits, Scanner


class Seek:
    """Patterns that a guard looks for: it asks `reading.of(seek)` where they are, and may have them
    in its `gate`.

    The answer has the hits of each leaf, or is `None` where nothing is found. An event is scanned
    once for all guards that have the same.
    """

    def __init__(self, patterns: Iterable[Pattern]) -> None:
        self.patterns = tuple(patterns)
        self.shortest = min([pattern.shortest for pattern in self.patterns], default=1)

    @cached_property
    def scanner(self) -> Scanner:
        """What scans for these alone."""
        return Scanner(self.patterns)

    def __call__(self, reading: Any) -> Hits | None:
        """Where the patterns are in the texts of an event."""
        return self.scanner.scan_joined(reading.joined, reading.reader.limits.matches_a_kb)
