"""Files of other versions and of others are refused with what to do."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from stanchion.kernel.state import Batch, Line, key
from stanchion.stores.protocol import StoreError
from stanchion.stores.sqlite import SqliteStore
from stanchion.stores.sqlite.connections import STATE, is_made, make

A = key("t", "a")


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


@pytest.mark.parametrize(
    ("version", "says"),
    [
        (STATE.version + 1, "was written by a newer Stanchion .*upgrade Stanchion"),
        (STATE.version - 1, "was written by an earlier Stanchion .*move it away to start empty"),
    ],
)
def test_a_file_of_another_version_is_refused(path: Path, version: int, says: str) -> None:
    db = connect(path)
    db.execute(f"PRAGMA user_version = {version}")
    before = list(db.iterdump())
    for reading in (False, True):
        with pytest.raises(StoreError, match=f"`{path}` {says}"):
            SqliteStore(path, reading=reading)
    assert list(db.iterdump()) == before
    db.close()


def test_what_cannot_be_made_leaves_an_empty_file(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    broken = (*STATE.statements, "INSERT INTO nowhere VALUES (1)")
    db = connect(path)
    with pytest.raises(sqlite3.OperationalError, match="nowhere"):
        make(db, path, STATE._replace(statements=broken))
    db.close()
    store = SqliteStore(path)
    assert store.carry(Batch("one", lines=(Line(A),))).go
    store.close()


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

        def checked(*given: Any) -> bool:
            """What was found; whoever makes the file begins when it was found empty."""
            found = is_made(*given)
            looked.set()
            return found

        def make() -> None:
            assert looked.wait(60)
            SqliteStore(path).close()

        made = making.submit(make)
        monkeypatch.setattr("stanchion.stores.sqlite.connections.is_made", checked)
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


@pytest.mark.parametrize("size", [1_024, 4_096])
def test_a_new_file_has_small_pages_and_another_keeps_its_own(size: int, tmp_path: Path) -> None:
    """Every decision writes a few pages whole. A file made with others is gone on with."""
    path = tmp_path / "state.db"
    if size != 1_024:
        db = connect(path)
        db.execute(f"PRAGMA page_size = {size}")
        db.execute("PRAGMA journal_mode = WAL")
        make(db, path)
        db.close()
    for name in ("one", "two"):
        store = SqliteStore(path)
        assert store.carry(Batch(name, lines=(Line(A),))).go
        store.close()
    db = connect(path)
    assert db.execute("PRAGMA page_size").fetchone() == (size,)
    db.close()
    store = SqliteStore(path, reading=True)
    assert store.read(A) == (2, None)
    store.close()
