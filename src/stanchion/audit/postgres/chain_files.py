"""What a chain's files hold that can be copied: whole records that are on the disk, from a place
on."""

from __future__ import annotations

import os
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple

import msgspec

from stanchion import typed
from stanchion.audit.chain_end import last_line
from stanchion.audit.chain_lock import is_written
from stanchion.audit.layout import HEAD, ChainHead, segment_file, segments
from stanchion.audit.notes import CHECKPOINT, ERASED, RETIRED, Checkpoint, Erased, SegmentsRetired
from stanchion.audit.record import GENESIS
from stanchion.audit.segment_scan import SegmentLine, Stub, parse_line, stub_of

# Records as rows: the exact bytes that are hashed, and beside them what people look for.

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


class Row(NamedTuple):
    """A record on its way to the database; where it is one, the heads that a checkpoint names, what
    is retired, and what is erased."""

    line: SegmentLine
    told: Stub
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
    told = stub_of(line)
    if told is None:
        return "it cannot be read"
    row = Row(line, told, segment, size)
    try:
        if told.kind == CHECKPOINT:
            return row._replace(heads=typed.decode(line.body, Checkpoint).heads)
        if told.kind == RETIRED:
            return row._replace(retires=typed.decode(line.body, SegmentsRetired).segments)
        if told.kind == ERASED:
            records = typed.decode(line.body, Erased).records
            erases = tuple((chain, *one) for chain, rows in records.items() for one in rows)
            return row._replace(erases=erases)
    except msgspec.MsgspecError:
        return "it cannot be read"
    return row


def columns_of(told: Stub) -> tuple[str, ...]:
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


def moment_of(at: int) -> datetime:
    """Milliseconds since 1970 as the database has them; what is out of reach is put at its end."""
    return _EPOCH + timedelta(milliseconds=min(max(at, 0), _LATEST))


class Position(NamedTuple):
    """A place in a chain: the segment and byte behind a record, its number and hash."""

    segment: int
    offset: int
    seq: int
    hash: str


START: Final = Position(0, 0, -1, GENESIS)


class Sealed(NamedTuple):
    """A chain's head, as its file spells it and as it is read."""

    text: str
    head: ChainHead


class Bad(NamedTuple):
    """A line that is not what follows: the number it should have, why it does not, and its
    bytes."""

    seq: int
    why: str
    line: bytes


class ShippedBatch(NamedTuple):
    """Records in their order, and the place behind them; and the line that did not follow, if there
    is one."""

    rows: list[Row]
    behind: Position
    bad: Bad | None = None

    def before(self, index: int, start: Position) -> ShippedBatch:
        """The part of it before one of its records; `start` is the place before all of them."""
        if index == 0:
            return ShippedBatch([], start)
        rows = self.rows[:index]
        last = rows[-1]
        offset = start.offset if last.segment == start.segment else 0
        offset += sum(row.size for row in rows if row.segment == last.segment)
        return ShippedBatch(rows, Position(last.segment, offset, last.told.seq, last.line.hash))


class Another(Exception):
    """A chain has another record than the one that was copied; `line` is that record as its file
    has it."""

    def __init__(self, seq: int, line: bytes) -> None:
        super().__init__(seq)
        self.seq: Final = seq
        self.line: Final = line


def sealed(chain: Path) -> Sealed | None:
    """A chain's head; `None` where there is none that can be read."""
    try:
        text = (chain / HEAD).read_bytes().removesuffix(b"\n")
        return Sealed(text.decode("ascii"), typed.decode(text, ChainHead))
    except (OSError, UnicodeDecodeError, msgspec.MsgspecError):
        return None


def find(chain: Path, copied: Position) -> Position:
    """Where to go on behind the last record that was copied, as this chain's files have it now.

    Raises `Another` where they have a different one under its number. Where it is not in its
    segment any more, the place is where it was.
    """
    if copied.seq < 0:
        return copied
    try:
        with segment_file(chain, copied.segment).open("rb") as file:
            mark = b'{"hash":"%b",' % copied.hash.encode()
            if last_line(file, copied.offset).startswith(mark):
                return copied
            file.seek(0)
            at = 0
            for text in file:
                at += len(text)
                if text.startswith(mark):
                    return copied._replace(offset=at)
                row = row_of(text.removesuffix(b"\n"), copied.segment)
                if isinstance(row, Row) and row.told.seq == copied.seq:
                    raise Another(copied.seq, text.removesuffix(b"\n"))
    except FileNotFoundError:
        pass
    return copied


