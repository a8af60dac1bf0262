"""Finding the end of a chain that an earlier process wrote, and what a crash has left behind it."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

import msgspec

from stanchion.audit.heads import Head, read_head
from stanchion.audit.keys import Key
from stanchion.audit.layout import segment_file, segments
from stanchion.audit.lines import Line, parse_line

NEAR: Final = 1 << 20
"""How far before its end a line is looked for at first; few are longer."""


class Unfit(Exception):
    """A chain is not as its writer left it, so nobody goes on with it; `stanchion audit verify` says more."""


class End(NamedTuple):
    """Where a chain ends: segment and byte, the next record's number, the hash before it, how many bytes of an
    unfinished record follow, and when the segment began."""

    number: int
    offset: int
    seq: int
    hash: str
    cut: int
    began: int = 0


class Began(msgspec.Struct, frozen=True, gc=False):
    """When a record was written."""

    at: int


class Place(msgspec.Struct, frozen=True, gc=False):
    """What binds a record to its place."""

    prev: str
    seq: int
    chain: str


def end_of(folder: Path, key: Key | None) -> End:
    """The end of the chain in a folder. Reads what follows its head, and no more."""
    head = read_head(folder)
    if head is None or head.chain != folder.name:
        raise Unfit("its head is missing or cannot be read")
    if (key is None) != (not head.seal) or (key is not None and not key.fits(head.seal, head.text)):
        raise Unfit("its head is not sealed with this key")
    numbers = [number for number in segments(folder) if number >= head.segment]
    if not numbers or numbers != list(range(head.segment, head.segment + len(numbers))):
        raise Unfit("a segment is missing")
    end = End(head.segment, head.offset, head.seq + 1, head.hash, 0)
    for number in numbers:
        if end.cut:
            raise Unfit("a segment that is not the last one ends in the middle of a record")
        data = _behind(folder, number, head)
        end = _follow(data, end._replace(number=number, offset=head.offset if number == head.segment else 0))
    behind = end.cut or end.number != head.segment or end.offset != head.offset
    if head.closed and behind:
        raise Unfit("something was added after it was closed")
    return end._replace(began=_began(folder, end.number))


def _began(folder: Path, number: int) -> int:
    """When a segment began, by its first record; 0 where it has none yet."""
    with segment_file(folder, number).open("rb") as file:
        line = parse_line(file.readline(NEAR).rstrip(b"\n"))
    try:
        return 0 if line is None else msgspec.json.decode(line.body, type=Began).at
    except msgspec.MsgspecError:
        return 0


def _behind(folder: Path, number: int, head: Head) -> bytes:
    """What a segment holds behind the head; the record that the head names has to stand right before."""
    with segment_file(folder, number).open("rb") as file:
        if number != head.segment:
            return file.read()
        line = parse_line(last_line(file, head.offset))
        if line is None or line.hash != head.hash or not line.fits:
            raise Unfit("the record its head names is not there")
        file.seek(head.offset)
        return file.read()


def last_line(file: BinaryIO, end: int) -> bytes:
    """The line that ends before that byte, without its line feed; empty where none does."""
    near = NEAR
    while True:
        start = max(0, end - near)
        file.seek(start)
        data = file.read(end - start)
        if len(data) != end - start or not data.endswith(b"\n"):
            return b""
        before = data.rfind(b"\n", 0, -1)
        if before >= 0 or not start:
            return data[before + 1 : -1]
        near *= 4


def _follow(data: bytes, end: End) -> End:
    """Go on from a position through whole records that fit; the rest, if any, is what has to be cut."""
    at, seq, digest = 0, end.seq, end.hash
    while at < len(data):
        stop = data.find(b"\n", at)
        line = parse_line(data[at:stop]) if stop >= 0 else None
        if line is None or not _fits(line, seq, digest):
            break
        at, seq, digest = stop + 1, seq + 1, line.hash
    # What the writer had prepared and not used reads as zeros, and is nothing.
    return End(end.number, end.offset + at, seq, digest, len(data[at:].rstrip(b"\0")))


def _fits(line: Line, seq: int, prev: str) -> bool:
    try:
        place = msgspec.json.decode(line.body, type=Place)
    except msgspec.MsgspecError:
        return False
    return place.seq == seq and place.prev == prev and line.fits
