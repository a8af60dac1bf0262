"""Reading the records of a database as those of a folder are read: forwards, backwards, by
decision, run and place."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from typing import Any, Final

import psycopg
from psycopg import sql

from stanchion.audit.errors import TrailError
from stanchion.audit.postgres.chain_files import WIDEST, moment_of
from stanchion.audit.postgres.connections import RecordsAddress, checked, connected
from stanchion.audit.postgres.copy_options import SCHEMA
from stanchion.audit.postgres.export import Progress
from stanchion.audit.segment_scan import DECISIONS, FoundRecord, SegmentLine, is_text, read_stub
from stanchion.kernel.state import FOREVER

TIMEOUT_S: Final = 10.0
AT_A_TIME: Final = 500
"""How many rows are fetched at a time."""
MOST_NEW: Final = 10_000
"""How many new records of a chain are taken at one look."""

NOWHERE: Final = -1
"""The offset of a record that stands in no file."""

_RECORDS: Final = (
    "SELECT chain, segment, hash, took, seal, body, mac, kept FROM {schema}.audit_record WHERE "
)
_SPAN: Final = "at >= %(since)s AND at <= %(until)s"

_QUERIES: Final = {
    "forwards": sql.SQL(_RECORDS + _SPAN + " ORDER BY at, chain, seq"),
    "backwards": sql.SQL(_RECORDS + _SPAN + " ORDER BY at DESC, chain, seq DESC"),
    "of_run": sql.SQL(
        _RECORDS + _SPAN + " AND run = %(run)s AND run <> '' ORDER BY at DESC, chain, seq DESC"
    ),
    "find": sql.SQL(_RECORDS + "id = %(id)s AND id <> '' ORDER BY at DESC, seq DESC"),
    "at": sql.SQL(_RECORDS + "chain = %(chain)s AND seq = %(seq)s ORDER BY at"),
    "new": sql.SQL(
        _RECORDS
        + "chain = %(chain)s AND seq > %(seq)s AND seq <= %(last)s ORDER BY seq, at LIMIT %(most)s"
    ),
}
_ARRIVED: Final = sql.SQL("SELECT chain, shipped_seq, head FROM {schema}.audit_head ORDER BY chain")


class DatabaseReader:
    """Reads the records in a database; rows that are no records are passed over, which is for the
    verifier to find.

    Everything raises `TrailError` where the database cannot be read. `name` has no word of a
    password in it.
    """

    def __init__(self, url: str, schema: str = SCHEMA) -> None:
        """Connect to a database that a trail was shipped to."""
        self._address = RecordsAddress(url, TIMEOUT_S)
        self._own = {"schema": sql.Identifier(checked(schema))}
        self.name: Final = f"{self._address.name} ({schema})"
        self.unread: Final[set[tuple[str, int, int]]] = set()
        try:
            self._db = connected(self._address, schema, TIMEOUT_S, reading=True)
        except psycopg.Error as error:
            raise TrailError(self._address.trouble(error)) from None

    def close(self) -> None:
        """Let go of the connection."""
        self._db.close()

    def chains(self) -> list[str]:
        """The chains, sorted by name."""
        return list(self.arrived())

    def arrived(self) -> dict[str, int]:
        """How far each chain has come."""
        return {chain: seq for chain, seq, _ in self._heads()}

    def heads(self) -> Iterator[tuple[str, bytes]]:
        """Each chain and its head as it was written; nothing for one whose head has not arrived."""
        return ((chain, head.encode()) for chain, _, head in self._heads())

    def follow(self) -> DatabaseFollower:
        """What sees the records that come from now on."""
        return DatabaseFollower(self)

    def forwards(
        self, progress: Progress | None = None, since: int = 0, until: int = FOREVER
    ) -> Iterator[FoundRecord]:
        """Records of a time, oldest first."""
        return self._found("forwards", progress, _span(since, until))

    def backwards(
        self, progress: Progress | None = None, since: int = 0, until: int = FOREVER
    ) -> Iterator[FoundRecord]:
        """Records of a time, newest first."""
        return self._found("backwards", progress, _span(since, until))

    def of_run(
        self, run: str, progress: Progress | None = None, since: int = 0, until: int = FOREVER
    ) -> Iterator[FoundRecord]:
        """Records of one run, newest first."""
        found = self._found("of_run", progress, {**_span(since, until), "run": _column(run)})
        return (one for one in found if one.stub.run_id == run)

    def of_kinds(
        self, kinds: tuple[str, ...], progress: Progress | None = None
    ) -> Iterator[FoundRecord]:
        """Records of some kinds, newest first."""
        return (one for one in self.backwards(progress) if one.stub.kind in kinds)

    def find(self, decision: str, progress: Progress | None = None) -> FoundRecord | None:
        """The decision with that id; the newest, where several have it."""
        found = self._found("find", progress, {"id": _column(decision)})
        return next(
            (one for one in found if one.stub.kind in DECISIONS and one.stub.id == decision), None
        )

    def at(self, chain: str, seq: int) -> FoundRecord | None:
        """The record with that number in a chain."""
        return next(self._found("at", None, {"chain": chain, "seq": seq}), None)

    def since(self, chain: str, seq: int, last: int) -> list[FoundRecord]:
        """Records of a chain behind a number, up to another; the first of them, where they are
        many."""
        return list(
            self._found("new", None, {"chain": chain, "seq": seq, "last": last, "most": MOST_NEW})
        )

    def _heads(self) -> list[tuple[Any, ...]]:
        try:
            return self._db.execute(_ARRIVED.format(**self._own)).fetchall()
        except psycopg.Error as error:
            raise TrailError(self._address.trouble(error)) from None

    def _found(
        self, query: str, progress: Progress | None, values: dict[str, Any]
    ) -> Iterator[FoundRecord]:
        """What a query finds, a few rows at a time."""
        total = sum(self.arrived().values()) + len(self.arrived()) if progress is not None else 0
        try:
            with (
                self._db.transaction(),
                self._db.cursor(name="stanchion_reading", binary=True) as rows,
            ):
                rows.execute(_QUERIES[query].format(**self._own), values)
                done = 0
                for batch in iter(lambda: rows.fetchmany(AT_A_TIME), []):
                    yield from (found for row in batch if (found := _of_row(row)) is not None)
                    done += len(batch)
                    if progress is not None:
                        progress(min(done, total), total)
        except psycopg.Error as error:
            raise TrailError(self._address.trouble(error)) from None


class DatabaseFollower:
    """Remembers how far each chain was read. What was there when it began is behind it."""

    def __init__(self, reader: DatabaseReader) -> None:
        self._reader = reader
        self._read = reader.arrived()
        self.unread = reader.unread

    def is_behind(self, found: FoundRecord) -> bool:
        """Whether a record was there when following began, so that it does not come again."""
        return found.stub.seq <= self._read.get(found.chain, -1)

    def new(self) -> list[FoundRecord]:
        """The records that came since the last look, oldest first."""
        each: list[list[FoundRecord]] = []
        for chain, last in self._reader.arrived().items():
            known = self._read.get(chain, -1)
            if last > known:
                came = self._reader.since(chain, known, last)
                self._read[chain] = came[-1].stub.seq if len(came) == MOST_NEW else last
                each.append(came)
        return list(heapq.merge(*each, key=lambda one: one.stub.at))


def _span(since: int, until: int) -> dict[str, Any]:
    """A span of time as rows have it; what is before it by less than their precision is left to the
    caller."""
    return {"since": moment_of(since), "until": moment_of(until)}


def _column(text: str) -> str:
    """A text as its column has it."""
    return text[:WIDEST].replace("\0", "\N{REPLACEMENT CHARACTER}")


def _of_row(row: tuple[Any, ...]) -> FoundRecord | None:
    chain, segment, digest, took, seal, body, mac, kept = row
    stub = read_stub(body) if is_text(body) and is_text(kept) else None
    line = SegmentLine(digest.hex(), took, seal, body, mac.hex(), kept)
    return None if stub is None else FoundRecord(chain, segment, NOWHERE, line, stub)
