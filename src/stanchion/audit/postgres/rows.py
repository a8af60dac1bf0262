"""Records as rows: the exact bytes that are hashed, and beside them what people look for."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any, Final, NamedTuple

import msgspec

from stanchion import typed
from stanchion.audit.lines import Line, parse_line
from stanchion.audit.notes import CHECKPOINT, ERASED, RETIRED, Checkpoint, Erased, Retired

COLUMNS: Final = ("kind", "run", "id", "stage", "action", "tool", "agent", "task", "tenant")
"""The columns that repeat what a body says, as texts."""

TYPES: Final = (
    "text",
    "int8",
    "int4",
    "timestamptz",
    *["text"] * len(COLUMNS),
    "bytea",
    "int8",
    "text",
    "bytea",
    "bytea",
    "bytea",
)

WIDEST: Final = 256
"""How many characters of a text its column has: an index takes no long ones."""

TOOK: Final = b'"took":'
"""Before the number that only leading zeros could spell in another way."""
ZERO, COMMA = b"0,"

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LATEST: Final = 253_402_300_799_000
"""The last second of the year 9999, which is as far as dates go in Python."""

Values = tuple[Any, ...]
Heads = dict[str, tuple[int, str]]
Gone = tuple[int, int, int, str, str]


class Told(msgspec.Struct, frozen=True, gc=False):
    """What rows have of any record. `run` is a run's id; for a run's beginning it is all of it."""

    prev: str
    seq: int
    chain: str
    kind: str
    at: int
    id: str = ""
    run: Any = ""
    stage: str = ""
    action: str = ""
    tenant: str = "default"
    agent: str = ""
    task: str = ""
    tool: str = ""


class Row(NamedTuple):
    """A record on its way to the database; where it is one, the heads that a checkpoint names, what
    is retired, and what is erased."""

    line: Line
    told: Told
    segment: int
    size: int
    heads: Heads = {}  # noqa: RUF012 - never changed
    retires: tuple[Gone, ...] = ()
    erases: tuple[tuple[str, int, int], ...] = ()

    def values(self) -> Values:
        """The row as the table has it."""
        told, line = self.told, self.line
        where = (told.chain, told.seq, self.segment, moment_of(told.at))
        beside = (
            bytes.fromhex(line.hash),
            line.took_ns,
            line.seal,
            line.body,
            bytes.fromhex(line.mac),
            line.kept,
        )
        return (*where, *columns_of(told), *beside)


_told = typed.reader(Told).decode


def row_of(text: bytes, segment: int) -> Row | str:
    """The row of a line, or why it is no record that a writer wrote."""
    line = parse_line(text)
    if line is None or line.took_ns >= 1 << 63:
        return "it cannot be read"
    took = text.index(TOOK) + len(TOOK)
    if text[took] == ZERO and text[took + 1] != COMMA:
        return "its bytes are not in the form in which records are written"
    if sha256(line.body).hexdigest() != line.hash:
        return "its bytes do not match the hash written beside them"
    if not line.fits:
        return "its content does not match the hash in the record"
    size = len(text) + 1
    try:
        told = _told(line.body)
        if told.kind == CHECKPOINT:
            return Row(line, told, segment, size, heads=typed.decode(line.body, Checkpoint).heads)
        if told.kind == RETIRED:
            return Row(line, told, segment, size, retires=typed.decode(line.body, Retired).segments)
        if told.kind == ERASED:
            records = typed.decode(line.body, Erased).records
            erases = tuple((chain, *row) for chain, rows in records.items() for row in rows)
            return Row(line, told, segment, size, erases=erases)
        return Row(line, told, segment, size)
    except msgspec.MsgspecError:
        return "it cannot be read"


def columns_of(told: Told) -> tuple[str, ...]:
    """The columns of a record, in the order of `COLUMNS`."""
    run, agent, task, tenant = told.run, told.agent, told.task, told.tenant
    if type(run) is dict:
        agent, task, tenant = (str(run.get(name, "")) for name in ("agent", "task", "tenant"))
        run, tenant = run.get("id", ""), tenant if tenant else "default"
    texts = (told.kind, str(run), told.id, told.stage, told.action, told.tool, agent, task, tenant)
    for text in texts:
        if len(text) > WIDEST or "\0" in text:
            return tuple(
                [text[:WIDEST].replace("\0", "\N{REPLACEMENT CHARACTER}") for text in texts]
            )
    return texts


def told_of(body: bytes) -> Told | None:
    """What a body says; `None` where it is no record."""
    try:
        return _told(body)
    except msgspec.MsgspecError:
        return None


def moment_of(at: int) -> datetime:
    """Milliseconds since 1970 as the database has them; what is out of reach is put at its end."""
    return _EPOCH + timedelta(milliseconds=min(max(at, 0), _LATEST))
