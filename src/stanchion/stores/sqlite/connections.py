"""Connecting to a store's file: made where there is none, and checked."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import Final

from stanchion.stores.protocol import StoreError
from stanchion.stores.sqlite.schema import is_made, make
from stanchion.stores.sqlite.troubles import NOT_ONE, code, explain
from stanchion.stores.sqlite.wait import patiently

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
