"""A process's link to the file: the connection, what is known through it, and the lock around both."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from stanchion.kernel.state import StoreLost
from stanchion.stores.protocol import StoreError
from stanchion.stores.sqlite import forking
from stanchion.stores.sqlite.cache import Cache
from stanchion.stores.sqlite.troubles import explain, is_busy, locked
from stanchion.stores.sqlite.waiting import patiently

Connect = Callable[[Path, float], sqlite3.Connection]


class Link:
    """Opens the file at once, and again after a trouble or a fork. Whoever uses it has the lock."""

    def __init__(self, path: Path, busy_s: float, connect: Connect) -> None:
        self.path: Final = path
        self.busy_s: Final = busy_s
        self.lock: Final = threading.Lock()
        self.cache: Cache | None = None
        self.cursor: sqlite3.Cursor | None = None
        self._connect: Final = connect
        self._db: sqlite3.Connection | None = None
        self._closed = False
        self._owner = 0
        self._inode = (0, 0)
        self._open()
        forking.watch(self)

    def acquire(self) -> None:
        """Take the lock; `StoreLost` where other threads wait for the file for too long already."""
        if not self.lock.acquire(blocking=False) and not self.lock.acquire(timeout=2 * self.busy_s):
            raise StoreLost(locked(self.path, self.busy_s))

    def ready(self) -> sqlite3.Cursor:
        """The cursor everything runs on; `StoreLost` where the file cannot be opened again."""
        if self.cursor is None:
            if self._closed:
                raise StoreLost(f"the store `{self.path}` was closed: open it again")
            try:
                self._open()
            except StoreError as error:
                raise StoreLost(str(error)) from error
        assert self.cursor is not None
        if self._owner != os.getpid():
            raise StoreLost(f"`{self.path}` was opened before this process was forked off: open it in the child")
        return self.cursor

    def begin(self, wait_s: float) -> bool:
        """Begin to write; `False` where others are writing for longer than that."""
        cursor = self.ready()
        try:
            patiently(lambda: cursor.execute("BEGIN IMMEDIATE"), wait_s)
        except sqlite3.OperationalError as error:
            if is_busy(error):
                return False
            raise
        return True

    def rows(self, sql: str, given: tuple[Any, ...]) -> list[Any]:
        """What the file says, at this moment."""
        self.acquire()
        try:
            cursor = self.ready()
            return patiently(lambda: cursor.execute(sql, given).fetchall(), self.busy_s)
        except sqlite3.Error as error:
            self.let_go()
            raise StoreLost(explain(error, self.path, self.busy_s)) from error
        finally:
            self.lock.release()

    def undo(self) -> None:
        """Leave the file as it was before the transaction, and forget what was known of it."""
        self.cache = None
        try:
            if self._db is not None and self._db.in_transaction:
                self._db.execute("ROLLBACK")
        except sqlite3.Error:
            self.let_go()

    def is_replaced(self) -> bool:
        """Whether the file that is open is no longer the one at its path."""
        return self._inode != _inode(self.path)

    def let_go(self) -> None:
        """Close the connection; the next use opens another one."""
        self.cache = self.cursor = None
        db, self._db = self._db, None
        if db is not None and self._owner == os.getpid():
            with contextlib.suppress(sqlite3.Error):
                db.close()

    def close(self) -> None:
        """Close for good."""
        with self.lock:
            self._closed = True
            self.let_go()

    def before_fork(self) -> bool:
        """Stand still, without a connection that a child could inherit; `False` where a batch does not end."""
        still = self.lock.acquire(timeout=2 * self.busy_s)
        if still:
            self.let_go()
        return still

    def after_fork(self) -> None:
        """Go on."""
        self.lock.release()

    def _open(self) -> None:
        self._db = self._connect(self.path, self.busy_s)
        self.cursor = self._db.cursor()
        self._owner = os.getpid()
        self._inode = _inode(self.path)

    def __del__(self) -> None:
        if hasattr(self, "_owner"):
            self.let_go()


def _inode(path: Path) -> tuple[int, int]:
    try:
        stat = os.stat(path)
    except OSError:
        return (0, 0)
    return (stat.st_dev, stat.st_ino)
