"""Experience in SQLite: a file of its own beside the state, so that a batch never keeps a decision
waiting."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

from stanchion.experience.incident import DAY_MS, Incident, Practice, first_id
from stanchion.experience.shelf import NothingKept, ShelfError, sums_of
from stanchion.experience.tally import CANDIDATES, WINDOW_DAYS, Known, Tally, chosen
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
TOTAL: Final = -1
"""The day under which everything is counted."""

INSERT: Final = "INSERT OR IGNORE INTO incidents VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
ADD_DAY: Final = """INSERT INTO tool_days VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (tenant, tool_name, day) DO UPDATE
    SET successes = successes + excluded.successes, failures = failures + excluded.failures"""
ADD_PRACTICE: Final = """INSERT INTO best_practices VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (tenant, fingerprint) DO UPDATE
    SET success_count = success_count + excluded.success_count, failure_count = failure_count + excluded.failure_count,
        last_success_data = coalesce(excluded.last_success_data, last_success_data),
        last_ms = iif(excluded.last_success_data IS NULL, last_ms, excluded.last_ms)"""  # noqa: E501
DAYS: Final = """SELECT day, successes, failures FROM tool_days
    WHERE tenant = ? AND tool_name = ? AND (day = -1 OR day > ?) ORDER BY day LIMIT ?"""
_PRACTICES: Final = """SELECT fingerprint, tool_name, success_count, failure_count, last_success_data, last_ms
    FROM best_practices WHERE tenant = ? AND tool_name = ? AND last_success_data IS NOT NULL {}
    DESC, fingerprint LIMIT ?"""  # noqa: E501
NEWEST: Final = _PRACTICES.format("ORDER BY last_ms")
MOST_USED: Final = _PRACTICES.format("AND success_count > 1 ORDER BY success_count")
OF_TENANT: Final = "SELECT * FROM incidents WHERE tenant = ? ORDER BY id DESC LIMIT ?"
OF_TOOL: Final = (
    "SELECT * FROM incidents WHERE tenant = ? AND tool_name = ? ORDER BY id DESC LIMIT ?"
)
OLDEST: Final = "SELECT * FROM incidents WHERE id < ? ORDER BY id LIMIT ?"
UNUSED: Final = """DELETE FROM best_practices
    WHERE rowid IN (SELECT rowid FROM best_practices WHERE last_ms < ? LIMIT ?)"""


def beside(path: Path) -> Path:
    """The file of experience beside that of a state."""
    return path.with_name(path.name + BESIDE)


class SqliteShelf:
    """Experience in one file, shared by threads and processes of one host."""

    def __init__(self, path: Path, reading: bool = False) -> None:
        self._file: Final = File(path, reading)

    @property
    def path(self) -> Path:
        """The file."""
        return self._file.path

    def write(self, incidents: Sequence[Incident]) -> None:
        """Keep a batch in one transaction."""
        self._file.write(lambda db: _write(db, incidents))

    def known(self, tenant: str, tool: str, today: int) -> Known:
        """What is known of a tool: three searches by key."""
        return self._file.read(lambda db: _known(db, tenant, tool, today))

    def tools(self, tenant: str) -> list[str]:
        """The tools of a tenant."""
        said = "SELECT tool_name FROM tool_days WHERE tenant = ? AND day = ? ORDER BY tool_name"
        return [row[0] for row in self._rows(said, tenant, TOTAL)]

    def newest(self, tenant: str, tool: str, most: int) -> list[Incident]:
        """The last incidents."""
        rows = (
            self._rows(OF_TOOL, tenant, tool, most) if tool else self._rows(OF_TENANT, tenant, most)
        )
        return [_incident(row) for row in rows]

    def count(self) -> int:
        """How many incidents are kept."""
        return int(self._rows("SELECT count(*) FROM incidents")[0][0])

    def oldest(self, before_ms: int, most: int) -> list[Incident]:
        """The oldest incidents."""
        return [_incident(row) for row in self._rows(OLDEST, first_id(before_ms), most)]

    def forget(self, incidents: Sequence[Incident]) -> int:
        """Remove incidents."""
        ids = [(one.id,) for one in incidents]
        return self._file.write(
            lambda db: db.executemany("DELETE FROM incidents WHERE id = ?", ids).rowcount
        )

    def forget_before(self, before_ms: int, most: int) -> int:
        """Remove old incidents."""
        said = (
            "DELETE FROM incidents WHERE id IN (SELECT id FROM incidents WHERE id < ? ORDER BY "
            "id LIMIT ?)"
        )
        return self._file.write(lambda db: db.execute(said, (first_id(before_ms), most)).rowcount)

    def forget_practices(self, before_ms: int, most: int) -> int:
        """Remove practices that were not used since, and days that no longer count."""

        def forget(db: sqlite3.Connection) -> int:
            oldest = before_ms // DAY_MS - WINDOW_DAYS
            db.execute("DELETE FROM tool_days WHERE day BETWEEN 0 AND ?", (oldest,))
            return db.execute(UNUSED, (before_ms, most)).rowcount

        return self._file.write(forget)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _rows(self, said: str, *given: Any) -> list[Any]:
        return self._file.read(lambda db: db.execute(said, given).fetchall())


def _write(db: sqlite3.Connection, incidents: Sequence[Incident]) -> None:
    fresh = [one for one in incidents if db.execute(INSERT, _row(one)).rowcount]
    sums = sums_of(fresh)
    db.executemany(ADD_DAY, [(*name, *counted) for name, counted in sums.days.items()])
    db.executemany(
        ADD_DAY, [(tenant, tool, TOTAL, *more) for (tenant, tool, _), more in sums.days.items()]
    )
    db.executemany(
        ADD_PRACTICE,
        [
            (*name, one.tool, one.successes, one.failures, one.data, one.at_ms)
            for name, one in sums.practices.items()
        ],
    )


def _known(db: sqlite3.Connection, tenant: str, tool: str, today: int) -> Known:
    rows = db.execute(DAYS, (tenant, tool, today - WINDOW_DAYS, WINDOW_DAYS * 2)).fetchall()
    days = {day: (good, bad) for day, good, bad in rows}
    successes, failures = days.pop(TOTAL, (0, 0))
    found = [
        Practice(*row)
        for said in (NEWEST, MOST_USED)
        for row in db.execute(said, (tenant, tool, CANDIDATES)).fetchall()
    ]
    return Known(
        Tally(successes, failures, days), chosen({one.fingerprint: one for one in found}.values())
    )


def _row(one: Incident) -> tuple[Any, ...]:
    about = (
        one.id,
        one.tenant,
        one.session_id,
        one.tool_name,
        one.fingerprint,
        int(one.success),
        one.at_ms / 1000,
    )
    return (*about, one.error_reason, one.context_hint, one.call_data)


def _incident(row: tuple[Any, ...]) -> Incident:
    id_, tenant, session_id, tool, name, success, seconds, reason, hint, data = row
    at_ms = round(seconds * 1000)
    return Incident(id_, tenant, session_id, tool, name, bool(success), at_ms, reason, hint, data)
