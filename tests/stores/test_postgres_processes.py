"""Threads, stores and processes on one server: bounds hold, totals are exact, and a killed process
leaks nothing."""

import itertools
import os
import random
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Final

import pytest

from stanchion.kernel.state import Batch, Line, When
from tests.stores.postgres_worker import BOUNDED, PERMIT_MS, PERMITS, RECORD, SPENT, TRIED, lines
from tests.stores.servers import Place, place

__all__ = ["place"]

ROOT: Final = Path(__file__).resolve().parents[2]
SOAK: Final = bool(os.environ.get("STANCHION_SOAK"))
ROUNDS: Final = 200 if SOAK else 1
THREADS: Final = 64 if SOAK else 16
PROCESSES: Final = 8 if SOAK else 3
KILLS: Final = 200 if SOAK else 2


def start(place: Place, what: str, *words: str) -> subprocess.Popen[str]:
    """Start a worker."""
    command = [
        sys.executable,
        "-m",
        "tests.stores.postgres_worker",
        what,
        place.server.url,
        place.schema,
        *words,
    ]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def deadlocks(place: Place) -> int:
    """How many deadlocks the server found so far."""
    return (place.server.folder / "log").read_text(encoding="utf-8").count("deadlock detected")


@pytest.mark.parametrize("limit", range(150, 150 + ROUNDS))
def test_threads_on_several_stores_never_overshoot(limit: int, place: Place) -> None:
    stores = [place.open(timeout_s=60) for _ in range(3)]
    fixed = lines(limit)
    went: list[bool] = []

    def work(worker: int) -> None:
        for number in range(16):
            settles = ((f"{worker}.{number - 1}", (1, 0, 0, 0, 0)),)
            batch = Batch(f"{worker}.{number}", "t", settles=settles, lines=fixed)
            went.append(stores[worker % 3].carry(batch).go)

    threads = [threading.Thread(target=work, args=(worker,)) for worker in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    totals = [stores[0].read(name)[0] for name in (BOUNDED, SPENT, TRIED)]
    assert (went.count(True), totals) == (limit, [limit, limit, 16 * THREADS])


def test_threads_that_take_cells_in_any_order_never_deadlock(place: Place) -> None:
    """Holds cross each other: each batch settles what another thread took, on other cells than its
    own."""
    before = deadlocks(place)
    store = place.open(timeout_s=60, pool_size=6)
    names = [f"{{t}}{number}" for number in range(6)]
    failed: list[BaseException] = []

    def work(worker: int) -> None:
        drawn = random.Random(worker)
        try:
            for number in range(40):
                chosen = tuple(
                    Line(name, hold_ms=60_000, keep=drawn.random() < 0.5)
                    for name in drawn.sample(names, 3)
                )
                settles = tuple(
                    (f"{drawn.randrange(6)}.{max(0, number - drawn.randrange(3))}", None)
                    for _ in range(2)
                )
                store.carry(Batch(f"{worker}.{number}", "t", settles=settles, lines=chosen))
        except BaseException as error:
            failed.append(error)
            raise

    threads = [threading.Thread(target=work, args=(worker,)) for worker in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    held = [took for hold in store.holds() for took in hold.took]
    for name in names:
        assert store.read(name)[0] == sum(took.amount for took in held if took.key == name)
    assert deadlocks(place) == before


@pytest.mark.parametrize("limit", range(140, 140 + ROUNDS))
def test_processes_never_overshoot(limit: int, place: Place) -> None:
    workers = [start(place, "count", f"w{number}", "80", str(limit)) for number in range(PROCESSES)]
    went = [int(worker.communicate()[0]) for worker in workers]
    store = place.open()
    assert sum(went) == store.read(BOUNDED)[0] == store.read(SPENT)[0] == limit
    assert (store.read(TRIED)[0], store.read(RECORD)[0]) == (80 * PROCESSES, 80 * PROCESSES)


def test_kill_9_leaks_no_permit_and_loses_no_spend(place: Place) -> None:
    drawn = random.Random(5)
    store = place.open(timeout_s=60)
    done = 0
    for kill in range(KILLS):
        worker = start(place, "tell", f"told{kill}")
        assert worker.stdout is not None
        answered = 0
        for _ in range(drawn.randint(1, 60)):
            answered = int(worker.stdout.readline())
        worker.send_signal(signal.SIGKILL)
        rest = worker.stdout.read().split()
        worker.wait()
        worker.stdout.close()
        answered = int(rest[-1]) if rest else answered
        # The last batch may be under way: once it is answered under its id it is settled which it
        # was.
        store.carry(Batch(f"told{kill}.{answered}", "t"))
        tried = store.read(TRIED)[0] - done
        assert answered <= tried <= answered + 1
        done += tried
        assert store.read(BOUNDED)[0] == store.read(SPENT)[0] == done
        last_due = max(hold.due_ms for hold in store.holds())
        looks = (Line(PERMITS, when=When.LOOK), Line(SPENT, when=When.LOOK))
        numbers = itertools.count()
        while (
            reply := store.carry(Batch(f"look{kill}.{next(numbers)}", "t", lines=looks))
        ).now < last_due:
            assert 0 <= reply.values[0] <= done
        assert (reply.now < last_due + 10 * PERMIT_MS, reply.values) == (True, (0, done))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_a_fork_goes_on_in_both_processes(place: Place) -> None:
    worker = start(place, "fork")
    assert worker.communicate()[0].split() == ["0", "91", "91"]
    assert worker.returncode == 0
