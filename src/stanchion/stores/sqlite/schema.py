"""The tables of a store's file, and how a file of an earlier version becomes one of this
version."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Final

import msgspec

from stanchion.kernel.cells import Cell
from stanchion.stores.protocol import StoreError
from stanchion.stores.sqlite.rows import owner_of, pack

APPLICATION_ID: Final = 0x5374616E
"""What marks a file as ours: `Stan` in ASCII."""

Migration = tuple[str, ...]

MIGRATIONS: Final[tuple[Migration, ...]] = (
    (
        """CREATE TABLE cell (
            id INTEGER PRIMARY KEY,
            key TEXT NOT NULL UNIQUE,
            number INTEGER NOT NULL,
            body BLOB,
            bucket INTEGER,
            live INTEGER NOT NULL,
            touched INTEGER NOT NULL,
            keep INTEGER NOT NULL,
            width INTEGER NOT NULL
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
        "PRAGMA application_id = 1400136046",
        "PRAGMA user_version = 1",
    ),
    (
        """CREATE TABLE kept (
            id INTEGER PRIMARY KEY,
            owner TEXT NOT NULL UNIQUE,
            until INTEGER NOT NULL,
            cells BLOB NOT NULL
        )""",
        "INSERT INTO kept (owner, until, cells) SELECT owner_of(key) AS owner, max(touched + keep),"
        " packed(key, number, body, bucket, live, touched, keep, width) FROM cell GROUP BY owner",
        "DROP TABLE cell",
        "PRAGMA user_version = 2",
    ),
)
"""Migrations in order. Each runs in one transaction and ends by counting the version up by one."""


class Packed:
    """Packs the rows that cells had each for itself into one, as SQLite's module asks for it."""

    def __init__(self) -> None:
        self._cells: list[tuple[str, Cell]] = []

    def step(self, key: str, number: int, body: bytes | None, *rest: int | None) -> None:
        """Take one more cell."""
        self._cells.append((key, [number, {} if body is None else msgspec.Raw(body), *rest]))

    def finalize(self) -> bytes:
        """What stands in the row of all."""
        return pack(self._cells)


def check(
    db: sqlite3.Connection, path: Path, migrations: tuple[Migration, ...] = MIGRATIONS
) -> int:
    """The version of a file, 0 for an empty one; `StoreError` where it is not ours, or newer than
    we know."""
    mark, version, tables = facts(db)
    if mark != APPLICATION_ID and (mark or version or tables):
        raise StoreError(f"`{path}` is a database that is not Stanchion's: use another file")
    if version > len(migrations):
        raise StoreError(
            f"`{path}` was written by a newer Stanchion (version {version} of the file, this one "
            f"knows {len(migrations)}): upgrade Stanchion, or use another file"
        )
    return version


def migrate(
    db: sqlite3.Connection, path: Path, migrations: tuple[Migration, ...] = MIGRATIONS
) -> None:
    """Bring a file up to date, step by step; whoever else opens it at the same time waits and finds
    it done."""
    db.create_function("owner_of", 1, owner_of)
    db.create_aggregate("packed", 8, Packed)  # type: ignore[arg-type]  # its stub knows one value
    while check(db, path, migrations) < len(migrations):
        db.execute("BEGIN EXCLUSIVE")
        try:
            version = check(db, path, migrations)
            for statement in migrations[version] if version < len(migrations) else ():
                db.execute(statement)
            if version < len(migrations) and _number(db, "PRAGMA user_version") != version + 1:
                raise RuntimeError(f"migration {version + 1} does not end with its version")
            db.execute("COMMIT")
        except BaseException:
            if db.in_transaction:
                db.execute("ROLLBACK")
            raise


def facts(db: sqlite3.Connection) -> tuple[int, int, int]:
    """Mark, version and number of tables, all of one moment: somebody else may be bringing the file
    up to date."""
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
