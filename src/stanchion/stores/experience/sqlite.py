"""Experience in SQLite: a file of its own beside the state, so that a batch never keeps a decision
waiting."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from stanchion.experience.incident import DAY_MS, Incident, Practice, first_id
from stanchion.experience.shelf import sums_of
from stanchion.experience.tally import CANDIDATES, WINDOW_DAYS, Known, Tally, chosen
from stanchion.stores.experience.sqlite_file import File

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
