"""What was done at the first bad place of a chain, told by what stands around it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from .files import ChainFiles, batches
from .heads import VerifiedHead
from .records import Record, Unsound, mended, read
from .report import Deed, Fault
from .walk import RetirementNaming, Stop, Walk


class ChainLine(NamedTuple):
    """A line of a chain."""

    number: int
    line: int

    def __str__(self) -> str:
        return f"line {self.line} of segment {self.number}"


@dataclass(slots=True)
class Clues:
    """What the rest of the chain tells about a bad line."""

    next: Record | None = None
    """The next record behind it that is one."""
    at_expected: ChainLine | None = None
    """Where the record stands that should stand there."""
    twin: ChainLine | None = None
    """Where the same record stands again."""
    namesake: tuple[ChainLine, Record] | None = None
    """Another record with the same number, before it if there is one."""
    has_child: bool = False
    """Whether a record behind it follows from it."""
    lowest: int | None = None
    """The lowest number, from the expected one on, that stands there or behind it."""


def raw_lines(
    files: ChainFiles, wanted: Callable[[bytes], bool]
) -> Iterator[tuple[ChainLine, bytes]]:
    """All complete lines of a chain's files that are wanted; files that cannot be read are left
    out."""
    for number in files.numbers:
        try:
            with files.open(number) as file:
                lines = (raw for batch, complete in batches(file) if complete for raw in batch)
                for line, raw in enumerate(lines, 1):
                    if wanted(raw):
                        yield ChainLine(number, line), raw
        except OSError:
            continue


def sound_lines(files: ChainFiles) -> Iterator[tuple[ChainLine, Record]]:
    """All records of the chain in its files whose hashes fit, wherever they stand."""
    for place, raw in raw_lines(files, bool):
        record = read(raw)
        if isinstance(record, Record) and record.chain == files.chain:
            yield place, record


def clues_of(files: ChainFiles, stop: Stop, bad: Record | Unsound) -> Clues:
    """Read a chain's files once more and note what tells about the bad line."""
    clues = Clues()
    here = ChainLine(stop.number, stop.line)
    sound = bad if isinstance(bad, Record) else None
    for place, record in sound_lines(files):
        if place >= here and record.seq >= stop.seq:
            clues.lowest = record.seq if clues.lowest is None else min(clues.lowest, record.seq)
        if place == here:
            continue
        if place > here and clues.next is None:
            clues.next = record
        if place > here and record.seq == stop.seq and clues.at_expected is None:
            clues.at_expected = place
        if sound is None:
            continue
        if record.hash == sound.hash:
            clues.twin = place
        elif record.seq == sound.seq and clues.namesake is None:
            clues.namesake = place, record
        clues.has_child |= place > here and record.prev == sound.hash
    return clues


def diagnose(walk: Walk, stop: Stop) -> Fault:
    """Say what was done at the place where a walk came to a stop."""
    files, head = walk.files, walk.head
    bad = read(stop.raw)
    clues = clues_of(files, stop, bad)
    if not stop.complete:
        bad = Unsound("it is cut off")
    if isinstance(bad, Unsound):
        follows = _is_next(stop, clues.next, walk.retired.get(stop.number + 1))
        place, seq, deed, said = _unsound(
            stop, bad, clues, follows, -1 if head is None else head.seq
        )
    elif bad.chain != files.chain:
        said = (
            f"record {bad.seq} of chain {bad.chain} is where record {stop.seq} of this chain "
            f"belongs"
        )
        place, seq, deed = ChainLine(stop.number, stop.line), stop.seq, Deed.SPLICED
    elif stop.why:
        place, seq, deed, said = _misplaced(stop, clues)
    else:
        place, seq, deed, said = _unlinked(stop, bad, clues, head)
        if seq == stop.seq - 1 and deed is Deed.EDITED:
            place = ChainLine(*(walk.line_of(seq) or place))
    return walk.fault(deed, said, seq, *place)


def _named(head: VerifiedHead | None, record: Record) -> bool:
    return head is not None and (head.seq, head.hash) == (record.seq, record.hash)


def _is_next(stop: Stop, next_: Record | None, naming: RetirementNaming | None) -> bool:
    """Whether the record that should stand at a bad line stands right behind it, or stood there and
    was retired."""
    follows = next_ is not None and (next_.seq, next_.prev) == (stop.seq, stop.prev)
    return follows or (
        naming is not None and (naming.entry.first, naming.entry.prev) == (stop.seq, stop.prev)
    )


