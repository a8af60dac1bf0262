"""Tallies: how often a tool worked and failed, in all and day by day. They are added to, never
counted anew."""

from __future__ import annotations

from collections.abc import Iterable
from math import sqrt
from typing import Final

import msgspec

from stanchion.experience.incident import Incident, Practice

WINDOW_DAYS: Final = 70
"""How many days back single days count: ten half-lives."""
CANDIDATES: Final = 8
"""How many practices are looked at in each order: the newest, and the most used."""

Counted = tuple[int, int]
"""Successes and failures."""
NONE: Final[Counted] = (0, 0)


class Tally(msgspec.Struct, frozen=True):
    """How often a tool worked and failed in all, and on each of the last days."""

    successes: int = 0
    failures: int = 0
    days: dict[int, Counted] = {}

    def plus(self, successes: int, failures: int, day: int) -> Tally:
        """The same with more of one day."""
        days = {each: counted for each, counted in self.days.items() if each > day - WINDOW_DAYS}
        before = days.get(day, NONE)
        days[day] = (before[0] + successes, before[1] + failures)
        return Tally(self.successes + successes, self.failures + failures, days)


class Known(msgspec.Struct, frozen=True):
    """What is known of a tool: its tally, and the newest and most used of the calls that worked."""

    tally: Tally = Tally()
    practices: tuple[Practice, ...] = ()

    def plus(self, one: Incident) -> Known:
        """The same with one incident more."""
        tally = self.tally.plus(int(one.success), int(not one.success), one.day)
        known = {practice.fingerprint: practice for practice in self.practices}
        before = known.get(one.fingerprint)
        data = one.good_data
        if before is None and data is None:
            return Known(tally, self.practices)
        known[one.fingerprint] = Practice(
            one.fingerprint,
            one.tool_name,
            (0 if before is None else before.success_count) + int(one.success),
            (0 if before is None else before.failure_count) + int(not one.success),
            before.last_success_data if data is None and before is not None else str(data),
            before.last_ms if data is None and before is not None else one.at_ms,
        )
        return Known(tally, chosen(known.values()))


def chosen(practices: Iterable[Practice]) -> tuple[Practice, ...]:
    """The newest and the most used of practices, each once, in one order."""
    every = list(practices)
    newest = sorted(every, key=lambda one: (-one.last_ms, one.fingerprint))[:CANDIDATES]
    often = [
        one for one in every if one.success_count > 1
    ]  # what worked once is found by its age alone
    used = sorted(often, key=lambda one: (-one.success_count, one.fingerprint))[:CANDIDATES]
    both = {one.fingerprint: one for one in (*newest, *used)}
    return tuple([both[name] for name in sorted(both)])


# Reliability: the share of calls that worked as it was reported, and an estimate for which old
# calls count less.

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
