"""Hot counters: threads that decide on one counter of the whole fleet, beside the same threads with
their own."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from statistics import median
from typing import Final

from stanchion.runtime.run import Run
from stanchion.runtime.shield import Shield
from stanchion.runtime.standing.places import MEMORY
from stanchion.stores.leasing import LeasingStore
from stanchion.stores.protocol import Store
from stanchion_lab.bench.chain import ARGS, FEW
from stanchion_lab.bench.servers import Missing
from stanchion_lab.bench.stores import OPENED
from stanchion_lab.bench.table import Effort, Row, Section

SERVERS: Final = ("PostgreSQL", "Redis")
THREADS: Final = 4

PRIVATE: Final = "a counter of its own for each"
LEASED: Final = "one for all, through leases"
DIRECT: Final = "one for all, counted in every batch"


def leases(effort: Effort) -> Section:
    """Decisions a second of several threads, each for a tenant of its own."""
    rows: list[Row] = []
    missing: list[str] = []
    for name in SERVERS:
        with ExitStack() as stack:
            try:
                store = stack.enter_context(OPENED[name]()).store
            except Missing as error:
                missing.append(f"{name} is left out, because {error}")
                continue
            rows += _measured(effort, name, store)
    if not rows:
        rows.append(Row("nothing was measured", amount=0, unit="decisions/s"))
    note = f"decisions a second of {THREADS} threads on a budget; each is one trip to the server"
    return Section("hot counters through leases", "\n  ".join([note, *missing]), rows)


def _measured(effort: Effort, name: str, store: Store) -> list[Row]:
    """The three ways to count, in rounds that take turns."""
    leasing = LeasingStore(store)
    contenders = {
        PRIVATE: _runs(store, "run"),
        LEASED: _runs(leasing, "fleet"),
        DIRECT: _runs(store, "fleet"),
    }
    took: dict[str, list[float]] = {one: [] for one in contenders}
    calls = max(20, effort.calls // 2)
    for turn in range(effort.rounds + 1):
        for one, runs in contenders.items():
            seconds = _raced([_deciding(run, calls) for run in runs])
            took[one] += [seconds] if turn else []
    leasing.give_back()
    rates = {one: THREADS * calls / median(seconds) for one, seconds in took.items()}
    return [
        Row(
            f"{name}: {one}",
            amount=rate,
            unit="decisions/s",
            ratio=None if one == PRIVATE else round(rate / rates[PRIVATE], 2),
        )
        for one, rate in rates.items()
    ]


def _runs(store: Store, per: str) -> list[Run]:
    policy = {
        "name": "hot",
        "guards": [{"use": "budget", "tokens": FEW * 1_000, "per": per, "counter": per}],
    }
    shield = Shield.load(policy, store=store, journal=MEMORY)
    return [shield.run("a1", "t1", tenant=f"tenant-{number}") for number in range(THREADS)]


def _deciding(run: Run, calls: int) -> Callable[[], None]:
    def work() -> None:
        for _ in range(calls):
            decision = run.check("write_file", ARGS, tokens=1_200)
            if not decision.proceeds:
                raise AssertionError(decision.message)

    return work


def _raced(works: list[Callable[[], None]]) -> float:
    """How long it takes until all are done that begin together."""
    begin = threading.Barrier(len(works) + 1)

    def wait(work: Callable[[], None]) -> None:
        begin.wait()
        work()

    threads = [threading.Thread(target=wait, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    begin.wait()
    begun = time.perf_counter()
    for thread in threads:
        thread.join()
    return time.perf_counter() - begun