def _unsound(
    stop: Stop, bad: Unsound, clues: Clues, follows: bool, sealed: int
) -> tuple[ChainLine, int, Deed, str]:
    """A line that is no record, or not any more."""
    here, seq = ChainLine(stop.number, stop.line), stop.seq
    if follows:
        said = f"the line before record {seq} was inserted: {bad.why}"
        return here, seq, Deed.INSERTED, said
    if not stop.complete and clues.next is None and sealed < seq:
        return (
            here,
            seq,
            Deed.INSERTED,
            f"{len(stop.raw)} bytes were added after record {seq - 1}, which ends the chain",
        )
    last = sealed if clues.lowest is None else clues.lowest - 1
    if not stop.complete:
        said = f"segment {stop.number} was cut off inside {_records(seq, last)}"
        return here, seq, Deed.TRUNCATED, said
    gone = f", and {those(seq + 1, last, ' after it')} gone" if last > seq else ""
    if bad.hash:
        was_hash = clues.next is not None and (clues.next.seq, clues.next.prev) == (
            seq + 1,
            bad.hash,
        )
        why = "the hash beside it was changed" if was_hash else bad.why
        return here, seq, Deed.EDITED, f"record {seq} was edited: {why}{gone}"
    if isinstance(again := read(mended(stop.raw)), Record) and (again.seq, again.prev) == (
        seq,
        stop.prev,
    ):
        return here, seq, Deed.EDITED, f"record {seq} was edited: {bad.why}"
    if clues.next is None and sealed < seq:
        said = f"a line was inserted after record {seq - 1}, the last one: {bad.why}"
        return here, seq, Deed.INSERTED, said
    return here, seq, Deed.UNREADABLE, f"{_records(seq, last)} cannot be read: {bad.why}"


def _misplaced(stop: Stop, clues: Clues) -> tuple[ChainLine, int, Deed, str]:
    """A record that follows, but in the wrong file."""
    here, seq = ChainLine(stop.number, stop.line), stop.seq
    if clues.at_expected is not None:
        said = (
            f"a record {seq} was inserted before the one that was written, at {clues.at_expected}"
        )
        return here, seq, Deed.INSERTED, said
    return here, seq, Deed.REORDERED, f"record {seq} was moved: {stop.why}"


def _unlinked(
    stop: Stop, bad: Record, clues: Clues, head: VerifiedHead | None
) -> tuple[ChainLine, int, Deed, str]:
    """A record of this chain that does not follow from the one before it."""
    here, seq = ChainLine(stop.number, stop.line), stop.seq
    if clues.twin is not None:
        said = f"record {bad.seq} was duplicated: it is at {clues.twin} and again at {here}"
        return here, bad.seq, Deed.DUPLICATED, said
    if bad.seq < seq:
        return _second(stop, bad, clues, head)
    if bad.seq == seq:
        return _other_prev(stop, bad, clues, head)
    if clues.at_expected is None:
        last = seq if clues.lowest is None else clues.lowest - 1
        return (
            here,
            seq,
            Deed.DELETED,
            f"{those(seq, last, '', 'was', 'were')} deleted: record {bad.seq} follows",
        )
    if clues.namesake is not None:
        said = (
            f"a second record {bad.seq} is where record {seq} belongs: it is from another copy, or "
            f"made up"
        )
        return here, seq, Deed.SPLICED, said
    said = (
        f"record {seq} was moved: it is at {clues.at_expected}, and record {bad.seq} is where "
        f"it belongs"
    )
    return here, seq, Deed.REORDERED, said


def _second(
    stop: Stop, bad: Record, clues: Clues, head: VerifiedHead | None
) -> tuple[ChainLine, int, Deed, str]:
    """A record whose number was there before, with another hash: one of the two was never
    written."""
    here = ChainLine(stop.number, stop.line)
    if clues.namesake is not None and clues.namesake[1].prev == bad.prev:
        if clues.has_child or _named(head, bad):
            said = f"a record {bad.seq} was inserted before the one that the chain continues from"
            return clues.namesake[0], bad.seq, Deed.INSERTED, said
        said = f"a second record {bad.seq} was inserted, which nothing continues from"
        return here, bad.seq, Deed.INSERTED, said
    said = (
        f"a second record {bad.seq} is where record {stop.seq} belongs: it is from another "
        f"copy, or made up"
    )
    return here, stop.seq, Deed.SPLICED, said


def _other_prev(
    stop: Stop, bad: Record, clues: Clues, head: VerifiedHead | None
) -> tuple[ChainLine, int, Deed, str]:
    """The right number behind another hash: either this record is strange, or the one before was
    changed."""
    here, seq = ChainLine(stop.number, stop.line), stop.seq
    says = None if head is None else (head.seq, head.hash)
    goes_on = clues.has_child or _named(head, bad)
    denied = (
        clues.next is not None
        or says == (seq - 1, stop.prev)
        or (head is not None and head.seq == seq)
    )
    if clues.at_expected is not None or (denied and not goes_on):
        said = (
            f"another record {seq} has replaced the one that was written: it fits neither the "
            "record before nor the one after"
        )
        return here, seq, Deed.SPLICED, said
    if seq == 0:
        return (
            here,
            seq,
            Deed.REWRITTEN,
            "record 0 was rewritten: it names a record before it, and there is none",
        )
    said = (
        f"record {seq - 1} was edited and given a new hash: record {seq} still names the one it had"
    )
    return here, seq - 1, Deed.EDITED, said


def _records(first: int, last: int) -> str:
    return f"records {first} to {last}" if last > first else f"record {first}"


def those(first: int, last: int, more: str = "", is_: str = "is", are: str = "are") -> str:
    """Records by their numbers, and that they are something."""
    return f"{_records(first, last)}{more} {are if last > first else is_}"
