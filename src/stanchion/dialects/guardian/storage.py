"""Storage: the providers that are shipped, which keep what Stanchion keeps, in its own way; and the
tables of experience, for statements of SQL that read it, or delete incidents.

A statement sees two views with the columns of the document. What it deletes is taken from where it
is kept, whatever store that is.
"""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from stanchion.audit.redaction import masked
from stanchion.dialects.errors import DialectError
from stanchion.dialects.guardian.calls import ARGUMENTS, TOOL, args_text, call_text
from stanchion.dialects.guardian.interfaces import AsyncStorageProvider, StorageProvider
from stanchion.experience.bounded import bounded, cut, encoded, fingerprint
from stanchion.experience.incident import DAY_MS, MOST_HINT, MOST_REASON, Incident, new_id
from stanchion.experience.shelf import Shelf
from stanchion.experience.tally import Known
from stanchion.policy.nearest import hint
from stanchion.stores.experience.sqlite import SqliteShelf
from stanchion.stores.memory import wall_ms

MOST: Final = 200_000
"""How many incidents are copied for a statement, where they are kept in no file of SQLite."""
FAR: Final = 1 << 47

VIEWS: Final = (
    """CREATE TEMP VIEW incidents AS
        SELECT id, session_id, tool_name, fingerprint, success, timestamp, error_reason, context_hint,
            whole_call(tool_name, call_data) AS call_data
        FROM kept_incidents WHERE tenant = whose()""",  # noqa: E501
    """CREATE TEMP VIEW best_practices AS
        SELECT fingerprint, tool_name, success_count, failure_count,
            whole_call(tool_name, last_success_data) AS last_success_data
        FROM kept_practices WHERE tenant = whose()""",
    """CREATE TEMP TRIGGER deletes INSTEAD OF DELETE ON incidents BEGIN
        SELECT forget(OLD.id, OLD.session_id, OLD.tool_name, OLD.fingerprint, OLD.success, OLD.timestamp,
            OLD.error_reason, OLD.context_hint, OLD.call_data);
    END""",  # noqa: E501
)
"""What a statement sees; the trigger notes down what it deletes."""
IN_FILE: Final = (
    "CREATE TEMP VIEW kept_incidents AS SELECT * FROM kept.incidents",
    "CREATE TEMP VIEW kept_practices AS SELECT * FROM kept.best_practices",
)
COPIES: Final = (
    """CREATE TABLE kept_incidents (tenant, id, session_id, tool_name, fingerprint, success, timestamp, error_reason,
        context_hint, call_data)""",  # noqa: E501
    (
        "CREATE TABLE kept_practices (tenant, fingerprint, tool_name, success_count, "
        "failure_count, last_success_data)"
    ),
)
MAY: Final = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE})
"""What a statement may do, besides to read tables and to delete incidents."""
TABLES: Final = frozenset({"incidents", "best_practices", "kept_incidents", "kept_practices"})
"""What it may read: the two views, and what is behind them."""


def execute(
    shelf: Shelf, tenant: str, statement: str, parameters: Sequence[Any] = ()
) -> list[tuple[Any, ...]]:
    """The rows that a statement gives; incidents that it deletes are gone from the shelf. Values
    come as parameters, each for a `?`. `DialectError` for a statement that does anything else."""
    if not isinstance(statement, str):
        raise DialectError(
            f"a statement is `{type(statement).__name__}`: give its text, and values as parameters"
        )
    gone: list[Incident] = []
    with _tables(shelf, tenant, gone) as db:
        try:
            rows = db.execute(statement, tuple(parameters)).fetchall()
        except sqlite3.Error as error:
            said = (
                "read `incidents` and `best_practices`, or delete from `incidents`, with a `?` "
                "for each value"
            )
            raise DialectError(f"this cannot be executed ({error}): {said}") from None
    if gone:
        shelf.forget(gone)
    return rows


@contextmanager
def _tables(shelf: Shelf, tenant: str, gone: list[Incident]) -> Iterator[sqlite3.Connection]:
    def forget(*row: Any) -> None:
        id_, session, tool, name, success, seconds, reason, hint, data = row
        at_ms = round(seconds * 1000)
        gone.append(
            Incident(
                id_,
                tenant,
                session,
                tool,
                name,
                bool(success),
                at_ms,
                reason,
                hint,
                args_text(data),
            )
        )

    db = sqlite3.connect(":memory:", uri=True, isolation_level=None)
    try:
        db.create_function("whose", 0, lambda: tenant, deterministic=True)
        db.create_function("forget", 9, forget)
        db.create_function("whole_call", 2, call_text, deterministic=True)
        if isinstance(shelf, SqliteShelf):
            _attach(db, shelf)
        else:
            _copy(db, shelf, tenant)
        for view in VIEWS:
            db.execute(view)
        db.set_authorizer(_permitted)
        yield db
    finally:
        db.close()


