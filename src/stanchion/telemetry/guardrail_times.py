"""How long guardrails took: of the first decisions of a process, and then of some of them.
Decisions leave their times behind, and they are added up when somebody asks."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict, deque
from collections.abc import Iterator
from itertools import count
from typing import Final

from stanchion.locks import Lock
from stanchion.telemetry.catalogue import GUARDRAIL_BOUNDS_MS, GUARDRAIL_MS
from stanchion.telemetry.figures import MOST_SERIES, Series
from stanchion.telemetry.registry import Labels

FIRST: Final = 64
ONE_IN: Final = 7
"""Of so many decisions the times are kept, and from then on of every seventh: to keep them all
would cost each decision as much as all that is counted of it otherwise. Calls and results
alternate, so the number is odd."""
MOST_FRESH: Final = 256
"""How many decisions are kept until their times are added up."""

Took = tuple[tuple[str, int], ...]
"""Guards with how long each took, in nanoseconds."""
_BOUNDS_NS: Final = [int(bound * 1e6) for bound in GUARDRAIL_BOUNDS_MS]


class GuardrailTimes:
    """Counts how long guardrails took, as a histogram of each."""

    def __init__(self) -> None:
        self._fresh: defaultdict[str, deque[int]] = defaultdict(deque)
        self._decisions, self._kept = count(1), count(1)
        self._lock = Lock()
        self._sums_ns: dict[str, int] = {}
        self._buckets: dict[str, list[int]] = {}

    def took(self, took: Took, wholes: dict[str, str] | None) -> None:
        """Keep the times of one decision. `wholes` says which guards are parts of which guardrail,
        where any are: they take their times together."""
        seen = next(self._decisions)
        if seen > FIRST and seen % ONE_IN:
            return
        fresh = self._fresh
        if wholes is None:
            for guard, ns in took:
                fresh[guard].append(ns)
        else:
            joint: dict[str, int] = {}
            for guard, ns in took:
                whole = wholes.get(guard)
                if whole is None:
                    fresh[guard].append(ns)
                else:
                    joint[whole] = joint.get(whole, 0) + ns
            for whole, ns in joint.items():
                fresh[whole].append(ns)
        if not next(self._kept) % MOST_FRESH:
            self._add_up()

    def totals(self) -> dict[str, tuple[int, int]]:
        """How long each guardrail took in all, in nanoseconds, and how often that was measured."""
        self._add_up()
        with self._lock:
            return {
                name: (spent, sum(self._buckets[name])) for name, spent in self._sums_ns.items()
            }

    def figures(self) -> Iterator[Series]:
        """The histograms."""
        self._add_up()
        with self._lock:
            found = [
                (name, spent, tuple(self._buckets[name])) for name, spent in self._sums_ns.items()
            ]
        for name, spent, buckets in found:
            labels: Labels = (name,)
            yield Series(GUARDRAIL_MS.name, labels, (spent / 1e6, *buckets))

    def _add_up(self) -> None:
        """Sort the times of each guardrail and look for the bounds among them: that costs less than
        to look for each time among the bounds."""
        with self._lock:
            for name, fresh in list(self._fresh.items()):
                times = [fresh.popleft() for _ in range(len(fresh))]
                if times:
                    times.sort()
                    self._add(name, times)

    def _add(self, name: str, times: list[int]) -> None:
        buckets = self._buckets.get(name)
        if buckets is None:
            if len(self._buckets) >= MOST_SERIES:
                return
            buckets = self._buckets[name] = [0] * (len(_BOUNDS_NS) + 1)
            self._sums_ns[name] = 0
        self._sums_ns[name] += sum(times)
        before = 0
        for place, bound in enumerate(_BOUNDS_NS):
            if before == len(times):
                return
            until = bisect_right(times, bound, before)
            buckets[place] += until - before
            before = until
        buckets[-1] += len(times) - before
