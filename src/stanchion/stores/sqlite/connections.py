"""Connecting to a store's file: made where there is none, and checked."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from stanchion.kernel.tuples import NamedTuple
from stanchion.stores.protocol import StoreError
from stanchion.stores.sqlite.troubles import NOT_ONE, code, explain, patiently

# The tables of a file of ours, and whether a file is one that has them.


class FileTables(NamedTuple):
    """What is in a file of one kind: its mark, the version, which is counted up when the tables
    change, and what makes them."""

    mark: int
    version: int
    statements: tuple[str, ...]


STATE: Final = FileTables(
    0x5374616E,
    2,
    (  # `Stan` in ASCII
        """CREATE TABLE kept (
        id INTEGER PRIMARY KEY,
        owner TEXT NOT NULL UNIQUE,
        until INTEGER NOT NULL,
        cells BLOB NOT NULL
    )""",
        """CREATE TABLE batch (
        seq INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        at INTEGER NOT NULL,
        reply BLOB NOT NULL,
        status INTEGER,
        due INTEGER,
        taken BLOB
    )""",
        "CREATE INDEX open_hold ON batch (status, due) WHERE status IS NOT NULL",
        "CREATE TABLE clock (ms INTEGER NOT NULL)",
        "INSERT INTO clock (ms) VALUES (0)",
    ),
)


def is_made(db: sqlite3.Connection, path: Path, tables: FileTables = STATE) -> bool:
    """Whether a file has the tables, or is empty; `StoreError` where it is not ours, or of another
    version."""
    mark, version, count = _facts(db)
    if mark != tables.mark and (mark or version or count):
        raise StoreError(f"`{path}` is a database that is not Stanchion's: use another file")
    if version not in (0, tables.version):
        other, advice = (
            ("a newer", "upgrade Stanchion, or use another file")
            if version > tables.version
            else ("an earlier", "move it away to start empty, or use another file")
        )
        raise StoreError(
            f"`{path}` was written by {other} Stanchion (version {version} of the file, this one "
            f"knows {tables.version}): {advice}"
        )
    return version != 0


def make(db: sqlite3.Connection, path: Path, tables: FileTables = STATE) -> None:
    """Make the tables in an empty file; whoever else opens it at the same time waits and finds them
    made."""
    if is_made(db, path, tables):
        return
    with wholly(db, "EXCLUSIVE"):
        if not is_made(db, path, tables):
            for statement in tables.statements:
                db.execute(statement)
            db.execute(f"PRAGMA application_id = {tables.mark}")
            db.execute(f"PRAGMA user_version = {tables.version}")


@contextmanager
def wholly(db: sqlite3.Connection, lock: str) -> Iterator[None]:
    """A transaction: what is done within is done wholly or not at all."""
    db.execute(f"BEGIN {lock}")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


def _facts(db: sqlite3.Connection) -> tuple[int, int, int]:
    """Mark, version and number of tables, all of one moment: somebody else may be making them."""
    alone = not db.in_transaction
    if alone:
        db.execute("BEGIN")
    try:
        tables = _number(db, "SELECT count(*) FROM sqlite_master")
        return _number(db, "PRAGMA application_id"), _number(db, "PRAGMA user_version"), tables
    finally:
        if alone and db.in_transaction:
            db.execute("ROLLBACK")


def _number(db: sqlite3.Connection, sql: str) -> int:
    number: int = db.execute(sql).fetchone()[0]
    return number


FOLDER_CLOSED: Final = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)
HEADER: Final = 100
"""The least number of bytes in a database that is not empty."""


class Unmade(StoreError):
    """A file that nothing is in: somebody may be about to make it."""


def connect(path: Path, busy_s: float) -> sqlite3.Connection:
    """A connection that can write; `StoreError` where there cannot be one."""
    try:
        _refuse(path)
        made(path)
        return _connected(path, "mode=rw", busy_s)
    except (sqlite3.Error, OSError) as error:
        raise StoreError(explain(error, path, busy_s)) from error


def connect_reading(path: Path, busy_s: float) -> sqlite3.Connection:
    """A connection that only reads, and makes no file; `StoreError` where there cannot be one,
    `Unmade` where there may be one in a moment."""
    try:
        _refuse(path)
        if not path.exists():
            raise StoreError(f"`{path}` does not exist: give the file of a store")
        try:
            return _connected(path, "mode=ro", busy_s)
        except sqlite3.OperationalError as error:
            # In a folder that cannot be written nobody writes either, unless there is a log.
            if code(error) not in FOLDER_CLOSED or path.with_name(path.name + "-wal").exists():
                raise
            return _connected(path, "mode=ro&immutable=1", busy_s)
    except (sqlite3.Error, OSError) as error:
        raise StoreError(explain(error, path, busy_s)) from error


def made(path: Path) -> None:
    """Make the file and its folder where they are missing, for this user alone.

    A file that is there is never opened here: closing it would let go of every lock this process
    has on it.
    """
    try:
        for folder in reversed(path.parents):
            if not folder.exists():
                folder.mkdir(mode=0o700, exist_ok=True)
        if not path.exists():
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        return
    except OSError as error:
        raise StoreError(
            f"`{path}` cannot be created ({error.strerror}): let this user write to its folder, or "
            f"use another place"
        ) from error


def _refuse(path: Path) -> None:
    if path.is_dir():
        raise StoreError(f"`{path}` is a folder: give a file in it")
    # SQLite takes a file of one byte for an empty one.
    if path.exists() and 0 < path.stat().st_size < HEADER:
        raise StoreError(NOT_ONE.format(path=path))


def _connected(path: Path, mode: str, busy_s: float) -> sqlite3.Connection:
    db = sqlite3.connect(
        f"{path.as_uri()}?{mode}",
        uri=True,
        timeout=0,
        isolation_level=None,
        check_same_thread=False,
    )
    try:
        prepare = _prepare if mode == "mode=rw" else _there
        patiently(lambda: prepare(db, path), busy_s)
    except BaseException:
        db.close()
        raise
    return db


def _prepare(db: sqlite3.Connection, path: Path) -> None:
    if not is_made(db, path):
        # A decision changes little in each of a few pages, and writes these whole.
        db.execute("PRAGMA page_size = 1024")
    if db.execute("PRAGMA journal_mode = WAL").fetchone()[0] != "wal":
        raise StoreError(
            f"`{path}` is on a disk that processes cannot share: use a file on a local disk"
        )
    db.execute("PRAGMA synchronous = NORMAL")
    db.execute("PRAGMA wal_autocheckpoint = 8000")
    make(db, path)
    # A file that can only be read is opened all the same: trying is the only way to know.
    db.execute("BEGIN IMMEDIATE")
    try:
        db.execute("UPDATE clock SET ms = ms")
    finally:
        if db.in_transaction:
            db.execute("ROLLBACK")


def _there(db: sqlite3.Connection, path: Path) -> None:
    if not is_made(db, path):
        raise Unmade(
            f"`{path}` is empty, because nothing was ever kept there: give the file of a store"
        )
