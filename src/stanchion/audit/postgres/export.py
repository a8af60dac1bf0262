"""Records from the database back into the folder of a trail, byte for byte as they were written."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

import psycopg
from psycopg import sql

from stanchion.audit.layout import CHAIN, HEAD, segment_file
from stanchion.audit.postgres.chain_files import COLUMNS, columns_of, moment_of
from stanchion.audit.postgres.connections import Connection
from stanchion.audit.segment_scan import line_of, read_stub

AT_A_TIME: Final = 2_000
"""How many rows are fetched at a time."""

Progress = Callable[[int, int], None]
"""Hears how many records are read, of about how many."""

_CHAINS: Final = sql.SQL(
    "SELECT chain, head, shipped_seq + 1 FROM {schema}.audit_head "
    "UNION ALL SELECT DISTINCT chain, '', 0::bigint FROM {schema}.audit_record "
    "WHERE chain NOT IN (SELECT chain FROM {schema}.audit_head) ORDER BY chain"
)
"""All chains; also those of which there are records, though nothing says how far they have come."""

_RETIRED: Final = sql.SQL(
    "SELECT r.chain, r.segment, r.last_seq - r.first_seq + 1 FROM {schema}.audit_retired AS r "
    "JOIN {schema}.audit_head AS h USING (chain) WHERE r.by_seq <= h.head_seq AND NOT EXISTS ("
    "SELECT FROM {schema}.audit_record AS b WHERE b.kind = 'bypass' AND b.chain = r.chain "
    "AND b.seq BETWEEN r.first_seq AND r.last_seq)"
)
"""Segments that may be half removed already."""

_RECORDS: Final = sql.SQL(
    "SELECT seq, segment, hash, took, seal, body, mac, kept, at, {columns} FROM "
    "{schema}.audit_record WHERE chain = %s ORDER BY seq, at"
)
_EVIDENCE: Final = sql.SQL(
    "SELECT e.chain, e.seq, e.deed, e.why FROM {schema}.audit_evidence AS e "
    "JOIN {schema}.audit_head AS h USING (chain) WHERE h.stopped <> '' ORDER BY e.chain, e.at"
)


class Misfit(NamedTuple):
    """A row whose column says something else than the record in it."""

    chain: str
    segment: int
    seq: int
    column: str
    says: str
    record: str


class StopEvidence(NamedTuple):
    """What a chain's files had under a number, so that it is no longer shipped."""

    chain: str
    seq: int
    deed: str
    why: str


class Exported(NamedTuple):
    """What was written to a folder, and what the database knows beyond that.

    `misfits` has the first of each chain; `headless` are chains without a head, `strangers` names
    that no chain has.
    """

    records: int
    chains: tuple[str, ...]
    headless: tuple[str, ...]
    strangers: tuple[str, ...]
    misfits: tuple[Misfit, ...]
    evidence: tuple[StopEvidence, ...]


def export(db: Connection, schema: str, folder: Path, progress: Progress | None) -> Exported:
    """Write all chains into a folder that is empty, as they are at this moment; the folder is then
    a trail."""
    own = {"schema": sql.Identifier(schema)}
    db.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
    db.read_only = True
    with db.transaction():
        found = db.execute(_CHAINS.format(**own)).fetchall()
        gone = db.execute(_RETIRED.format(**own)).fetchall()
        evidence = tuple(StopEvidence(*row) for row in db.execute(_EVIDENCE.format(**own)))
        count = _Count(sum(row[2] for row in found) - sum(row[2] for row in gone), progress)
        skipped = {(chain, segment) for chain, segment, _ in gone}
        named = [(chain, head) for chain, head, _ in found if CHAIN.fullmatch(chain)]
        misfits: list[Misfit] = []
        for chain, head in named:
            misfits += _chain(db, own, folder / chain, head, skipped, count)
    return Exported(
        records=count.done,
        chains=tuple(chain for chain, _ in named),
        headless=tuple(chain for chain, head in named if not head),
        strangers=tuple(row[0] for row in found if not CHAIN.fullmatch(row[0])),
        misfits=tuple(misfits),
        evidence=evidence,
    )


class _Count:
    """Counts records for whoever wants to see progress."""

    def __init__(self, total: int, progress: Progress | None) -> None:
        self.done, self._total, self._progress = 0, max(0, total), progress

    def add(self, more: int) -> None:
        self.done += more
        if self._progress is not None:
            self._progress(min(self.done, self._total), self._total)


def _chain(
    db: Connection,
    own: dict[str, Any],
    folder: Path,
    head: str,
    skipped: set[tuple[str, int]],
    count: _Count,
) -> list[Misfit]:
    """Write one chain; gives the first row that does not fit its record."""
    folder.mkdir(mode=0o700)
    misfit = None
    columns = sql.SQL(", ").join(map(sql.Identifier, COLUMNS))
    with db.cursor(name="stanchion_export", binary=True) as rows:
        rows.execute(_RECORDS.format(columns=columns, **own), (folder.name,))
        for batch in iter(lambda: rows.fetchmany(AT_A_TIME), []):
            there = [row for row in batch if (folder.name, row[1]) not in skipped]
            for segment, lines in _by_segment(there):
                _append(segment_file(folder, segment), lines)
            if misfit is None:
                misfit = next(
                    (found for row in there if (found := _misfit(folder.name, row)) is not None),
                    None,
                )
            count.add(len(there))
    if head:
        _append(folder / HEAD, f"{head}\n".encode())
    return [] if misfit is None else [misfit]


def _by_segment(rows: list[tuple[Any, ...]]) -> Iterator[tuple[int, bytes]]:
    """The lines of some rows, those of one segment together as long as they follow one another."""
    lines: list[bytes] = []
    last = 0
    for _, segment, digest, took, seal, body, mac, kept, *_ in rows:
        if lines and segment != last:
            yield last, b"".join(lines)
            lines = []
        last = segment
        lines.append(line_of(body, digest.hex(), took, mac.hex(), seal, kept))
    if lines:
        yield last, b"".join(lines)


def _append(path: Path, data: bytes) -> None:
    with open(path, "ab", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        file.write(data)


def _misfit(chain: str, row: tuple[Any, ...]) -> Misfit | None:
    seq, segment, _, _, _, body, _, _, at, *columns = row
    told = read_stub(body)
    if told is None:
        return None
    expected = (told.seq, moment_of(told.at), *columns_of(told))
    for name, says, record in zip(
        ("seq", "at", *COLUMNS), (seq, at, *columns), expected, strict=True
    ):
        if says != record:
            return Misfit(chain, segment, told.seq, name, _shown(says), _shown(record))
    return None


def _shown(value: object) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)
