"""Figures: how many of how many, with the interval in which the true share lies, and what was missed."""

from __future__ import annotations

from math import sqrt
from typing import Final, NamedTuple

import msgspec

Z: Final = 1.959963984540054
"""How many standard deviations hold 95 % of a normal distribution."""


class Interval(NamedTuple):
    """The share is in here with 95 % confidence."""

    low: float
    high: float


class Figure(msgspec.Struct, frozen=True):
    """One measured share: `hits` of `of`. `target` says what it should be; `misses` are the rows that were otherwise,
    each with why."""

    name: str
    hits: int
    of: int
    target: str = ""
    misses: tuple[str, ...] = ()

    @property
    def share(self) -> float:
        """The measured share; 0 where nothing was measured."""
        return self.hits / self.of if self.of else 0.0

    @property
    def interval(self) -> Interval:
        """The 95 % interval after Wilson, which is true for few rows and for shares of 0 and 1, too."""
        if not self.of:
            return Interval(0.0, 1.0)
        weight = Z * Z / self.of
        middle = self.share + weight / 2
        reach = Z * sqrt((self.share * (1 - self.share) + weight / 4) / self.of)
        low = 0.0 if not self.hits else max(0.0, (middle - reach) / (1 + weight))
        high = 1.0 if self.hits == self.of else min(1.0, (middle + reach) / (1 + weight))
        return Interval(low, high)


class Report(msgspec.Struct, frozen=True):
    """What one measurement says: its figures, and notes on how they were made."""

    title: str
    figures: tuple[Figure, ...]
    notes: tuple[str, ...] = ()
