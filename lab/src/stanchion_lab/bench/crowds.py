"""Crowds: thousands of tasks that call a tool at once on each store, beside sixty-four of them."""

from __future__ import annotations

import asyncio
import time
from contextlib import ExitStack
from statistics import fmean
from typing import Final, NamedTuple

from stanchion.runtime.errors import Refused
from stanchion.runtime.shield import Shield
from stanchion.runtime.standing.places import MEMORY
from stanchion.stores.protocol import Store
from stanchion_lab.bench.servers import Missing
from stanchion_lab.bench.stores import OPENED
from stanchion_lab.bench.table import Effort, Row, Section

FEW: Final = 64
MANY: Final = 10_000
CALLS: Final = 2
"""How many calls each of the many makes."""
POLICY: Final = {
    "name": "crowd",
    "guards": [
        {"use": "budget", "calls": 1_000_000_000},
        {"use": "step_limit", "max_steps": 1_000_000_000},
    ],
}


class Went(NamedTuple):
    """What came of a crowd: how many calls went ahead and were refused, in which time, with how
    much of the core, and the longest wait."""

    served: int
    refused: int
    seconds: float
    cpu_s: float
    longest_s: float

    @property
    def rate(self) -> float:
        """Calls that went ahead in a second."""
        return self.served / self.seconds

    @property
    def core_rate(self) -> float:
        """Calls that went ahead in a second of this process's own processor time."""
        return self.served / self.cpu_s


def crowds(effort: Effort) -> Section:
    """Calls a second of many tasks, beside few."""
    many = MANY if effort.rounds > 4 else MANY // 10
    rows: list[Row] = []
    missing: list[str] = []
    for name, opened in OPENED.items():
        with ExitStack() as stack:
            try:
                store = stack.enter_context(opened()).store
            except Missing as error:
                missing.append(f"{name} is left out, because {error}")
                continue
            rows += _measured(name, store, many)
    note = (
        "every task calls an async tool; `refused` is told that it is crowded; the ratio is to "
        "64 tasks"
    )
    return Section("thousands of tasks at once", "\n  ".join([note, *missing]), rows)


def _measured(name: str, store: Store, many: int) -> list[Row]:
    """The few before the many and after them, with as many calls together: what else the machine
    does meets both."""
    asyncio.run(_crowd(store, FEW, 2))
    calls = -(-CALLS * many // FEW // 2)
    few = [asyncio.run(_crowd(store, FEW, calls))]
    crowd = asyncio.run(_crowd(store, many, CALLS))
    few.append(asyncio.run(_crowd(store, FEW, calls)))
    base, core = fmean([one.rate for one in few]), fmean([one.core_rate for one in few])
    own, share = crowd.core_rate, round(crowd.core_rate / core, 2)
    return [
        Row(f"{name}: {FEW} tasks", amount=base, unit="calls/s"),
        Row(
            f"{name}: {many:,} tasks",
            amount=crowd.rate,
            unit="calls/s",
            ratio=round(crowd.rate / base, 2),
        ),
        Row(f"{name}: {FEW} tasks, of its own core", amount=core, unit="calls/s"),
        Row(f"{name}: {many:,} tasks, of its own core", amount=own, unit="calls/s", ratio=share),
        Row(
            f"{name}: {many:,} tasks, refused",
            amount=crowd.refused,
            unit=f"of {crowd.served + crowd.refused:,}",
        ),
        Row(f"{name}: {many:,} tasks, the longest took", amount=1000 * crowd.longest_s, unit="ms"),
    ]


async def _crowd(store: Store, tasks: int, calls: int) -> Went:
    run = Shield.load(POLICY, store=store, journal=MEMORY).run("a1", "t1")
    took: list[float] = []
    refused: list[Refused] = []

    async def tool(path: str) -> str:
        return path

    async def one(name: str) -> None:
        for _ in range(calls):
            begun = time.perf_counter()
            try:
                await run.acall(tool, path=name)
            except Refused as error:
                if error.decision.code != "kernel.crowded":
                    raise AssertionError(error.decision.message) from error
                refused.append(error)
            took.append(time.perf_counter() - begun)

    begun, cpu = time.perf_counter(), time.process_time()
    await asyncio.gather(*[one(f"src/{number}.py") for number in range(tasks)])
    spent = time.perf_counter() - begun, time.process_time() - cpu
    return Went(len(took) - len(refused), len(refused), *spent, max(took))
