"""The registry: what one process counts, in memory. Counting takes no lock: nobody waits, and no
signal harms it."""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterable
from itertools import count
from math import isfinite
from operator import add
from typing import Any, Final, Protocol

import msgspec

from stanchion.kernel.shown import visible
from stanchion.locks import Lock
from stanchion.locks.forks import tell_of_forks
from stanchion.telemetry.catalogue import BY_NAME, METRICS, Metric, overflow

# Figures: series of numbers as they are kept, written and added up.

MOST_SERIES: Final = 2_000
"""How many series one metric has; what comes after them is counted as `other`."""

_ORDER: Final = {metric.name: place for place, metric in enumerate(METRICS)}


class Series(msgspec.Struct, frozen=True, array_like=True):
    """One line of figures: a metric by its name, the values of its labels, and its numbers."""

    metric: str
    labels: tuple[str, ...]
    values: tuple[float, ...]


class FigureSum:
    """Adds figures up, and leaves out what is none. It keeps no more series of a metric than there
    may be, and labels as they can be shown."""

    def __init__(self, most: int = MOST_SERIES) -> None:
        self._most = most
        self._found: dict[str, dict[tuple[str, ...], tuple[float, ...]]] = {}
        self.left_out = 0
        """How many series were none."""

    def add(self, figures: Iterable[Series], gauges: bool = True) -> None:
        """Add more of them; without `gauges` only what counts up, because whoever had the rest has
        ended."""
        for one in figures:
            metric = BY_NAME.get(one.metric)
            if metric is None or not _fits(metric, one):
                self.left_out += 1
            elif gauges or metric.kind != "gauge" or metric.latest:
                self._add(metric, one)

    def _add(self, metric: Metric, one: Series) -> None:
        known = self._found.setdefault(metric.name, {})
        labels = tuple([visible(label) for label in one.labels])
        if labels not in known and len(known) >= self._most:
            labels = overflow(metric, labels)
        before = known.get(labels)
        join = max if metric.latest else add
        known[labels] = one.values if before is None else tuple(map(join, before, one.values))

    def figures(self) -> tuple[Series, ...]:
        """What it comes to, in the order of the catalogue."""
        names = sorted(self._found, key=_ORDER.__getitem__)
        return tuple(
            [
                Series(name, labels, self._found[name][labels])
                for name in names
                for labels in sorted(self._found[name])
            ]
        )


def _fits(metric: Metric, one: Series) -> bool:
    """Whether it is a series of that metric, as this version of it has it."""
    if len(one.labels) != len(metric.labels) or len(one.values) != metric.width:
        return False
    return all(isfinite(value) for value in one.values) and (
        metric.kind == "gauge" or min(one.values) >= 0
    )


MOST_FRESH: Final = 1_024
"""How many times are kept until they are added up."""

Labels = tuple[str, ...]
Gauges = Callable[[], Iterable[Series]]
"""Says how something stands now."""


class BesideRegistry(Protocol):
    """Counts in its own way what is shown with the rest."""

    def figures(self) -> Iterable[Series]:
        """What it has counted so far."""

    def forked(self) -> None:
        """In a forked process: begin anew."""


class Histogram:
    """Counts times by how long they are, and adds them up. `unit_ns` is how long one of the
    metric's unit is."""

    def __init__(self, metric: Metric, unit_ns: int = 1_000_000_000) -> None:
        self._unit_ns = unit_ns
        self._bounds = [int(bound * unit_ns) for bound in metric.bounds]
        self._buckets = [0] * (len(metric.bounds) + 1)
        self._fresh: deque[int] = deque()
        self._sum_ns = 0
        self._lock = Lock()

    def observe(self, took_ns: int) -> None:
        """Count one time."""
        fresh = self._fresh
        fresh.append(took_ns)
        if len(fresh) > MOST_FRESH:
            self._add_up()

    def _add_up(self) -> None:
        with self._lock:
            fresh = self._fresh
            for _ in range(len(fresh)):
                took_ns = fresh.popleft()
                self._sum_ns += took_ns
                self._buckets[bisect_left(self._bounds, took_ns)] += 1

    def totals(self) -> tuple[int, int]:
        """The sum in nanoseconds, and how many times were counted."""
        self._add_up()
        return self._sum_ns, sum(self._buckets)

    def values(self) -> tuple[float, ...]:
        """The sum in the metric's unit, and the count of each bucket."""
        self._add_up()
        return (self._sum_ns / self._unit_ns, *self._buckets)


class Registry:
    """Counters and histograms by metric and labels, and gauges that are asked when somebody wants
    to know."""

    def __init__(self) -> None:
        self.gauges: list[Gauges] = []
        """What is asked for how this process stands."""
        self.beside: list[BesideRegistry] = []
        """Who counts in its own way."""
        self.begun: Callable[[], object] | None = None
        """Told once, when the first thing is counted; in a forked process once more."""
        self.remembered: dict[Any, Any] = {}
        """What others remember of its counters; it is empty again in a forked process."""
        self._counters: dict[str, dict[Labels, count[int]]] = {}
        self._histograms: dict[str, dict[Labels, Histogram]] = {}
        tell_of_forks(self)

    def forked(self) -> None:
        """In a forked process: begin anew, what was counted before is its parent's."""
        self._counters, self._histograms = {}, {}
        self.remembered.clear()
        for one in self.beside:
            one.forked()

    def counter(self, metric: Metric, labels: Labels = ()) -> count[int]:
        """A counter; `next` of it counts once, in one step."""
        known: dict[Labels, count[int]] = self._of(self._counters, metric)
        found = known.get(labels)
        if found is None:
            found = known.setdefault(_room(metric, known, labels), count())
        return found

    def histogram(self, metric: Metric, labels: Labels = ()) -> Histogram:
        """A histogram."""
        known: dict[Labels, Histogram] = self._of(self._histograms, metric)
        found = known.get(labels)
        if found is None:
            found = known.setdefault(_room(metric, known, labels), Histogram(metric))
        return found

    def count(self, metric: Metric, *labels: str) -> None:
        """Count once."""
        next(self.counter(metric, labels))

    def _of(self, kept: dict[str, dict[Labels, Any]], metric: Metric) -> dict[Labels, Any]:
        known = kept.get(metric.name)
        if known is None:
            first = not self._counters and not self._histograms
            known = kept.setdefault(metric.name, {})
            if first and self.begun is not None:
                self.begun()
        return known

    def figures(self) -> list[Series]:
        """All that was counted so far, and how it stands."""
        found = [
            Series(name, labels, (number(one),))
            for name, series in list(self._counters.items())
            for labels, one in list(series.items())
        ]
        found += [
            Series(name, labels, one.values())
            for name, series in list(self._histograms.items())
            for labels, one in list(series.items())
        ]
        for beside in list(self.beside):
            found += beside.figures()
        for ask in list(self.gauges):
            found += ask()
        return found


def number(one: count[int]) -> int:
    """How often it has counted, without counting."""
    return int(repr(one)[6:-1])


def _room(metric: Metric, known: dict[Labels, Any], labels: Labels) -> Labels:
    if len(labels) != len(BY_NAME[metric.name].labels):
        raise ValueError(
            f"`{metric.name}` has the labels {', '.join(metric.labels)}: give a value for each"
        )
    return labels if len(known) < MOST_SERIES else overflow(metric, labels)
