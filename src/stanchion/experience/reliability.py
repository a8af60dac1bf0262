"""Reliability: the share of calls that worked as it was reported, and an estimate for which old
calls count less."""

from __future__ import annotations

from math import sqrt
from typing import Final

import msgspec

from stanchion.experience.tally import WINDOW_DAYS, Tally

HALF_LIFE_DAYS: Final = 7.0
"""After how many days an outcome counts half."""
Z: Final = 1.96
"""How many standard deviations the interval has on either side: 95 of 100 such intervals hold the
true share."""


class Reliability(msgspec.Struct, frozen=True):
    """How reliable a tool is. `rate` is successes / (successes + failures) of all that was
    reported; `recent` is the same with a half-life of seven days, and `low` and `high` are its
    Wilson interval. All four are `None` where nothing was reported."""

    tool_name: str
    successes: int = 0
    failures: int = 0
    rate: float | None = None
    recent: float | None = None
    low: float | None = None
    high: float | None = None


def reliability_of(tool: str, tally: Tally, today: int) -> Reliability:
    """How reliable a tool is by its tally."""
    total = tally.successes + tally.failures
    rate = tally.successes / total if total else None
    good = bad = squares = 0.0
    for day, (successes, failures) in sorted(tally.days.items()):
        age = max(0, today - day)
        if age < WINDOW_DAYS:
            weight = 0.5 ** (age / HALF_LIFE_DAYS)
            good, bad = good + weight * successes, bad + weight * failures
            squares += weight * weight * (successes + failures)
    if good + bad <= 0:
        return Reliability(tool, tally.successes, tally.failures, rate)
    # Calls that count less say less: so many calls of full weight would say as much.
    share, calls = good / (good + bad), (good + bad) ** 2 / squares
    low, high = wilson(share, calls)
    return Reliability(tool, tally.successes, tally.failures, rate, share, low, high)


def wilson(share: float, calls: float) -> tuple[float, float]:
    """The Wilson interval of a share that was seen in so many calls."""
    spread = Z * Z / calls
    middle = (share + spread / 2) / (1 + spread)
    half = Z / (1 + spread) * sqrt(share * (1 - share) / calls + spread / (4 * calls))
    return max(0.0, middle - half), min(1.0, middle + half)
