"""A process's link to the file: the connection, what is known through it, and the lock around
both."""

from __future__ import annotations

import contextlib
import io
import math
import os
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import msgspec

from stanchion.kernel.state import StoreLost
from stanchion.locks import Lock
from stanchion.stores.protocol import StoreError
from stanchion.stores.sqlite import forks as forking, open_links
from stanchion.stores.sqlite.cache import Cache
from stanchion.stores.sqlite.connections import Unmade, connect, connect_reading
from stanchion.stores.sqlite.files import StoreFileNames, are_open, hold, leave_log, size_of
from stanchion.stores.sqlite.troubles import explain, is_busy, locked, patiently

TROUBLES: Final = (sqlite3.Error, msgspec.MsgspecError)
BEGIN: Final = "BEGIN IMMEDIATE"
STEP_S: Final = 0.002
"""At what distance it is looked whether somebody has made the file."""

REMOVED: Final = (
    "files of `{path}` were removed while this process still has the store open elsewhere: close "
    "that store, or end this process"
)


class SqliteLink:
    """Opens the file at once, and again after a trouble or a fork, and where files of it were
    removed or replaced. Whoever uses it has the lock. A transaction that one who was cut off left
    open is undone before the next one gets in."""

    def __init__(self, path: Path, busy_s: float, reading: bool) -> None:
        self.path: Final = path
        self.busy_s: Final = busy_s
        # Nobody waits for it longer than other threads may wait for the file.
        self.lock: Final = Lock(self.undo, 2 * busy_s, lambda: StoreLost(locked(path, busy_s)))
        self.cache: Cache | None = None
        self.cursor: sqlite3.Cursor | None = None
        self._db: sqlite3.Connection | None = None
        self._closed = False
        self._owner = 0
        self._reading: Final = reading
        self._names: Final = StoreFileNames(path)
        self._held: io.FileIO | None = None
        self._size = 0
        self._open()
        forking.watch(self)
        open_links.watch(self)

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
            raise StoreLost(
                f"`{self.path}` was opened before this process was forked: open it in the child"
            )
        return self.cursor

    def begin(self, wait_s: float, opened_again: bool = False) -> sqlite3.Cursor | None:
        """Begin to write, on the files that are at their paths; `None` where others are writing for
        longer than that. What was known is forgotten where the files are others."""
        cursor = self.cursor if self.cursor and self._owner == os.getpid() else self.ready()
        try:
            cursor.execute(BEGIN)  # most often nobody else is at it
        except sqlite3.OperationalError:
            try:
                patiently(lambda: cursor.execute(BEGIN), wait_s)
            except sqlite3.OperationalError as error:
                if is_busy(error):
                    return None
                raise
        if opened_again or not (self._names.lead_astray() or size_of(self._held) < self._size):
            return cursor
        self.let_go()
        return self.begin(wait_s, opened_again=True)

    def rows(
        self, sql: str, given: tuple[Any, ...], read: Callable[..., Any] = lambda *row: row
    ) -> list[Any]:
        """What the file says at this moment, as somebody reads each row of it."""
        with self.lock:
            try:
                if self.is_left:
                    self.let_go()
                cursor = self.ready()
                found = patiently(lambda: cursor.execute(sql, given).fetchall(), self.busy_s)
                return [read(*row) for row in found]
            except TROUBLES as error:
                self.let_go()
                raise StoreLost(explain(error, self.path, self.busy_s)) from error

    def undo(self) -> None:
        """Leave the file as it was before the transaction, and forget what was known of it."""
        self.cache = None
        try:
            if self._db is not None and self._db.in_transaction:
                self._db.execute("ROLLBACK")
        except sqlite3.Error:
            self.let_go()

    @property
    def is_left(self) -> bool:
        """Whether a file that is open is no longer the one at its path: then what others write is
        not seen, and what is written here is lost."""
        return self._db is not None and self._names.lead_astray()

    def let_go(self) -> None:
        """Close the connection; the next use opens another one."""
        left = self.is_left
        self.cache = self.cursor = None
        db, self._db = self._db, None
        held, self._held = self._held, None
        if self._owner != os.getpid():
            return
        # The last one to close a file folds its log in and removes it. Where the log is not the one
        # at its path, both would be somebody else's; and while the file is held, nobody is the
        # last.
        if held is not None and not left:
            held.close()
        if db is not None:
            with contextlib.suppress(sqlite3.Error):
                if left:
                    leave_log(db)
                db.close()
        if held is not None and left:
            held.close()

    def close(self) -> None:
        """Close for good."""
        with self.lock.within(math.inf):
            self._closed = True
            self.let_go()

    def before_fork(self) -> None:
        """Stand still, without a connection that a child could inherit, unless a batch does not
        end."""
        if self.lock.take(2 * self.busy_s):
            self.let_go()

    def after_fork(self) -> None:
        """Go on."""
        self.lock.give_back()

    def _open(self) -> None:
        """Open the file. Whoever only reads waits for one who is making it, without keeping anybody
        from that."""
        deadline = time.monotonic() + self.busy_s
        while True:
            try:
                return self._open_now()
            except Unmade:
                if time.monotonic() >= deadline:
                    raise
            time.sleep(STEP_S)

    def _open_now(self) -> None:
        with open_links.alone(self.busy_s) as held:
            if not held:
                raise StoreError(locked(self.path, self.busy_s))
            open_links.clear(self, self.busy_s)
            opened = connect_reading if self._reading else connect
            self._db = opened(self.path, self.busy_s)
            self._owner = os.getpid()
            self._held = hold(self.path)
            self._names.look()
            self._size = size_of(self._held)
            if not self._reading and not are_open(self._names.inodes):
                self._names.inodes = ()
                self.let_go()
                raise StoreError(REMOVED.format(path=self.path))
            self.cursor = self._db.cursor()

    def __del__(self) -> None:
        if hasattr(self, "_owner"):
            self.let_go()
