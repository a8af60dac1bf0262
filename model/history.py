"""Everything that ever happened to a store, kept as it happened; every number is summed up anew
when asked for."""

from __future__ import annotations

from typing import Any, NamedTuple

from stanchion.kernel.state import BUCKETS, CLOCK, Line
from stanchion.kernel.units import Amounts


class Take(NamedTuple):
    """A line that was written: by which batch, when, how much."""

    batch: str
    at: int
    line: Line
    amount: int


class Close(NamedTuple):
    """A hold that was settled with these actual amounts; `None`: nothing happened."""

    actual: Amounts | None


class History:
    """A store as the list of what was done to it. It never forgets."""

    def __init__(self) -> None:
        self.now = 0
        self.takes: list[Take] = []
        self.puts: list[tuple[str, Any]] = []
        self.closes: dict[str, Close] = {}
        self.batches: set[str] = set()

    def at(self, now: int) -> None:
        """Let the store's time pass; it never runs backwards."""
        self.now = max(self.now, now)

    def total(self, key: str) -> int:
        """A counter's total; a register's is what its pushes make, one after the other."""
        pushes = [take.line for take in self.takes if take.line.key == key and take.line.bits]
        if pushes:
            last = [line.push for line in pushes[-pushes[-1].bits :]]
            return int("".join(["1", *map(str, last)]), 2)
        return sum(self._worth(take) for take in self.takes if take.line.key == key)

    def value(self, line: Line) -> int:
        """What a line's counter stands at: its total, or what its window still sees."""
        if not line.window_ms:
            return self.total(line.key)
        width = line.window_ms // BUCKETS
        oldest = self.now // width - BUCKETS + 1
        takes = [take for take in self.takes if take.line.key == line.key]
        return sum(self._worth(take) for take in takes if take.at // width >= oldest)

    def record(self, key: str) -> tuple[int, Any]:
        """A record's version and value."""
        values = [value for name, value in self.puts if name == key]
        return (len(values), values[-1]) if values else (0, None)

    def number(self, key: str) -> int:
        """What an expectation on that cell speaks of: the time, a record's version or a counter's
        total."""
        if key == CLOCK:
            return self.now
        version, _ = self.record(key)
        return version if version else self.total(key)

    def settle(self, hold: str, actual: Amounts | None) -> str:
        """Close a hold once, and say what became of it."""
        if hold not in self.batches:
            return "unknown"
        if hold in self.closes or not self._held(hold):
            return "again"
        said = "late" if self._lapsed(hold) else "settled"
        self.closes[hold] = Close(actual)
        return said

    def _held(self, batch: str) -> list[Take]:
        return [take for take in self.takes if take.batch == batch and take.line.hold_ms]

    def _lapsed(self, batch: str) -> bool:
        held = self._held(batch)
        return self.now >= held[0].at + max(take.line.hold_ms for take in held)

    def _worth(self, take: Take) -> int:
        """What a written line still counts for: what was taken, what it settled to, or nothing."""
        if not take.line.hold_ms:
            return take.amount
        close = self.closes.get(take.batch)
        if close is None:
            return 0 if not take.line.keep and self._lapsed(take.batch) else take.amount
        if not take.line.keep or close.actual is None:
            return 0
        return close.actual[take.line.unit]
