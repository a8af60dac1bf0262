"""Other programs at the same files, in processes of their own: SQLite's locks belong to a process
as a whole, so that whatever opens and closes the file in the one that runs a shield would drop
them."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path


def elsewhere(work: Callable[[], None]) -> None:
    """Have something done by another process, and wait for it."""
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException:  # noqa: BLE001 - told by its status
            os._exit(1)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0


def copied(database: Path, to: Path) -> None:
    """Copy a database as SQLite's own backup does."""

    def copy() -> None:
        with closing(sqlite3.connect(database)) as now, closing(sqlite3.connect(to)) as old:
            now.backup(old)

    elsewhere(copy)


def emptied_log(database: Path) -> None:
    """Bring everything from a database's log into its file."""

    def checkpoint() -> None:
        with closing(sqlite3.connect(database)) as db:
            busy, _, _ = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        assert not busy

    elsewhere(checkpoint)


class Locking:
    """Another program that writes to a database, until it is told to end."""

    def __init__(self, database: Path) -> None:
        ready, tell = os.pipe()
        waits, self._end = os.pipe()
        self._child = os.fork()
        if self._child == 0:
            os.close(self._end)
            try:
                other = sqlite3.connect(database, isolation_level=None)
                other.execute("BEGIN IMMEDIATE")
                os.write(tell, b"locked")
                os.read(waits, 1)
            finally:
                os._exit(0)
        os.close(tell)
        os.close(waits)
        assert os.read(ready, 6) == b"locked"
        os.close(ready)

    def end(self) -> None:
        """Let go."""
        os.close(self._end)
        os.waitpid(self._child, 0)
