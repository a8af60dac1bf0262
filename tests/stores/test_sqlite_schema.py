"""Files of other versions and of others: brought up to date, or refused with what to do."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from stanchion.kernel.state import FOREVER, Batch, Line, key
from stanchion.stores.protocol import StoreError
from stanchion.stores.sqlite import SqliteStore
from stanchion.stores.sqlite.schema import MIGRATIONS, check, migrate
from stanchion.testing.clock import FakeClock

A = key("t", "a")
LATER = (
    *MIGRATIONS,
    (
        "ALTER TABLE kept ADD COLUMN note TEXT NOT NULL DEFAULT 'none'",
        f"PRAGMA user_version = {len(MIGRATIONS) + 1}",
    ),
    ("UPDATE kept SET note = 'seen ' || id", f"PRAGMA user_version = {len(MIGRATIONS) + 2}"),
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file of this version with two cells in it."""
    store = SqliteStore(tmp_path / "state.db")
    store.carry(Batch("one", lines=(Line(A), Line(A + "b"))))
    store.carry(Batch("two", lines=(Line(A, hold_ms=1_000),)))
    store.close()
    return tmp_path / "state.db"


def connect(path: Path) -> sqlite3.Connection:
    """A connection as a store makes it."""
    return sqlite3.connect(path, isolation_level=None, timeout=5)


def kept(db: sqlite3.Connection) -> list[tuple[int, str, bytes]]:
    """All rows with cells."""
    return db.execute("SELECT id, owner, cells FROM kept ORDER BY id").fetchall()


def test_a_later_migration_leaves_the_data(path: Path) -> None:
    db = connect(path)
    before = db.execute("SELECT * FROM batch").fetchall()
    before_cells = kept(db)
    assert {owner for _id, owner, _cells in before_cells} == {A, A + "b"}
    migrate(db, path, LATER)
    assert check(db, path, LATER) == len(LATER)
    assert db.execute("SELECT owner, note FROM kept ORDER BY id").fetchall() == [
        (owner, f"seen {number}") for number, owner, _cells in before_cells
    ]
    assert (db.execute("SELECT * FROM batch").fetchall(), kept(db)) == (before, before_cells)
    migrate(db, path, LATER)
    db.close()


def test_every_version_there_ever_was_becomes_this_one(tmp_path: Path) -> None:
    for version in range(len(MIGRATIONS) + 1):
        path = tmp_path / f"{version}.db"
        db = connect(path)
        migrate(db, path, MIGRATIONS[:version])
        db.close()
        store = SqliteStore(path)
        assert store.carry(Batch("one", lines=(Line(A),))).go
        store.close()


def test_the_cells_of_the_first_version_are_kept_by_their_owners(tmp_path: Path) -> None:
    path, clock = tmp_path / "state.db", FakeClock()
    run, loops, tool = (
        key("t", "steps", "limit", "run", "r1"),
        key("t", "loops", "run", "r1"),
        key("t", "health", "search"),
    )
    db = connect(path)
    migrate(db, path, MIGRATIONS[:1])
    at = clock()
    db.execute("UPDATE clock SET ms = ?", (at,))
    db.executemany(
        "INSERT INTO cell (key, number, body, bucket, live, touched, keep, width)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (run, 7, None, 0, 0, at, 90_000, 0),
            (loops, 3, b"\xa3a b", None, 0, at, 90_000, 0),
            (tool, 5, b"\x81\x07\x05", 7, 5, at, FOREVER, 1_000),
            (A, 9, None, 0, 0, at - 90_000, 90_000, 0),
        ],
    )
    db.close()
    store = SqliteStore(path, clock)
    assert [
        owner for (owner,) in store._link.rows("SELECT owner FROM kept ORDER BY owner", ())
    ] == [
        "@{t}run:r1",
        "@{t}tool:search",
        A,
    ]
    assert [(cell.key, cell.number, cell.value) for cell in store.look()] == [
        (tool, 5, None),
        (loops, 3, "a b"),
        (run, 7, None),
    ]
    reply = store.carry(
        Batch("one", expects=((loops, 3, 4),), lines=(Line(run), Line(tool), Line(A)))
    )
    assert (reply.stale, reply.values) == (False, (7, 5, 0))
    store.close()


def test_a_migration_that_fails_leaves_the_file_as_it_was(path: Path) -> None:
    db = connect(path)
    before, before_cells = list(db.iterdump()), kept(db)
    broken = (
        *LATER[:-1],
        ("DELETE FROM kept", "INSERT INTO nowhere VALUES (1)", "PRAGMA user_version = 4"),
    )
    with pytest.raises(sqlite3.OperationalError, match="nowhere"):
        migrate(db, path, broken)
    assert check(db, path, broken) == len(MIGRATIONS) + 1
    assert kept(db) == before_cells
    assert len(list(db.iterdump())) == len(before)
    db.close()


def test_a_migration_must_count_its_version(path: Path) -> None:
    db = connect(path)
    before = kept(db)
    with pytest.raises(RuntimeError, match="does not end with its version"):
        migrate(db, path, (*MIGRATIONS, ("UPDATE kept SET until = 0, cells = x'90'",)))
    assert kept(db) == before
    db.close()


def test_a_newer_file_is_refused(path: Path) -> None:
    db = connect(path)
    migrate(db, path, LATER)
    before = list(db.iterdump())
    for reading in (False, True):
        with pytest.raises(
            StoreError, match=f"`{path}` was written by a newer Stanchion .*upgrade Stanchion"
        ):
            SqliteStore(path, reading=reading)
    assert list(db.iterdump()) == before
    db.close()


def test_an_earlier_file_is_not_changed_by_reading(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = path.read_bytes()
    monkeypatch.setattr("stanchion.stores.sqlite.connections.MIGRATIONS", LATER)
    with pytest.raises(
        StoreError, match=f"`{path}` was written by an earlier Stanchion .*open it for writing once"
    ):
        SqliteStore(path, reading=True)
    assert path.read_bytes() == before


def test_an_empty_file_is_not_changed_by_reading(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    path.touch()
    with pytest.raises(StoreError, match=f"`{path}` is empty, because nothing was ever kept there"):
        SqliteStore(path, busy_s=0, reading=True)
    assert path.read_bytes() == b""


def test_who_reads_waits_for_one_who_makes_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, looked = tmp_path / "state.db", Event()
    path.touch()
    with ThreadPoolExecutor(1) as making:

        def checked(*given: Any) -> int:
            """What was found; whoever makes the file begins when it was found empty."""
            found = check(*given)
            looked.set()
            return found

        def make() -> None:
            assert looked.wait(60)
            SqliteStore(path).close()

        made = making.submit(make)
        monkeypatch.setattr("stanchion.stores.sqlite.connections.check", checked)
        SqliteStore(path, busy_s=60, reading=True).close()
        made.result()


def test_a_database_of_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    db = connect(path)
    db.execute("CREATE TABLE users (name TEXT)")
    before = path.read_bytes()
    for reading in (False, True):
        with pytest.raises(
            StoreError, match=f"`{path}` is a database that is not Stanchion's: use another file"
        ):
            SqliteStore(path, reading=reading)
    db.close()
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["other.db"]


def test_many_open_a_new_file_at_once(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    with ThreadPoolExecutor(8) as threads:
        stores = list(threads.map(lambda _: SqliteStore(path), range(8)))
        replies = list(
            threads.map(
                lambda each: each[1].carry(Batch(str(each[0]), lines=(Line(A),))), enumerate(stores)
            )
        )
    assert sorted(reply.values[0] for reply in replies) == list(range(8))
    for store in stores:
        store.close()
