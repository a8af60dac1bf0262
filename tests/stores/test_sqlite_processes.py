"""Many threads and several processes on one file: bounds hold, totals are exact, and a killed
process loses nothing."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path
from typing import Final

from stanchion.kernel.state import Batch
from stanchion.stores.sqlite import SqliteStore
from tests.stores.worker import BOUNDED, RECORD, TRIED, lines

ROOT: Final = Path(__file__).resolve().parents[2]
KILLS: Final = 500 if os.environ.get("STANCHION_SOAK") else 6


def start(*words: str) -> subprocess.Popen[str]:
    """Start a worker."""
    command = [sys.executable, "-m", "tests.stores.worker", *words]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def sound(path: Path) -> bool:
    """Whether SQLite finds nothing wrong with a file."""
    db = sqlite3.connect(path)
    found = db.execute("PRAGMA integrity_check").fetchall()
    db.close()
    return found == [("ok",)]


def test_threads_on_one_store_and_on_several(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    stores = [SqliteStore(path, busy_s=60) for _ in range(2)]
    fixed = lines(150)
    went: list[bool] = []

    def work(worker: int) -> None:
        for number in range(60):
            went.append(stores[worker % 2].carry(Batch(f"{worker}.{number}", "t", lines=fixed)).go)

    threads = [threading.Thread(target=work, args=(worker,)) for worker in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (went.count(True), stores[0].read(BOUNDED)[0], stores[1].read(TRIED)[0]) == (
        150,
        150,
        360,
    )
    for store in stores:
        store.close()


def test_processes_never_overshoot_a_bound(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    workers = [start("count", str(path), f"w{number}", "400", "700") for number in range(3)]
    went = [int(worker.communicate()[0]) for worker in workers]
    store = SqliteStore(path)
    assert sum(went) == store.read(BOUNDED)[0] == 700
    assert (store.read(TRIED)[0], store.read(RECORD)[0]) == (1_200, 1_200)
    store.close()
    assert sound(path)


def test_what_was_answered_survives_kill_9(tmp_path: Path) -> None:
    drawn = random.Random(4)
    for number in range(KILLS):
        path = tmp_path / f"state{number // 6}.db"
        worker = start("tell", str(path))
        assert worker.stdout is not None
        answered = 0
        for _ in range(drawn.randint(1, 400)):
            answered = int(worker.stdout.readline())
        worker.send_signal(signal.SIGKILL)
        rest = worker.stdout.read().split()
        worker.wait()
        worker.stdout.close()
        answered = int(rest[-1]) if rest else answered
        store = SqliteStore(path)
        tried = store.read(TRIED)[0]
        assert answered <= tried <= answered + 1
        assert store.read(BOUNDED)[0] == len(list(store.holds())) == tried
        assert store.read(RECORD)[1] == tried - 1
        assert store.carry(Batch(f"told.{tried - 1}")).go
        store.close()
        assert sound(path)


def test_a_fork_goes_on_in_both_processes(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    worker = start("fork", str(path))
    assert worker.communicate()[0].split() == ["0", "610", "610"]
    assert worker.returncode == 0
    assert sound(path)
