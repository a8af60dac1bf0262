"""Experience in SQLite: a file of its own beside the state, so that a batch never keeps a decision
waiting."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

from stanchion.experience.incident import Incident, first_id
from stanchion.experience.shelf import NothingKept, ShelfError
from stanchion.experience.sql import SqlShelf
from stanchion.locks import Lock
from stanchion.stores.protocol import StoreError
from stanchion.stores.sqlite import forks
from stanchion.stores.sqlite.connections import FileTables, is_made, made, make, wholly
from stanchion.stores.sqlite.troubles import explain, patiently

# The file of experience in SQLite: its tables, and a connection for each process.

BUSY_S: Final = 5.0
CACHE_KB: Final = 16_000
"""How much of the file is kept in memory: practices are found by hash, here and there in a large
file."""

TABLES: Final = FileTables(
    0x53746145,
    1,
    (  # `StaE` in ASCII
        """CREATE TABLE incidents (
        id TEXT PRIMARY KEY,
        tenant TEXT NOT NULL,
        session_id TEXT NOT NULL,
        tool_name TEXT NOT NULL,
        fingerprint TEXT NOT NULL,
        success INTEGER NOT NULL,
        timestamp REAL NOT NULL,
        error_reason TEXT NOT NULL,
        context_hint TEXT NOT NULL,
        call_data TEXT NOT NULL
    ) WITHOUT ROWID""",
        "CREATE INDEX incidents_of_tool ON incidents (tenant, tool_name, id)",
        """CREATE TABLE best_practices (
        tenant TEXT NOT NULL,
        fingerprint TEXT NOT NULL,
        tool_name TEXT NOT NULL,
        success_count INTEGER NOT NULL,
        failure_count INTEGER NOT NULL,
        last_success_data TEXT,
        last_ms INTEGER NOT NULL,
        PRIMARY KEY (tenant, fingerprint)
    )""",
        """CREATE INDEX newest_practice
        ON best_practices (tenant, tool_name, last_ms DESC, fingerprint)
        WHERE last_success_data IS NOT NULL""",
        """CREATE INDEX used_practice
        ON best_practices (tenant, tool_name, success_count DESC, fingerprint)
        WHERE last_success_data IS NOT NULL AND success_count > 1""",
        """CREATE TABLE tool_days (
        tenant TEXT NOT NULL,
        tool_name TEXT NOT NULL,
        day INTEGER NOT NULL,
        successes INTEGER NOT NULL,
        failures INTEGER NOT NULL,
        PRIMARY KEY (tenant, tool_name, day)
    ) WITHOUT ROWID""",
    ),
)

T = TypeVar("T")


class File:
    """A connection that is made when it is first needed, and again after a fork or a trouble.
    `ShelfError` where there is none to be had. With `reading` no file is made."""

    def __init__(self, path: Path, reading: bool = False) -> None:
        self.path: Final = path
        self._reading: Final = reading
        self._lock: Final = Lock()
        self._db: sqlite3.Connection | None = None
        self._closed = False
        forks.watch(self)

    @contextmanager
    def _troubles(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise ShelfError(explain(error, self.path, BUSY_S)) from error
        except StoreError as error:
            raise ShelfError(str(error)) from error

    def read(self, ask: Callable[[sqlite3.Connection], T]) -> T:
        """What somebody finds in the file."""
        with self._troubles(), self._lock:
            return ask(self._connected())

    def write(self, change: Callable[[sqlite3.Connection], T]) -> T:
        """What comes of a change, which is made wholly or not at all."""
        with self._troubles(), self._lock:
            db = self._connected()
            with wholly(db, "IMMEDIATE"):
                answer = change(db)
            return answer

    def close(self) -> None:
        """Close the file for good."""
        self._closed = True
        with self._lock:
            self._let_go()

    def before_fork(self) -> None:
        """Close the connection: it must not be carried into a child."""
        with self._lock.within(BUSY_S) as held:
            if held:
                self._let_go()

    def after_fork(self) -> None:
        """Nothing: the next one who needs it opens it."""

    def _let_go(self) -> None:
        if self._db is not None:
            self._db.close()
            self._db = None

    def _connected(self) -> sqlite3.Connection:
        if self._closed:
            raise ShelfError(f"the experience in `{self.path}` was closed: open it again")
        if self._db is None:
            self._db = self._connect()
        elif self._db.in_transaction:  # whoever began it was cut off
            self._db.execute("ROLLBACK")
        return self._db

    def _connect(self) -> sqlite3.Connection:
        if self._reading and not self.path.exists():
            raise NothingKept(f"`{self.path}` does not exist: no experience is kept there")
        if not self._reading:
            made(self.path)
        mode = "ro" if self._reading else "rw"
        uri = f"{self.path.as_uri()}?mode={mode}"
        db = sqlite3.connect(
            uri, uri=True, timeout=BUSY_S, isolation_level=None, check_same_thread=False
        )
        try:
            # Several processes may make the file at once, and SQLite itself waits in some of the
            # steps only.
            patiently(lambda: self._prepare(db), BUSY_S)
        except BaseException:
            db.close()
            raise
        return db

    def _prepare(self, db: sqlite3.Connection) -> None:
        if not self._reading:
            db.execute("PRAGMA journal_mode = WAL").fetchone()
            db.execute("PRAGMA synchronous = NORMAL")
            db.execute("PRAGMA wal_autocheckpoint = 8000")
            db.execute(f"PRAGMA cache_size = -{CACHE_KB}")
            make(db, self.path, TABLES)
        elif not is_made(db, self.path, TABLES):
            raise NothingKept(f"`{self.path}` holds no experience yet")


BESIDE: Final = "-experience"
"""How the file of experience is named beside that of the state."""

WORDS: Final = {
    "own": "",
    "table": "incidents",
    "fields": "id, tenant, session_id, tool_name, fingerprint, success,"
    " CAST(round(timestamp * 1000) AS INTEGER), error_reason, context_hint, call_data",
    "tool": "tool_name",
    "oldest": "id",
    "newest": "id DESC",
    "before": "id < ?",
}
_INSERT: Final = "INSERT OR IGNORE INTO incidents VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_FORGET: Final = "DELETE FROM incidents WHERE id = ?"
_BEFORE: Final = (
    "DELETE FROM incidents WHERE id IN (SELECT id FROM incidents WHERE id < ? ORDER BY id LIMIT ?)"
)


def beside(path: Path) -> Path:
    """The file of experience beside that of a state."""
    return path.with_name(path.name + BESIDE)


class SqliteShelf(SqlShelf):
    """Experience in one file, shared by threads and processes of one host."""

    def __init__(self, path: Path, reading: bool = False) -> None:
        super().__init__(WORDS, first_id)
        self._file: Final = File(path, reading)

    @property
    def path(self) -> Path:
        """The file."""
        return self._file.path

    def _use(self, ask: Callable[[Any], T], writes: bool = False) -> T:
        return self._file.write(ask) if writes else self._file.read(ask)

    def _fresh(self, db: sqlite3.Connection, incidents: Sequence[Incident]) -> list[Incident]:
        return [one for one in incidents if db.execute(_INSERT, _row(one)).rowcount]

    def _insert(
        self, db: sqlite3.Connection, statement: str, kinds: str, rows: list[tuple[Any, ...]]
    ) -> None:
        fields = f"VALUES ({', '.join('?' for _ in kinds.split())})"
        db.executemany(self.said(statement.replace("{rows}", fields)), rows)

    def forget(self, incidents: Sequence[Incident]) -> int:
        """Remove incidents."""
        ids = [(one.id,) for one in incidents]
        return self._file.write(lambda db: db.executemany(_FORGET, ids).rowcount)

    def forget_before(self, before_ms: int, most: int) -> int:
        """Remove old incidents."""
        given = (first_id(before_ms), most)
        return self._file.write(lambda db: db.execute(_BEFORE, given).rowcount)

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _row(one: Incident) -> tuple[Any, ...]:
    whose = (one.id, one.tenant, one.session_id, one.tool_name, one.fingerprint)
    said = (one.error_reason, one.context_hint, one.call_data)
    return (*whose, int(one.success), one.at_ms / 1000, *said)
