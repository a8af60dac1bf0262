"""Measuring side by side: contenders take turns in short rounds, so that a noisy machine disturbs
all alike."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

import msgspec


class Cost(msgspec.Struct, frozen=True):
    """What one call costs: the median and the 99th percentile of all calls, in microseconds."""

    p50_us: float
    p99_us: float
    calls: int


def compare(
    contenders: Mapping[str, Callable[[], object]],
    rounds: int,
    calls: int,
    idle_s: float = 0.0,
    clock: Callable[[], int] = time.perf_counter_ns,
) -> dict[str, Cost]:
    """Time every contender, call by call, in rounds that interleave; `idle_s` passes before each
    call."""
    spent: dict[str, list[int]] = {name: [] for name in contenders}
    for call in contenders.values():
        for _ in range(min(calls, 200)):
            call()
    for _ in range(rounds):
        for name, call in contenders.items():
            took = spent[name]
            for _ in range(calls):
                if idle_s:
                    time.sleep(idle_s)
                begun = clock()
                call()
                took.append(clock() - begun)
    return {name: cost_of(took) for name, took in spent.items()}


def cost_of(took_ns: list[int]) -> Cost:
    """The median and 99th percentile of single timings."""
    ordered = sorted(took_ns)
    last = len(ordered) - 1
    return Cost(
        round(ordered[last // 2] / 1000, 2),
        round(ordered[min(last, int(last * 0.99))] / 1000, 2),
        len(ordered),
    )
