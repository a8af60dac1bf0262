"""The tables of experience: what is kept, for statements of SQL that read it, or delete incidents.

A statement sees two views with the columns of the document. What it deletes is taken from where it
is kept, whatever store that is.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from stanchion.dialects.errors import DialectError
from stanchion.dialects.guardian.calls import args_text, call_text
from stanchion.experience.incident import DAY_MS, Incident
from stanchion.experience.shelf import Shelf
from stanchion.stores.experience.sqlite import SqliteShelf

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
        raise DialectError(f"{said}: use `stanchion experience prune`")
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