def _attach(db: sqlite3.Connection, shelf: SqliteShelf) -> None:
    """The file where experience is kept, to be read."""
    shelf.count()  # it is made where it is missing
    db.execute("ATTACH DATABASE ? AS kept", (f"{shelf.path.as_uri()}?mode=ro",))
    for view in IN_FILE:
        db.execute(view)


def _copy(db: sqlite3.Connection, shelf: Shelf, tenant: str) -> None:
    """What is kept elsewhere, as it is now."""
    count = shelf.count()
    if count > MOST:
        said = f"{count:,} incidents are kept, too many to be copied for a statement"
        raise DialectError(f"{said}: use `stanchion tools experience prune`")
    for statement in COPIES:
        db.execute(statement)
    kept = [one for one in shelf.oldest(FAR, count) if one.tenant == tenant]
    today = max([one.at_ms for one in kept], default=0) // DAY_MS
    rows = [
        (
            *(
                one.tenant,
                one.id,
                one.session_id,
                one.tool_name,
                one.fingerprint,
                one.success,
                one.at_ms / 1000,
            ),
            *(one.error_reason, one.context_hint, one.call_data),
        )
        for one in kept
    ]
    db.executemany("INSERT INTO kept_incidents VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
    practices = [
        (
            tenant,
            one.fingerprint,
            one.tool_name,
            one.success_count,
            one.failure_count,
            one.last_success_data,
        )
        for tool in shelf.tools(tenant)
        for one in shelf.known(tenant, tool, today).practices
    ]
    db.executemany("INSERT INTO kept_practices VALUES (?, ?, ?, ?, ?, ?)", practices)


def _permitted(action: int, what: str | None, *_: Any) -> int:
    if action == sqlite3.SQLITE_DELETE:
        allowed = what == "incidents"
    elif action == sqlite3.SQLITE_READ:
        allowed = what in TABLES
    else:
        allowed = action in MAY
    return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY


TENANT: Final = "default"
FIELDS: Final = (
    "session_id",
    "tool_name",
    "fingerprint",
    "success",
    "timestamp",
    "error_reason",
    "context_hint",
    "call_data",
)
"""What an incident is told by."""


class ShelfStorage(StorageProvider):
    """Where a guardian keeps experience, as a provider."""

    def __init__(
        self, shelf: Callable[[], Shelf], tenant: str = TENANT, clock: Callable[[], int] = wall_ms
    ) -> None:
        self._shelf, self._tenant, self._clock = shelf, tenant, clock

    def log_incident(self, incident_data: dict[str, Any]) -> None:
        """Keep what came of one call; what is named like a secret is masked."""
        self._shelf().write([incident_of(incident_data, self._tenant, self._clock())])

    def get_best_practice(self, tool_name: str) -> dict[str, Any] | None:
        """The call of a tool that has worked most often."""
        best = max(
            self._known(tool_name).practices,
            key=lambda one: (one.success_count, one.last_ms),
            default=None,
        )
        if best is None:
            return None
        return {
            "fingerprint": best.fingerprint,
            "tool_name": best.tool_name,
            "success_count": best.success_count,
            "failure_count": best.failure_count,
            "last_success_data": call_text(best.tool_name, best.last_success_data),
        }

    def get_tool_stats(self, tool_name: str) -> dict[str, int]:
        """How often a tool has worked, and how often it failed."""
        tally = self._known(tool_name).tally
        return {"successes": tally.successes, "failures": tally.failures}

    def execute(self, statement: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """The rows that a statement of SQL gives. It reads `incidents` and `best_practices`, or
        deletes from `incidents`."""
        return execute(self._shelf(), self._tenant, statement, parameters)

    def _known(self, tool_name: str) -> Known:
        return self._shelf().known(self._tenant, tool_name, self._clock() // DAY_MS)


class SQLiteStorageProvider(ShelfStorage):
    """Keeps experience in a file of SQLite, for threads and processes of one host."""

    def __init__(self, db_path: str | Path, tenant: str = TENANT) -> None:
        if not isinstance(db_path, str | Path) or not str(db_path) or db_path == ":memory:":
            raise DialectError(
                f"`db_path` is `{db_path!r}`: name the file in which experience is kept"
            )
        self.shelf: Final = SqliteShelf(Path(db_path).absolute())
        super().__init__(lambda: self.shelf, tenant)

    def init(self) -> None:
        """Make the file where it is missing."""
        self.shelf.count()

    def close(self) -> None:
        """Let go of the file."""
        self.shelf.close()


class AsyncSQLiteStorageProvider(AsyncStorageProvider):
    """`SQLiteStorageProvider` for async code: the event loop goes on while the file is read and
    written."""

    def __init__(self, db_path: str | Path, tenant: str = TENANT) -> None:
        self._beside: Final = SQLiteStorageProvider(db_path, tenant)
        self.shelf: Final = self._beside.shelf

    async def init(self) -> None:
        """Make the file where it is missing."""
        await asyncio.to_thread(self._beside.init)

    async def log_incident(self, incident_data: dict[str, Any]) -> None:
        """Keep what came of one call."""
        await asyncio.to_thread(self._beside.log_incident, incident_data)

    async def get_best_practice(self, tool_name: str) -> dict[str, Any] | None:
        """The call of a tool that has worked most often."""
        return await asyncio.to_thread(self._beside.get_best_practice, tool_name)

    async def get_tool_stats(self, tool_name: str) -> dict[str, int]:
        """How often a tool has worked, and how often it failed."""
        return await asyncio.to_thread(self._beside.get_tool_stats, tool_name)

    async def execute(
        self, statement: str, parameters: Sequence[Any] = ()
    ) -> list[tuple[Any, ...]]:
        """The rows that a statement of SQL gives."""
        return await asyncio.to_thread(self._beside.execute, statement, parameters)

    async def close(self) -> None:
        """Let go of the file."""
        await asyncio.to_thread(self._beside.close)


def incident_of(told: Any, tenant: str, now_ms: int) -> Incident:
    """An incident that a program tells itself."""
    if (
        not isinstance(told, Mapping)
        or not isinstance(told.get("tool_name"), str)
        or not told["tool_name"]
    ):
        raise DialectError(
            "an incident names no tool: give a mapping with `tool_name` and `success`"
        )
    unknown = next((name for name in told if name not in FIELDS), None)
    if unknown is not None:
        raise DialectError(f"an incident has no `{unknown}`: {hint(str(unknown), FIELDS)}")
    tool, success = cut(told["tool_name"], MOST_HINT), told.get("success")
    if not isinstance(success, bool):
        raise DialectError(f"`success` of an incident is `{success!r}`: give True or False")
    at = told.get("timestamp")
    if at is not None and (not isinstance(at, int | float) or isinstance(at, bool)):
        raise DialectError(f"`timestamp` of an incident is `{at!r}`: give seconds since 1970")
    at_ms = now_ms if at is None else round(at * 1000)
    data = encoded(bounded(masked(arguments_of(told.get("call_data")))))
    session, reason, meant = [
        cut(str(told[name]), most) if told.get(name) else "" for name, most in WORDS.items()
    ]
    given = told.get("fingerprint")
    print_ = str(given)[:64] if given else fingerprint(tool, data)
    ident = new_id(at_ms, os.urandom(10))
    return Incident(ident, tenant, session, tool, print_, success, at_ms, reason, meant, data)


WORDS: Final = {"session_id": MOST_HINT, "error_reason": MOST_REASON, "context_hint": MOST_HINT}


def told_of(one: Incident) -> dict[str, Any]:
    """An incident as a provider is told it."""
    return {
        "session_id": one.session_id,
        "tool_name": one.tool_name,
        "fingerprint": one.fingerprint,
        "success": one.success,
        "timestamp": one.at_ms / 1000,
        "error_reason": one.error_reason if one.error_reason else None,
        "context_hint": one.context_hint if one.context_hint else None,
        "call_data": call_text(one.tool_name, one.call_data),
    }


def arguments_of(data: Any) -> dict[str, Any]:
    """The arguments of a call that somebody keeps: as a mapping or its JSON, the whole call or its
    arguments alone."""
    if data is None or data == "":
        return {}
    if isinstance(data, str | bytes):
        try:
            data = json.loads(data)
        except ValueError:
            raise DialectError(
                "the data of a call is no JSON: give a mapping with `tool` and `arguments`"
            ) from None
    if not isinstance(data, Mapping):
        raise DialectError(
            f"the data of a call is `{type(data).__name__}`: give a mapping with `tool` and "
            f"`arguments`"
        )
    if any(name in data for name in TOOL):
        for name in ARGUMENTS:
            if isinstance(data.get(name), Mapping):
                return dict(data[name])
    return dict(data)
