"""Walking along one chain, record by record, up to the first that does not follow from the one
before."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import islice
from typing import BinaryIO, Final, NamedTuple

from .files import HOLE, ChainFiles, Tick, batches, segment_name
from .heads import VerifiedHead
from .records import GENESIS, HOLDS, ContentState, Record, RetiredSegment, Unsound, once, read
from .report import Deed, Fault
from .seals import MacWalk, SealKey, SealVerdict, epoch_of, looks_like_seal

# What is noted on a walk along a chain.


class WalkedSegment(NamedTuple):
    """A segment as it was read: its number, its first and last record, and the hashes that bind
    it."""

    number: int
    first: int
    last: int
    prev: str
    hash: str


class Gap(NamedTuple):
    """Segments that are not there, between two that are: the record that should follow, and the one
    that does."""

    first: int
    last: int
    seq: int
    prev: str
    next_seq: int
    next_prev: str


class Stop(NamedTuple):
    """The first line that does not follow: where it is, its bytes, and the record that should stand
    there."""

    number: int
    line: int
    raw: bytes
    complete: bool
    seq: int
    prev: str
    why: str = ""
    """What is wrong with a record that does follow, but stands in the wrong place."""


class HeadClaim(NamedTuple):
    """What a checkpoint, a store or a witness says of a chain: it has that record, with that hash.
    `why` is what its own writer saw, who lost it."""

    chain: str
    seq: int
    hash: str
    by: str
    at: int
    why: str = ""


class RetirementNaming(NamedTuple):
    """A retired segment, and the record that names it."""

    entry: RetiredSegment
    seq: int
    number: int
    line: int


class Unsaid(NamedTuple):
    """Records in a row whose content is not there, or is another: their first and last number, and
    where the first stands."""

    first: int
    last: int
    number: int
    line: int
    changed: bool = False


class Erasure(NamedTuple):
    """Records of a chain that another record says were erased; `seq` is that one's number in its
    own chain."""

    chain: str
    first: int
    last: int
    seq: int


class BadMark(NamedTuple):
    """A checkpoint whose seal, or a record whose mac, is not one of the key."""

    seq: int
    number: int
    line: int
    verdict: SealVerdict


_NEVER: Final = b"\n"
_BESIDE: Final = re.compile(
    rb'\{"hash":"(.{64})"(?:,"mac":"([0-9a-f]{64})")?,"took":(?:0|[1-9][0-9]{0,18}),"body":',
    re.DOTALL,
).match
_PLAIN: Final = re.compile(
    rb'(?:intent|outcome|event|run|end|bypass)","at":(?:0|[1-9][0-9]{0,17}),'
).match


@dataclass(slots=True)
class Walk:
    """One walk along a chain: what it needs, and what it has seen when `along` returns."""

    files: ChainFiles
    head: VerifiedHead | None
    key: SealKey | None
    until: Mapping[tuple[str, int], int]
    """How long each segment was before anything was read: what was written later names what nobody
    has read."""
    retired: Mapping[int, RetirementNaming]
    """What records of the chain say of segments that are not there."""
    tick: Tick | None = None

    seq: int = 0
    prev: str = GENESIS
    segments: list[WalkedSegment] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)
    claims: dict[tuple[str, int, str], HeadClaim] = field(default_factory=dict)
    namings: list[RetirementNaming] = field(default_factory=list)
    unsaid: list[Unsaid] = field(default_factory=list)
    """Records of which nothing is there but the skeleton."""
    erasures: list[Erasure] = field(default_factory=list)
    stop: Stop | None = None
    broken: Fault | None = None
    checkpoints: int = 0
    sealed: int = 0
    bad_seal: BadMark | None = None
    bad_mac: BadMark | None = None
    earlier: int = 0
    """How many records are of epochs before those that the key can check."""
    epochs: list[int] = field(default_factory=list)
    """The epochs of the key that begin in it, by their numbers."""
    found: list[tuple[int, int]] = field(default_factory=list)
    """Records that a later writer found behind the head, and could not check."""
    good_seal: int = -1
    head_ends: tuple[int, int, str] | None = None
    """Segment and offset at which the record that the head names ends, and the hash it has."""
    last_kind: str = ""
    first_at: int | None = None
    last_line: bytes = b""
    size: int = 0
    left_over: int = 0
    """Bytes behind the last record that a crash left."""
    _first: int = 0
    _start_prev: str = GENESIS
    _offset: int = 0
    _size: int = 0
    _macs: MacWalk | None = None

    def fault(
        self, deed: Deed, said: str, seq: int | None, number: int = 0, line: int | None = None
    ) -> Fault:
        """A fault of this chain, in one of its segments, or in its head."""
        file = segment_name(number) if number else "head"
        return Fault(self.files.chain, file, line, seq, deed, said)

    @property
    def records(self) -> int:
        """How many records follow from one another."""
        return sum(segment.last - segment.first + 1 for segment in self.segments)

    @property
    def ended_early(self) -> bool:
        """Whether a bad record kept it from reading the rest."""
        return self.stop is not None or self.broken is not None

    def along(self) -> None:
        """Read all segments, or up to the first fault. Raises `OSError` for one that cannot be
        read."""
        if self.key is not None and self.key.marks:
            self._macs = MacWalk(self.key, self.files.chain)
        for number in self.files.numbers:
            with self.files.open(number) as file:
                going_on = self._segment(number, file)
            if not going_on:
                return

    def line_of(self, seq: int) -> tuple[int, int] | None:
        """The segment and line where a record stands that was walked past."""
        for segment in self.segments:
            if segment.first <= seq <= segment.last:
                return segment.number, seq - segment.first + 1
        return None

    def last_at(self) -> int | None:
        """The time of the last record."""
        record = read(self.last_line)
        return record.body.at if isinstance(record, Record) else None

    def _segment(self, number: int, file: BinaryIO) -> bool:
        self._offset, self._size = 0, os.fstat(file.fileno()).st_size
        head_seq = -1 if self.head is None else self.head.seq
        chain = self.files.chain.encode()
        wanted = _NEVER  # the first line of a file is always read with care
        going_on, line = True, b""
        for lines, complete in batches(file, self._read):
            for line in lines:
                quick = _quick(line, wanted) if complete else None
                if quick is not None:
                    self.last_kind = ""
                    found, mac, epoch = *quick, None
                else:
                    record = self._with_care(number, line, complete, self._offset == 0)
                    if record is None:
                        going_on = False
                        break
                    found, mac, epoch = record.hash, record.mac, record.body.epoch
                if self._macs is not None:
                    self._mark(number, self._macs.judge(self.seq, found, mac, epoch))
                self._offset += len(line) + 1
                if self.seq == head_seq:
                    self.head_ends = (number, self._offset, found)
                self.seq += 1
                self.prev = found
                wanted = b'{"v":3,"prev":"%b","seq":%d,"chain":"%b","kind":"' % (
                    found.encode(),
                    self.seq,
                    chain,
                )
                self.last_line = line
            if not going_on:
                break
        if self._offset:
            self.segments.append(
                WalkedSegment(number, self._first, self.seq - 1, self._start_prev, self.prev)
            )
        elif going_on and number != self.files.numbers[-1]:
            self._over_gap(number, Unsound("it is empty"))
            self.stop = Stop(number, 1, b"", False, self.seq, self.prev)
            return False
        return going_on

    def _mark(self, number: int, marking: SealVerdict) -> None:
        """Keep what is to be said of a record's mac."""
        if marking is SealVerdict.EARLIER:
            self.earlier += 1
        elif marking is not SealVerdict.FITS and self.bad_mac is None:
            self.bad_mac = BadMark(self.seq, number, self.seq - self._first + 1, marking)

    def _read(self, count: int) -> None:
        self.size += count
        if self.tick is not None:
            self.tick(count)

    def _with_care(self, number: int, line: bytes, complete: bool, begins: bool) -> Record | None:
        """A line that is not plain, read: it follows and is noted, or the walk ends before it."""
        record = read(line)
        if begins:
            self._over_gap(number, record)
        own = self.seq, self.prev, self.files.chain
        if (
            not complete
            or isinstance(record, Unsound)
            or (record.seq, record.prev, record.chain) != own
        ):
            if not self._is_left_over(number, line, complete, record):
                self.stop = Stop(number, self._line(begins), line, complete, self.seq, self.prev)
            return None
        why = _misplaced(record, number, begins)
        if why:
            self.stop = Stop(number, self._line(begins), line, complete, self.seq, self.prev, why)
        elif (
            begins
            and self.segments
            and self.segments[-1].number == number - 1
            and self.last_kind != "checkpoint"
        ):
            self.broken = self._unended(self.segments[-1])
        elif record.seal is not None and record.body.kind != "checkpoint":
            said = f"record {self.seq} has a seal, which only checkpoints have"
            self.broken = self.fault(Deed.INSERTED, said, self.seq, number, self._line(begins))
        if self.ended_early:
            return None
        if begins:
            self._first, self._start_prev = record.seq, record.prev
        if self.first_at is None:
            self.first_at = record.body.at
        self._note(number, record, self._line(begins), self._offset + len(line) + 1)
        return record

    def _line(self, begins: bool) -> int:
        return 1 if begins else self.seq - self._first + 1

    def _over_gap(self, number: int, record: Record | Unsound) -> None:
        """Behind segments that are not there, expect what is there, or else what a `retired` record
        says.

        Whether they may be gone is judged when all was read: what retires them stands behind them.
        """
        last = self.segments[-1].number if self.segments else 0
        if number == last + 1:
            return
        if self._macs is not None:
            self._macs.over_gap()
        seq, prev = self.seq, self.prev
        naming = self.retired.get(number - 1)
        begins = isinstance(record, Record) and record.body.number == number and record.seq > seq
        if (
            isinstance(record, Record)
            and begins
            and (naming is None or self._goes_on(number, record))
        ):
            self.seq, self.prev = record.seq, record.prev
        elif naming is not None and naming.entry.last >= seq:
            self.seq, self.prev = naming.entry.last + 1, naming.entry.hash
        self.gaps.append(Gap(last + 1, number - 1, seq, prev, self.seq, self.prev))

    def _goes_on(self, number: int, record: Record) -> bool:
        """Whether the second line of a segment follows from its first."""
        with self.files.open(number) as file:
            second = next(
                islice((line for lines, _ in batches(file) for line in lines), 1, None), b""
            )
        following = read(second)
        return isinstance(following, Record) and following.prev == record.hash

    def _is_left_over(
        self, number: int, line: bytes, complete: bool, record: Record | Unsound
    ) -> bool:
        """Whether a bad line is what a crash leaves: behind the head, at the end, cut off or full
        of zeros."""
        sealed = self.head is not None and (self.head.closed or self.head.seq >= self.seq)
        torn = not complete or (isinstance(record, Unsound) and HOLE in line)
        if sealed or not torn or number != self.files.numbers[-1]:
            return False
        self.left_over = self._size - self._offset
        return True

    def _unended(self, last: WalkedSegment) -> Fault:
        said = (
            f"segment {last.number} ends with record {last.last}, and not with a checkpoint as "
            f"it has to"
        )
        line = last.last - last.first + 1
        return self.fault(Deed.UNSEALED, said, last.last, last.number, line)

    def _note(self, number: int, record: Record, line: int, ends: int) -> None:
        """Keep what a record says of seals, of other chains and of retired segments."""
        self.last_kind = record.body.kind
        self.namings += [
            RetirementNaming(entry, record.seq, number, line) for entry in record.body.retired
        ]
        if self.key is not None and record.body.epoch is not None:
            self.epochs += [
                epoch for epoch in (epoch_of(record.body.epoch, self.key),) if epoch is not None
            ]
        if record.body.found is not None:
            self.found.append(record.body.found)
        for lost in (
            record.body.lost if ends <= self.until.get((self.files.chain, number), 0) else ()
        ):
            claim = HeadClaim(
                lost.chain, lost.seq, lost.hash, self.files.chain, record.seq, lost.why
            )
            self.claims.setdefault(claim[:3], claim)
        self.erasures += [Erasure(*row, record.seq) for row in record.body.erased]
        if record.apart in (ContentState.GONE, ContentState.WRONG):
            self._miss(
                Unsaid(record.seq, record.seq, number, line, record.apart is ContentState.WRONG)
            )
        if record.body.kind != "checkpoint":
            return
        self.checkpoints += 1
        self.sealed += record.seal is not None
        sealing = self._sealing(record)
        if sealing is not None and sealing not in (SealVerdict.FITS, SealVerdict.EARLIER):
            if self.bad_seal is None:
                self.bad_seal = BadMark(record.seq, number, line, sealing)
            return
        if sealing is SealVerdict.FITS:
            self.good_seal = record.seq
        if ends <= self.until.get((self.files.chain, number), 0):
            for named in record.body.heads:
                self.claims.setdefault(named, HeadClaim(*named, self.files.chain, record.seq))

    def _miss(self, one: Unsaid) -> None:
        last = self.unsaid[-1] if self.unsaid else None
        if last is not None and (last.last, last.changed) == (one.first - 1, one.changed):
            self.unsaid[-1] = last._replace(last=one.last)
        else:
            self.unsaid.append(one)

    def _sealing(self, record: Record) -> SealVerdict | None:
        if self.key is not None:
            return self.key.judge(record.seal, f"checkpoint:{record.chain}:{record.hash}")
        return None if record.seal is None or looks_like_seal(record.seal) else SealVerdict.NO_SEAL


def _misplaced(record: Record, number: int, begins: bool) -> str:
    """Why a record that follows from the one before it stands in the wrong file; empty where it
    does not."""
    if begins and record.body.number != number:
        return f"it is at the beginning of segment {number}, where it was not written"
    if not begins and record.body.kind == "segment":
        return (
            f"segment {record.body.number} should begin with it, but it is in the middle of "
            f"segment {number}"
        )
    return ""


def _quick(line: bytes, wanted: bytes) -> tuple[str, str | None] | None:
    """The hash and mac of a plain record that begins as is wanted; None for a line that is to be
    read with care."""
    beside = _BESIDE(line)
    if beside is None or not line.startswith(wanted, beside.end()):
        return None
    plain = _PLAIN(line, beside.end() + len(wanted))
    if plain is None or not line.endswith(b"}}"):
        return None
    holds = HOLDS(line, plain.end())
    ends = -1 if holds is None else holds.end()
    body = line[beside.end() : ends]
    if holds is not None and holds[1] != sha256(line[ends + 8 : -1]).hexdigest().encode():
        return None
    found = sha256(body).hexdigest()
    if beside[1] != found.encode() or not once(body, plain.end() - beside.end()):
        return None
    return found, None if beside[2] is None else beside[2].decode()
