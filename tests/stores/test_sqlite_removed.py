"""A process whose files were removed under it: it sees what others do, and loses nothing of
theirs."""

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest

from stanchion import Shield
from stanchion.kernel.state import Batch, StoreLost
from stanchion.stores.sqlite import SqliteStore, connection
from stanchion.stores.sqlite.files import files_of, hold, inode
from tests.stores.test_sqlite_processes import sound, start
from tests.stores.worker import TRIED, lines

BARE: Final = {"name": "bare"}
LOADED: Final = (
    "import sys\nfrom stanchion import Shield\nwith Shield.load({'name': 'bare'}, "
    "store=sys.argv[1]) as s:\n "
)
CHECKS: Final = LOADED + "s.run('eve').check('w', {})"
HALTS: Final = LOADED + "s.halt('drill', scope='tool:w')"
HOLDS: Final = sys.platform == "linux"


def elsewhere(does: str, path: Path) -> None:
    """Do something in another process, and wait for its end."""
    subprocess.run([sys.executable, "-c", does, str(path)], check=True)


def read(path: Path) -> None:
    """Open and close the file, which drops every lock that this process has on it."""
    path.read_bytes()


@pytest.mark.parametrize(
    "held", [pytest.param(True, marks=pytest.mark.skipif(not HOLDS, reason="no such lock")), False]
)
@pytest.mark.parametrize("many", [1, 2])
def test_a_halt_is_seen_after_the_file_was_read_in_this_process(
    many: int, held: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "state.db"
    if not held:
        monkeypatch.setattr(connection, "hold", lambda _: None)
    with Shield.load(BARE, store=path) as one, Shield.load(BARE, store=path) as two:
        shields = (one, two)[:many]
        runs = [shield.run("ann") for shield in shields]
        assert all(run.check("w", {}).proceeds for run in runs)
        log = inode(files_of(path)[1])
        read(path)
        elsewhere(CHECKS, path)
        assert (inode(files_of(path)[1]) == log) is held
        for run in runs:
            run.desk.plans.confirmed = -1
            assert run.check("w", {}).proceeds
        elsewhere(HALTS, path)
        for shield, run in zip(shields, runs, strict=True):
            run.desk.plans.confirmed = -1  # it is a second later
            assert run.check("w", {}).code == "kernel.halted"
            assert shield.standing().marks["tool:w"].state == "halt"
    assert sound(path)


@pytest.mark.parametrize("which", [("-wal", "-shm"), ("-wal",), ("-shm",)])
def test_what_was_lost_with_a_removed_log_is_missed(which: tuple[str, ...], tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    with Shield.load(BARE, store=path) as shield:
        run = shield.run("ann")
        shield.halt("drill", scope="tool:w")
        for end in which:
            os.unlink(f"{path}{end}")
        decision = run.check("other", {})
        assert decision.proceeds is ("-wal" not in which)
        assert run.check("w", {}).proceeds is False


def test_who_was_left_takes_nothing_of_others_along(tmp_path: Path) -> None:
    """The log that a killed process leaves is not removed by one that has another open."""
    path = tmp_path / "state.db"
    store = SqliteStore(path)
    store.carry(Batch("mine", "t", lines=lines(1 << 40)))
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    for name in files_of(path)[1:]:
        os.unlink(name)
    worker = start("tell", str(path))
    assert worker.stdout is not None
    told = [int(worker.stdout.readline()) for _ in range(20)][-1]
    worker.send_signal(signal.SIGKILL)
    rest = worker.stdout.read().split()
    worker.wait()
    worker.stdout.close()
    store.close()
    with closing(SqliteStore(path, reading=True)) as other:
        assert other.read(TRIED)[0] >= (int(rest[-1]) if rest else told) > 1
    assert sound(path)


@pytest.mark.skipif(
    not Path("/dev/fd").is_dir(), reason="the system does not say which files are open"
)
@pytest.mark.parametrize(
    ("folded", "says"),
    [(True, "this process still has the store open elsewhere"), (False, "state.db")],
)
def test_a_strangers_connection_to_removed_files_is_not_shared(
    folded: bool, says: str, tmp_path: Path
) -> None:
    path = tmp_path / "state.db"
    store = SqliteStore(path, busy_s=1)
    store.carry(Batch("one", "t", lines=lines(9)))
    stranger = sqlite3.connect(path)
    stranger.execute(
        "PRAGMA wal_checkpoint(TRUNCATE)" if folded else "SELECT count(*) FROM kept"
    ).fetchall()
    for name in files_of(path)[1:]:
        os.unlink(name)
    for _ in range(2):
        with pytest.raises(StoreLost, match=says):
            store.carry(Batch("two", "t", lines=lines(9)))
    stranger.close()
    assert store.carry(Batch("two", "t", lines=lines(9))).go
    store.close()


@pytest.mark.parametrize(
    "look", [lambda store: store.read(TRIED)[0], lambda store: len(list(store.look()))]
)
def test_who_only_looks_sees_the_files_that_are_there(
    look: Callable[[SqliteStore], int], tmp_path: Path
) -> None:
    path = tmp_path / "state.db"
    SqliteStore(path).close()
    with closing(SqliteStore(path, reading=True)) as reader:
        assert look(reader) == 0
        for name in files_of(path):
            Path(name).unlink(missing_ok=True)
        # Another process: one of this process would close what is left.
        start("count", str(path), "w", "3", "9").communicate()
        assert look(reader) > 0


@pytest.mark.skipif(not HOLDS, reason="no such lock")
def test_a_held_file_is_nobodys_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE t (x)")
        held = hold(path)
        assert held is not None
        db.execute("PRAGMA busy_timeout = 0")
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            db.execute("BEGIN EXCLUSIVE")
        held.close()
        db.execute("BEGIN EXCLUSIVE")
    assert hold(tmp_path / "none") is None
