"""Figures: how many of how many, by family and over all, with the interval in which the true share
lies, and what was missed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import sqrt
from typing import Final, Literal, NamedTuple, TypeVar

import msgspec

Z: Final = 1.959963984540054
"""How many standard deviations hold 95 % of a normal distribution."""

Aim = Literal["more", "less", "neither"]
"""Whether more hits are better, or fewer; neither where a figure is only shown."""

T = TypeVar("T")


class Interval(NamedTuple):
    """The share is in here with 95 % confidence."""

    low: float
    high: float


class Mean(NamedTuple):
    """The mean of the shares of so many families, each counted once, and its interval."""

    share: float
    interval: Interval
    families: int


class Family(msgspec.Struct, frozen=True):
    """The rows of a figure that have one origin: `hits` of `of`."""

    name: str
    hits: int
    of: int

    @property
    def share(self) -> float:
        """The measured share; 0 where nothing was measured."""
        return _share(self.hits, self.of)

    @property
    def interval(self) -> Interval:
        """The 95 % interval."""
        return wilson(self.hits, self.of)


class Figure(msgspec.Struct, frozen=True):
    """One measured share: `hits` of `of`. `target` says what it should be; `misses` are the rows
    that were otherwise, each with why, the row's id first; `families` are the same rows by where
    they come from."""

    name: str
    hits: int
    of: int
    target: str = ""
    misses: tuple[str, ...] = ()
    families: tuple[Family, ...] = ()
    aim: Aim = "neither"

    @property
    def share(self) -> float:
        """The measured share; 0 where nothing was measured."""
        return _share(self.hits, self.of)

    @property
    def interval(self) -> Interval:
        """The 95 % interval."""
        return wilson(self.hits, self.of)

    @property
    def mean(self) -> Mean | None:
        """The mean over families, so that a large one hides nothing; `None` where there are not two
        of them."""
        return mean_over(self.families) if len(self.families) > 1 else None


class Beside(msgspec.Struct, frozen=True):
    """A figure on rows, `None` where there are none of its name, and the same figure on what each
    seed draws."""

    name: str
    rows: Figure | None
    seeds: tuple[tuple[int, Figure], ...]

    @property
    def mean(self) -> float:
        """The mean of the shares over the seeds."""
        return sum([figure.share for _, figure in self.seeds]) / len(self.seeds)

    @property
    def apart(self) -> float | None:
        """How far the fresh rows are from the others; `None` where there are no others."""
        return self.mean - self.rows.share if self.rows is not None and self.rows.of else None


class Report(msgspec.Struct, frozen=True):
    """What one measurement says: its figures, notes on how they were made, and fresh rows beside
    the others. People see no misses where they are not `listed`."""

    title: str
    figures: tuple[Figure, ...]
    notes: tuple[str, ...] = ()
    beside: tuple[Beside, ...] = ()
    listed: bool = True


def counted(
    name: str,
    judged: Iterable[T],
    hit: Callable[[T], bool],
    family: Callable[[T], str],
    *,
    target: str = "",
    missed: Callable[[T], str] | None = None,
    alarm: bool = False,
) -> Figure:
    """The share of those that are a `hit`, by family. `missed` words one for the list of misses:
    what is no hit, or what is one where a hit is an `alarm`."""
    hits: dict[str, int] = {}
    of: dict[str, int] = {}
    listed: list[str] = []
    for one in judged:
        at, is_hit = family(one), hit(one)
        hits[at] = hits.get(at, 0) + is_hit
        of[at] = of.get(at, 0) + 1
        if missed is not None and is_hit is alarm:
            listed.append(missed(one))
    families = tuple([Family(at, hits[at], of[at]) for at in sorted(of)])
    aim: Aim = "less" if alarm else "more"
    return Figure(name, sum(hits.values()), sum(of.values()), target, tuple(listed), families, aim)


def wilson(hits: int, of: int) -> Interval:
    """The 95 % interval after Wilson, which is true for few rows and for shares of 0 and 1, too."""
    if not of:
        return Interval(0.0, 1.0)
    share = hits / of
    weight = Z * Z / of
    middle = share + weight / 2
    reach = Z * sqrt((share * (1 - share) + weight / 4) / of)
    low = 0.0 if not hits else max(0.0, (middle - reach) / (1 + weight))
    high = 1.0 if hits == of else min(1.0, (middle + reach) / (1 + weight))
    return Interval(low, high)


def mean_over(families: Iterable[Family]) -> Mean:
    """The mean of the families' shares. Its interval joins what is uncertain in each of them,
    reckoned with four more rows (Agresti and Coull), so that ten families of one row each are not
    taken for certain."""
    some = [one for one in families if one.of]
    if not some:
        return Mean(0.0, Interval(0.0, 1.0), 0)
    share = sum([one.share for one in some]) / len(some)
    spread = sqrt(sum([_variance(one) for one in some])) / len(some)
    return Mean(
        share, Interval(max(0.0, share - Z * spread), min(1.0, share + Z * spread)), len(some)
    )


def _variance(one: Family) -> float:
    of = one.of + Z * Z
    share = (one.hits + Z * Z / 2) / of
    return share * (1 - share) / of


def _share(hits: int, of: int) -> float:
    return hits / of if of else 0.0