def read(
    chain: Path, place: Position, head: ChainHead, most_bytes: int, tail: bool = False
) -> ShippedBatch:
    """The records behind a place, up to the head or to so many bytes.

    With `tail` also whole records that a crash left behind the head, unless somebody writes the
    chain.
    """
    rows: list[Row] = []
    numbers = segments(chain)
    for number in numbers:
        if number < place.segment or (number > head.segment and not tail):
            continue
        jumps = number > max(place.segment, 1) and number - 1 not in numbers
        offset = place.offset if number == place.segment else 0
        while data := _segment(chain, number, offset, head, most_bytes, tail):
            more = _followed(data, place._replace(segment=number, offset=offset), jumps)
            rows, place, most_bytes = rows + more.rows, more.behind, most_bytes - len(data)
            if more.bad is not None:
                return ShippedBatch(
                    rows, place, None if tail and more.bad.seq > head.seq else more.bad
                )
            if most_bytes <= 0:
                return ShippedBatch(rows, place)
            offset, jumps = place.offset, False
    return ShippedBatch(rows, place)


def _segment(
    chain: Path, number: int, offset: int, head: ChainHead, most: int, tail: bool
) -> bytes:
    """Whole lines of a segment that may be copied."""
    end = head.offset if number == head.segment and not tail else None
    try:
        with segment_file(chain, number).open("rb") as file:
            data = _lines(file, offset, end, most)
            if data and tail:
                if is_written(chain):
                    return b""
                # Nobody has waited for these: lost with the power, their numbers would be given to
                # others.
                os.fsync(file.fileno())
            return data
    except FileNotFoundError:
        return b""


def left_behind(chain: Path, place: Position, head: ChainHead) -> bool:
    """Whether there is more in a chain's files than its head says, and than was copied: what a
    crash leaves.

    Zeros are nothing: room that the writer took, and did not use.
    """
    numbers = segments(chain)
    if head.closed or not numbers:
        return False
    segment, offset = max((place.segment, place.offset), (head.segment, head.offset))
    with segment_file(chain, numbers[-1]).open("rb") as file:
        file.seek(offset if segment == numbers[-1] else 0)
        return segment <= numbers[-1] and file.read(1) not in (b"", b"\0")


def unshipped(chain: Path, place: Position, head: ChainHead) -> int:
    """How many bytes of records stand between a place and the head."""
    size = 0
    with suppress(FileNotFoundError):
        for number in segments(chain):
            if place.segment <= number <= head.segment:
                end = (
                    head.offset
                    if number == head.segment
                    else segment_file(chain, number).stat().st_size
                )
                size += max(0, end - place.offset if number == place.segment else end)
    return size


def _lines(file: BinaryIO, offset: int, end: int | None, most: int) -> bytes:
    """Whole lines from a byte on: as many as fit, or one where it is longer."""
    file.seek(offset)
    left = (os.fstat(file.fileno()).st_size if end is None else end) - offset
    data = b""
    while left > 0 and (more := file.read(min(most, left))):
        data += more
        left -= len(more)
        if b"\n" in more:
            break
    return data[: data.rfind(b"\n") + 1]


def _followed(data: bytes, place: Position, jumps: bool) -> ShippedBatch:
    """The records in some lines, each following from the one before; up to one that does not."""
    rows: list[Row] = []
    for text in data.split(b"\n")[:-1]:
        row = row_of(text, place.segment)
        if isinstance(row, str):
            return ShippedBatch(rows, place, Bad(place.seq + 1, row, text))
        told = row.told
        follows = (told.seq, told.prev) == (place.seq + 1, place.hash)
        if not follows and not (jumps and not rows and told.seq > place.seq + 1):
            return ShippedBatch(
                rows, place, Bad(place.seq + 1, "it does not follow from the record before", text)
            )
        rows.append(row)
        place = Position(place.segment, place.offset + row.size, told.seq, row.line.hash)
    return ShippedBatch(rows, place)
