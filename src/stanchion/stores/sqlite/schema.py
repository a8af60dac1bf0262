"""The tables of a file of ours, and whether a file is one that has them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from stanchion.kernel.tuples import NamedTuple
from stanchion.stores.protocol import StoreError


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
