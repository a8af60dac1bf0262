"""Finding the end of a chain that an earlier process wrote, and what a crash has left behind it."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO, Final

from stanchion.audit.keys import TrailKey, is_mac, later_key, next_key
from stanchion.audit.layout import ChainHead, read_head, segment_file, segments
from stanchion.audit.segment_scan import SegmentLine, Stub, parse_line, stub_of
from stanchion.kernel.tuples import NamedTuple

NEAR: Final = 1 << 20
"""How far before its end a line is looked for at first; few are longer."""


class UnfitChain(Exception):
    """A chain is not as its writer left it, so nobody goes on with it; `stanchion audit verify`
    says more."""


class ChainEnd(NamedTuple):
    """Where a chain ends: segment and byte, the next record's number, the hash before it, how many
    bytes of an unfinished record follow, when the segment began, with which record its last epoch
    began, and what stands behind the head that could not be checked: the first and last number, and
    the hash of the last."""

    number: int
    offset: int
    seq: int
    hash: str
    cut: int
    began: int = 0
    since: int | None = None
    found: tuple[int, int, str] | None = None


class MacCheck:
    """Checks the macs of records behind a head, one after the other, with a key that can."""

    def __init__(self, key: TrailKey, chain: str, since: int, seq: int, first: bytes) -> None:
        self._key, self._chain, self.since = key, chain, since
        self._next: bytes | None = later_key(first, seq + 1 - since)

    @classmethod
    def behind(cls, head: ChainHead, key: TrailKey | None) -> MacCheck | None:
        """What checks the records behind a head; `None` where nobody here can."""
        first = None if key is None or head.since is None else key.again(head.chain, head.since)
        if key is None or head.since is None or first is None:
            return None
        return cls(key, head.chain, head.since, head.seq, first)

    def fits(self, line: SegmentLine, place: Stub) -> bool:
        """Whether the next record bears the mac of this key."""
        if place.epoch:
            self.since, self._next = place.seq, self._key.again(self._chain, place.seq)
        if self._next is None:
            return False
        fits = is_mac(self._next, line.hash, line.mac)
        self._next = next_key(self._next)
        return fits


def end_of(folder: Path, key: TrailKey | None) -> ChainEnd:
    """The end of the chain in a folder. Reads what follows its head, and no more.

    Records behind the head that a key can check have to bear its macs. Those that nobody here can
    check are gone on from, and named as not vouched for.
    """
    head = read_head(folder)
    if head is None or head.chain != folder.name:
        raise UnfitChain("its head is missing or cannot be read")
    if (key is None) != (not head.seal) or (
        key is not None and key.fits(head.seal, head.text) is False
    ):
        raise UnfitChain("its head is not sealed with this key")
    macs = MacCheck.behind(head, key)
    numbers = [number for number in segments(folder) if number >= head.segment]
    if not numbers or numbers != list(range(head.segment, head.segment + len(numbers))):
        raise UnfitChain("a segment is missing")
    end = ChainEnd(head.segment, head.offset, head.seq + 1, head.hash, 0)
    for number in numbers:
        if end.cut:
            raise UnfitChain("a segment that is not the last one ends in the middle of a record")
        data = _behind(folder, number, head)
        end = _follow(
            data,
            end._replace(number=number, offset=head.offset if number == head.segment else 0),
            macs,
        )
    behind = end.cut or end.number != head.segment or end.offset != head.offset
    if head.closed and behind:
        raise UnfitChain("something was added after it was closed")
    found = (
        (head.seq + 1, end.seq - 1, end.hash) if macs is None and end.seq > head.seq + 1 else None
    )
    since = head.since if macs is None else macs.since
    return end._replace(began=_began(folder, end.number), since=since, found=found)


def _began(folder: Path, number: int) -> int:
    """When a segment began, by its first record; 0 where it has none yet."""
    with segment_file(folder, number).open("rb") as file:
        first = stub_of(parse_line(file.readline(NEAR).rstrip(b"\n")))
    return 0 if first is None else first.at


def _behind(folder: Path, number: int, head: ChainHead) -> bytes:
    """What a segment holds behind the head; the record that the head names has to stand right
    before."""
    with segment_file(folder, number).open("rb") as file:
        if number != head.segment:
            return file.read()
        line = parse_line(last_line(file, head.offset))
        if line is None or line.hash != head.hash or not line.fits:
            raise UnfitChain("the record that its head names is missing")
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


def _follow(data: bytes, end: ChainEnd, macs: MacCheck | None) -> ChainEnd:
    """Go on from a position through whole records that fit; the rest, if any, is what has to be
    cut.

    A crash leaves an unfinished line, or pages of zeros. A whole line that does not follow was put
    or changed there.
    """
    at, seq, digest = 0, end.seq, end.hash
    while at < len(data):
        stop = data.find(b"\n", at)
        line = parse_line(data[at:stop]) if stop >= 0 else None
        place = stub_of(line)
        follows = place is not None and (place.seq, place.prev) == (seq, digest)
        if line is None or place is None or not follows or not line.fits:
            if stop >= 0 and b"\0" not in data[at:]:
                raise UnfitChain(
                    "after its head comes a record that does not follow from the one before"
                )
            break
        if macs is not None and not macs.fits(line, place):
            raise UnfitChain("after its head comes a record that does not have the key's mac")
        at, seq, digest = stop + 1, seq + 1, line.hash
    # What a crash keeps the file system from writing reads as zeros, and is nothing.
    return ChainEnd(end.number, end.offset + at, seq, digest, len(data[at:].rstrip(b"\0")))
