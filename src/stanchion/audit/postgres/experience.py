"""Experience in PostgreSQL: the incidents of the trail's schema, in months, with tallies and
practices beside them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, Final, TypeVar
from uuid import UUID

import psycopg
from psycopg import sql

from stanchion.audit.errors import NoRecords, TrailError
from stanchion.audit.postgres.connections import Connection, RecordsAddress, checked, connected, one
from stanchion.audit.postgres.shipment import SCHEMA
from stanchion.experience.incident import DAY_MS, Incident, Practice
from stanchion.experience.shelf import NothingKept, ShelfError, Sums, sums_of
from stanchion.experience.tally import CANDIDATES, WINDOW_DAYS, Known, Tally, chosen
from stanchion.locks import Lock
from stanchion.locks.forks import tell_of_forks

TIMEOUT_S: Final = 10.0
TOTAL: Final = -1
"""The day under which everything is counted."""

# Every statement finds its rows by a key, whatever the planner thinks of tables that were empty a
# minute ago.
_SETTINGS: Final = "SET enable_seqscan = off; SET plan_cache_mode = force_generic_plan"
_MONTHS: Final = (
    "SELECT {schema}.make_month('incident', at) FROM unnest(ARRAY[now(), now() + "
    "interval '1 month']) AS at"
)
_INSERT: Final = """
INSERT INTO {schema}.incident (at, id, tenant, run, tool, fingerprint, success, reason, hint, call)
SELECT timestamptz 'epoch' + ms * interval '1 millisecond', id, tenant, run, tool, fingerprint, success, reason, hint,
    convert_to(call, 'UTF8')
FROM unnest(%s::bigint[], %s::uuid[], %s::text[], %s::text[], %s::text[], %s::text[], %s::boolean[], %s::text[],
    %s::text[], %s::text[]) AS n (ms, id, tenant, run, tool, fingerprint, success, reason, hint, call)
ON CONFLICT DO NOTHING RETURNING id
"""  # noqa: E501
_ADD_DAYS: Final = """
INSERT INTO {schema}.tool_days AS d
SELECT * FROM unnest(%s::text[], %s::text[], %s::integer[], %s::bigint[], %s::bigint[])
ON CONFLICT (tenant, tool_name, day) DO UPDATE
SET successes = d.successes + excluded.successes, failures = d.failures + excluded.failures
"""
_ADD_PRACTICES: Final = """
INSERT INTO {schema}.best_practices AS p
SELECT * FROM unnest(%s::text[], %s::text[], %s::text[], %s::bigint[], %s::bigint[], %s::text[], %s::bigint[])
ON CONFLICT (tenant, fingerprint) DO UPDATE
SET success_count = p.success_count + excluded.success_count, failure_count = p.failure_count + excluded.failure_count,
    last_success_data = coalesce(excluded.last_success_data, p.last_success_data),
    last_ms = CASE WHEN excluded.last_success_data IS NULL THEN p.last_ms ELSE excluded.last_ms END
"""  # noqa: E501
DAYS: Final = """
SELECT day, successes, failures FROM {schema}.tool_days
WHERE tenant = %s AND tool_name = %s AND (day = -1 OR day > %s) ORDER BY day LIMIT %s
"""
_PRACTICES: Final = """
SELECT fingerprint, tool_name, success_count, failure_count, last_success_data, last_ms FROM {schema}.best_practices
WHERE tenant = %s AND tool_name = %s AND last_success_data IS NOT NULL {order} DESC, fingerprint LIMIT %s
"""  # noqa: E501
_COLUMNS: Final = """
SELECT id, tenant, run, tool, fingerprint, success, (extract(epoch FROM at) * 1000)::bigint, reason, hint,
    convert_from(call, 'UTF8') FROM {schema}.incident
