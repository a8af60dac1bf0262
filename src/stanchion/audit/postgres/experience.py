"""Experience in PostgreSQL: the incidents of the trail's schema, in months, with tallies and
practices beside them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, Final, TypeVar
from uuid import UUID

import psycopg

from stanchion.audit.errors import NoRecords, TrailError
from stanchion.audit.postgres.connections import Connection, RecordsAddress, checked, connected
from stanchion.audit.postgres.copy_options import SCHEMA
from stanchion.experience.incident import Incident
from stanchion.experience.shelf import NothingKept, ShelfError
from stanchion.experience.sql import SqlShelf
from stanchion.locks import Lock
from stanchion.locks.forks import tell_of_forks

TIMEOUT_S: Final = 10.0

# Every statement finds its rows by a key, whatever the planner thinks of tables that were empty a
# minute ago.
_SETTINGS: Final = "SET enable_seqscan = off; SET plan_cache_mode = force_generic_plan"

WORDS: Final = {
    "table": "incident",
    "fields": "replace(id::text, '-', ''), tenant, run, tool, fingerprint, success,"
    " (extract(epoch FROM at) * 1000)::bigint, reason, hint, convert_from(call, 'UTF8')",
    "tool": "tool",
    "oldest": "at, id",
    "newest": "at DESC, id DESC",
    "before": "at < {epoch} + ? * {ms}",
    "epoch": "timestamptz 'epoch'",
    "ms": "interval '1 millisecond'",
}
_MONTHS: Final = (
    "SELECT {own}make_month('incident', at) FROM unnest(ARRAY[now(), now() + "
    "interval '1 month']) AS at"
)
_INSERT: Final = """
INSERT INTO {own}incident (at, id, tenant, run, tool, fingerprint, success, reason, hint, call)
SELECT {epoch} + sent * {ms}, id, tenant, run, tool, fingerprint, success, reason, hint,
    convert_to(call, 'UTF8')
FROM {rows} AS n (sent, id, tenant, run, tool, fingerprint, success, reason, hint, call)
ON CONFLICT DO NOTHING RETURNING id
"""
_KINDS: Final = "bigint uuid text text text text boolean text text text"
_FORGET: Final = """
DELETE FROM {own}incident AS i USING {rows} AS gone (id, sent)
WHERE i.id = gone.id AND i.at = {epoch} + gone.sent * {ms}
"""
_BEFORE: Final = "SELECT {own}forget_incidents({epoch} + ? * {ms}, ?)"
_DROP: Final = "SELECT {own}drop_empty_months('incident', now() - interval '1 month')"

T = TypeVar("T")


class PostgresShelf(SqlShelf):
    """Experience in one schema of a database, shared by any number of hosts: that of the trail,
    whether or not a trail is shipped there. Incidents are in partitions by month, and whole months
    leave at once."""

    def __init__(self, url: str, schema: str = SCHEMA, reading: bool = False) -> None:
        super().__init__({**WORDS, "own": f"{checked(schema)}."}, int)
        self._address: Final = RecordsAddress(url, TIMEOUT_S)
        self._schema: Final = schema
        self._reading: Final = reading
        self._lock: Final = Lock()
        self._db: Connection | None = None
        self._month: tuple[int, int] = (0, 0)
        self._closed = False
        tell_of_forks(self)

    def forked(self) -> None:
        """In a forked process: the connection is the parent's."""
        self._db = None

    def said(self, statement: str) -> bytes:
        """A statement with the name of the schema, which needs no quotes."""
        spelled: str = super().said(statement)
        return spelled.replace("?", "%s").encode()

    def _use(self, ask: Callable[[Any], T], writes: bool = False) -> T:
        try:
            with self._lock:
                db = self._connected()
                if not writes:
                    return ask(db)
                with db.transaction():
                    return ask(db)
        except NoRecords as error:
            raise NothingKept(str(error)) from None
        except TrailError as error:
            raise ShelfError(str(error)) from None
        except psycopg.Error as error:
            raise ShelfError(self._address.trouble(error)) from None

    def _sent(
        self, db: Connection, statement: str, kinds: str, rows: Sequence[Sequence[Any]]
    ) -> psycopg.Cursor[tuple[Any, ...]]:
        """Run a statement on rows, each column of which is an array."""
        sent = ", ".join([f"?::{kind}[]" for kind in kinds.split()])
        return db.execute(
            self.said(statement.replace("{rows}", f"unnest({sent})")),
            [list(column) for column in zip(*rows, strict=True)],
        )

    def _fresh(self, db: Connection, incidents: Sequence[Incident]) -> list[Incident]:
        rows = [
            (
                each.at_ms, each.id, each.tenant, each.session_id, each.tool_name, each.fingerprint,
                each.success, each.error_reason, each.context_hint, each.call_data,
            )
            for each in incidents
        ]  # fmt: skip
        fresh = {found[0] for found in self._sent(db, _INSERT, _KINDS, rows).fetchall()}
        return [each for each in incidents if UUID(each.id) in fresh]

    def _insert(
        self, db: Connection, statement: str, kinds: str, rows: list[tuple[Any, ...]]
    ) -> None:
        if rows:
            self._sent(db, statement.replace("{rows}", "SELECT * FROM {rows}"), kinds, rows)

    def write(self, incidents: Sequence[Incident]) -> None:
        """Keep a batch in one transaction."""
        now = datetime.now(UTC)
        if self._month != (now.year, now.month):
            self._rows(_MONTHS)
            self._month = (now.year, now.month)
        super().write(incidents)

    def forget(self, incidents: Sequence[Incident]) -> int:
        """Remove incidents, and months that are empty then."""
        ids = [(each.id, each.at_ms) for each in incidents]

        def forget(db: Connection) -> int:
            gone = self._sent(db, _FORGET, "uuid bigint", ids).rowcount if ids else 0
            db.execute(self.said(_DROP))
            return gone

        return self._use(forget)

    def forget_before(self, before_ms: int, most: int) -> int:
        """Remove old incidents: whole months at once, and what is left of them in portions."""
        return int(self._rows(_BEFORE, before_ms, most)[0][0])

    def close(self) -> None:
        """Close the connection."""
        self._closed = True
        with self._lock:
            self._let_go()

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
