"""Figures: series of numbers as they are kept, written and added up."""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite
from operator import add
from typing import Final

import msgspec

from stanchion.kernel.shown import visible
from stanchion.telemetry.catalogue import BY_NAME, METRICS, Metric, overflow

MOST_SERIES: Final = 2_000
"""How many series one metric has; what comes after them is counted as `other`."""

_ORDER: Final = {metric.name: place for place, metric in enumerate(METRICS)}


class Series(msgspec.Struct, frozen=True, array_like=True):
    """One line of figures: a metric by its name, the values of its labels, and its numbers."""

    metric: str
    labels: tuple[str, ...]
    values: tuple[float, ...]


class Sum:
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
