"""The database's side: records arrive in batches, each in one transaction with how far their chain
has come."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Final, NamedTuple

from psycopg import errors, sql

from stanchion.audit.postgres.chain_files import (
    START,
    TYPES,
    Position,
    Sealed,
    ShippedBatch,
    moment_of,
)
from stanchion.audit.postgres.connections import Connection, one
from stanchion.audit.retention import DAY_MS

_FIELDS: Final = sql.SQL(
    "chain, shipped_seq, shipped_hash, segment, place, head_seq, head, stopped"
)
_CURSORS: Final = sql.SQL("SELECT {fields} FROM {schema}.audit_head WHERE chain = ANY(%s)")
_CURSOR: Final = sql.SQL("SELECT {fields} FROM {schema}.audit_head WHERE chain = %s FOR UPDATE")
_LOCK: Final = "SELECT pg_try_advisory_xact_lock(hashtextextended(%s || ' audit ' || %s, 0))"
_COPY: Final = sql.SQL("COPY {schema}.audit_record FROM STDIN (FORMAT binary)")
_RETIRED: Final = sql.SQL(
    "INSERT INTO {schema}.audit_retired (chain, segment, first_seq, last_seq, by_seq) VALUES (%s, "
    "%s, %s, %s, %s) ON CONFLICT DO NOTHING"
)
_ERASED: Final = sql.SQL(
    "INSERT INTO {schema}.audit_erased (chain, first_seq, last_seq, by_chain, by_seq) VALUES (%s, "
    "%s, %s, %s, %s) ON CONFLICT DO NOTHING"
)
_MOVED: Final = sql.SQL(
    "INSERT INTO {schema}.audit_head ({fields}) VALUES (%s, %s, %s, %s, %s, %s, %s, %s) ON "
    "CONFLICT (chain) DO UPDATE SET shipped_seq = excluded.shipped_seq, shipped_hash = "
    "excluded.shipped_hash, segment = excluded.segment, place = excluded.place, head_seq = "
    "excluded.head_seq, head = excluded.head, stopped = excluded.stopped, at = now()"
)
_EVIDENCE: Final = sql.SQL(
    "INSERT INTO {schema}.audit_evidence (chain, seq, deed, why, line) VALUES (%s, %s, %s, %s, %s)"
)
_MONTH: Final = sql.SQL("SELECT {schema}.make_month('audit_record', %s)")
_PATIENCE: Final = "SET LOCAL lock_timeout = '1s'"


class Cursor(NamedTuple):
    """How far a chain has come in the database: the last record there, its head, and why no more of
    it is taken."""

    place: Position
    head_seq: int = -1
    head: str = ""
    stopped: str = ""


NOTHING: Final = Cursor(START)


class RecordLanding:
    """Where records arrive, through one connection. `retired` tells that some of them let others
    go, or what was said in others."""

    def __init__(self, db: Connection, schema: str) -> None:
        self._db: Final = db
        self._schema: Final = schema
        self._own: Final = {"schema": sql.Identifier(schema), "fields": _FIELDS}
        self._months: set[tuple[int, int]] = set()
        self.retired = False

    def cursors(self, chains: list[str]) -> dict[str, Cursor]:
        """How far some chains have come."""
        rows = self._db.execute(_CURSORS.format(**self._own), (chains,)).fetchall()
        return dict.fromkeys(chains, NOTHING) | {row[0]: _cursor(row) for row in rows}

    def land(
        self, chain: str, before: Cursor, batch: ShippedBatch, head: Sealed | None
    ) -> Cursor | None:
        """Take a batch in behind `before`, with the head where it is given; gives how far the chain
        has come now.

        Where it had come elsewhere nothing is taken in; `None` where another process is at this
        chain.
        """
        self._make_months(batch)
        with self._db.transaction():
            found = self._locked(chain)
            if found != before:
                return found
            if batch.rows:
                self._copy(batch)
            now = found._replace(place=batch.behind)
            if head is not None and head.head.seq >= found.head_seq:
                now = now._replace(head_seq=head.head.seq, head=head.text)
            self._move(chain, now)
        return now

    def stop(
        self, chain: str, before: Cursor, deed: str, why: str, seq: int, line: bytes
    ) -> Cursor | None:
        """Take no more of a chain, and keep what was found instead of what should have followed."""
        with self._db.transaction():
            found = self._locked(chain)
            if found != before:
                return found
            now = found._replace(stopped=why)
            self._move(chain, now)
            self._db.execute(_EVIDENCE.format(**self._own), (chain, seq, deed, why, line))
        return now

    def _locked(self, chain: str) -> Cursor | None:
        if not one(self._db.execute(_LOCK, (self._schema, chain)))[0]:
            return None
        row = self._db.execute(_CURSOR.format(**self._own), (chain,)).fetchone()
        return NOTHING if row is None else _cursor(row)

    def _copy(self, batch: ShippedBatch) -> None:
        with self._db.cursor() as cursor:
            with cursor.copy(_COPY.format(**self._own)) as copy:
                copy.set_types(TYPES)
                for row in batch.rows:
                    copy.write_row(row.values())
            gone = [
                (row.told.chain, *segment[:3], row.told.seq)
                for row in batch.rows
                for segment in row.retires
            ]
            if gone:
                cursor.executemany(_RETIRED.format(**self._own), gone)
                self.retired = True
            erased = [
                (*one, row.told.chain, row.told.seq) for row in batch.rows for one in row.erases
            ]
            if erased:
                cursor.executemany(_ERASED.format(**self._own), erased)
                self.retired = True

    def _move(self, chain: str, to: Cursor) -> None:
        place = to.place
        values = (chain, place.seq, bytes.fromhex(place.hash), place.segment, place.offset)
        self._db.execute(_MOVED.format(**self._own), (*values, to.head_seq, to.head, to.stopped))

    def _make_months(self, batch: ShippedBatch) -> None:
        """Make partitions for months that no batch of this connection had yet, unless somebody is
        in the way."""
        for day in {row.told.at // DAY_MS for row in batch.rows}:
            moment = moment_of(day * DAY_MS)
            if (moment.year, moment.month) in self._months:
                continue
            with suppress(errors.LockNotAvailable), self._db.transaction():
                self._db.execute(_PATIENCE)
                self._db.execute(_MONTH.format(**self._own), (moment,))
            self._months.add((moment.year, moment.month))


def _cursor(row: tuple[Any, ...]) -> Cursor:
    _, seq, digest, segment, offset, head_seq, head, stopped = row
    return Cursor(Position(segment, offset, seq, digest.hex()), head_seq, head, stopped)