"""  # noqa: E501
_OF_TENANT: Final = _COLUMNS + "WHERE tenant = %s ORDER BY at DESC, id DESC LIMIT %s"
_OF_TOOL: Final = _COLUMNS + "WHERE tenant = %s AND tool = %s ORDER BY at DESC, id DESC LIMIT %s"
_OLDEST: Final = _COLUMNS + (
    "WHERE at < timestamptz 'epoch' + %s * interval '1 millisecond' ORDER BY at, id LIMIT %s"
)
_FORGET: Final = """
DELETE FROM {schema}.incident AS i USING unnest(%s::uuid[], %s::bigint[]) AS gone (id, ms)
WHERE i.id = gone.id AND i.at = timestamptz 'epoch' + gone.ms * interval '1 millisecond'
"""
_BEFORE: Final = (
    "SELECT {schema}.forget_incidents(timestamptz 'epoch' + %s * interval '1 millisecond', %s)"
)
_DROP: Final = "SELECT {schema}.drop_empty_months('incident', now() - interval '1 month')"
_UNUSED: Final = """
DELETE FROM {schema}.best_practices WHERE ctid = ANY (
    ARRAY(SELECT ctid FROM {schema}.best_practices WHERE last_ms < %s LIMIT %s)
)
"""
_OLD_DAYS: Final = "DELETE FROM {schema}.tool_days WHERE day BETWEEN 0 AND %s"
_TOOLS: Final = (
    "SELECT tool_name FROM {schema}.tool_days WHERE tenant = %s AND day = -1 ORDER BY tool_name"
)

T = TypeVar("T")


class PostgresShelf:
    """Experience in one schema of a database, shared by any number of hosts: that of the trail,
    whether or not a trail is shipped there. Incidents are in partitions by month, and whole months
    leave at once."""

    def __init__(self, url: str, schema: str = SCHEMA, reading: bool = False) -> None:
        self._address: Final = RecordsAddress(url, TIMEOUT_S)
        self._schema: Final = checked(schema)
        self._reading: Final = reading
        self._lock: Final = Lock()
        self._db: Connection | None = None
        self._month: tuple[int, int] = (0, 0)
        self._closed = False
        tell_of_forks(self)

    def forked(self) -> None:
        """In a forked process: the connection is the parent's."""
        self._db = None

    def write(self, incidents: Sequence[Incident]) -> None:
        """Keep a batch in one transaction."""

        def keep(db: Connection) -> None:
            self._make_months(db)
            with db.transaction():
                fresh = {
                    found[0]
                    for found in db.execute(self._said(_INSERT), _columns(incidents)).fetchall()
                }
                self._add(db, sums_of([each for each in incidents if UUID(each.id) in fresh]))

        self._use(keep)

    def _add(self, db: Connection, sums: Sums) -> None:
        if not sums.days:
            return
        totals: dict[tuple[str, str, int], tuple[int, int]] = dict(sums.days)
        for (tenant, tool, _), (good, bad) in sums.days.items():
            before = totals.get((tenant, tool, TOTAL), (0, 0))
            totals[tenant, tool, TOTAL] = (before[0] + good, before[1] + bad)
        rows = [(*name, *counted) for name, counted in sorted(totals.items())]
        db.execute(self._said(_ADD_DAYS), _turned(rows))
        practices = [
            (*name, each.tool, each.successes, each.failures, each.data, each.at_ms)
            for name, each in sums.practices.items()
        ]
        db.execute(self._said(_ADD_PRACTICES), _turned(practices))

    def known(self, tenant: str, tool: str, today: int) -> Known:
        """What is known of a tool: three searches by key."""

        def look(db: Connection) -> Known:
            asked = (tenant, tool, today - WINDOW_DAYS, WINDOW_DAYS * 2)
            days = {
                day: (good, bad)
                for day, good, bad in db.execute(self._said(DAYS), asked).fetchall()
            }
            successes, failures = days.pop(TOTAL, (0, 0))
            found = {}
            for said in self.practices():
                for row in db.execute(said, (tenant, tool, CANDIDATES)).fetchall():
                    found[row[0]] = Practice(*row)
            return Known(Tally(successes, failures, days), chosen(found.values()))

        return self._use(look)

    def practices(self) -> tuple[sql.Composed, ...]:
        """The statements that find the newest and the most used practices."""
        orders = ("ORDER BY last_ms", "AND success_count > 1 ORDER BY success_count")
        return tuple([self._said(_PRACTICES, order=sql.SQL(order)) for order in orders])

    def tools(self, tenant: str) -> list[str]:
        """The tools of a tenant."""
        return [str(row[0]) for row in self._rows(_TOOLS, tenant)]

    def newest(self, tenant: str, tool: str, most: int) -> list[Incident]:
        """The last incidents."""
        rows = (
            self._rows(_OF_TOOL, tenant, tool, most)
            if tool
            else self._rows(_OF_TENANT, tenant, most)
        )
        return [_incident(row) for row in rows]

    def count(self) -> int:
        """How many incidents are kept."""
        return int(self._rows("SELECT count(*) FROM {schema}.incident")[0][0])

    def oldest(self, before_ms: int, most: int) -> list[Incident]:
        """The oldest incidents."""
        return [_incident(row) for row in self._rows(_OLDEST, before_ms, most)]

    def forget(self, incidents: Sequence[Incident]) -> int:
        """Remove incidents, and months that are empty then."""
        ids = [each.id for each in incidents], [each.at_ms for each in incidents]

        def forget(db: Connection) -> int:
            gone = db.execute(self._said(_FORGET), ids).rowcount
            db.execute(self._said(_DROP))
            return gone

        return self._use(forget)

    def forget_before(self, before_ms: int, most: int) -> int:
        """Remove old incidents: whole months at once, and what is left of them in portions."""
        return self._use(lambda db: int(one(db.execute(self._said(_BEFORE), (before_ms, most)))[0]))

    def forget_practices(self, before_ms: int, most: int) -> int:
        """Remove practices that have not worked since, and days that no longer count."""

        def forget(db: Connection) -> int:
            db.execute(self._said(_OLD_DAYS), (before_ms // DAY_MS - WINDOW_DAYS,))
            return db.execute(self._said(_UNUSED), (before_ms, most)).rowcount

        return self._use(forget)

    def close(self) -> None:
        """Close the connection."""
        self._closed = True
        with self._lock:
            self._let_go()

    def _make_months(self, db: Connection) -> None:
        now = datetime.now(UTC)
        if self._month != (now.year, now.month):
            db.execute(self._said(_MONTHS))
            self._month = (now.year, now.month)

    def _said(self, statement: Any, **more: sql.Composable) -> sql.Composed:
        return sql.SQL(statement).format(schema=sql.Identifier(self._schema), **more)

    def _rows(self, statement: str, *given: Any) -> list[tuple[Any, ...]]:
        return self._use(lambda db: db.execute(self._said(statement), given).fetchall())

    def _use(self, ask: Callable[[Connection], T]) -> T:
        try:
            with self._lock:
                return ask(self._connected())
        except NoRecords as error:
            raise NothingKept(str(error)) from None
        except TrailError as error:
            raise ShelfError(str(error)) from None
        except psycopg.Error as error:
            raise ShelfError(self._address.trouble(error)) from None

    def _connected(self) -> Connection:
        if self._closed:
            raise ShelfError(f"the experience on `{self._address.name}` was closed: open it again")
        if self._db is not None and (self._db.closed or self._db.broken):
            self._let_go()
        if self._db is None:
            self._db = connected(self._address, self._schema, TIMEOUT_S, self._reading)
            self._db.execute(_SETTINGS)
        return self._db

    def _let_go(self) -> None:
        if self._db is not None:
            self._db.close()
            self._db = None


def _columns(incidents: Sequence[Incident]) -> list[list[Any]]:
    return _turned(
        [
            (
                each.at_ms, each.id, each.tenant, each.session_id, each.tool_name, each.fingerprint,
                each.success, each.error_reason, each.context_hint, each.call_data,
            )
            for each in incidents
        ]
    )  # fmt: skip


def _turned(rows: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """Rows as columns, as an array for each is what the server takes."""
    return [list(column) for column in zip(*rows, strict=True)]


def _incident(row: tuple[Any, ...]) -> Incident:
    return Incident(row[0].hex, *row[1:])
