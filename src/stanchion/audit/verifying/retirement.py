"""Segments that are not there: retired by a record of their chain, or deleted."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping

from .diagnosis import raw_lines, sound_lines
from .files import ChainFiles
from .records import Record, mended, read
from .report import Deed, Fault
from .walk import Gap, RetirementNaming, Unsaid, Walk, WalkedSegment


def retired_before(files: ChainFiles) -> dict[int, RetirementNaming]:
    """The segments that a chain's records call retired, where some are not there: what to expect
    around them."""
    found: dict[int, RetirementNaming] = {}
    if files.numbers == tuple(range(1, len(files.numbers) + 1)):
        return found
    for place, line in raw_lines(files, lambda line: b'"retired"' in line):
        record = read(
            mended(line)
        )  # that an editor touched the lines is found in its place, and not here
        if isinstance(record, Record):
            found |= {
                entry.number: RetirementNaming(entry, record.seq, *place)
                for entry in record.body.retired
            }
    return found


def judge_gaps(walk: Walk, trusted: int) -> Iterator[Fault]:
    """Say which missing segments were not retired, and which retirements do not fit the chain.

    Only records up to `trusted` retire anything: whoever can append to a file could write the rest.
    Where the walk ended early nobody knows what else retires what is not there, so that alone is no
    fault then.
    """
    named: dict[int, RetirementNaming] = {}
    there = {segment.number: segment for segment in walk.segments}
    for naming in walk.namings:
        if naming.seq <= trusted:
            first = named.setdefault(naming.entry.number, naming)
            yield from _fits(walk, naming, first, there.get(naming.entry.number))
    for gap in walk.gaps:
        if gap.next_seq > gap.seq and walk.ended_early:
            yield from _judge_gap(walk, gap, {**walk.retired, **named}, sure=False)
        elif gap.next_seq > gap.seq:
            yield from _judge_gap(walk, gap, named, sure=True)


def _fits(
    walk: Walk, naming: RetirementNaming, first: RetirementNaming, there: WalkedSegment | None
) -> Iterator[Fault]:
    entry = naming.entry
    if first.entry != entry:
        yield _contradicted(walk, naming, f"record {first.seq} says something else about it")
    elif entry.number >= naming.number:
        yield _contradicted(walk, naming, "it was not finished then")
    elif there is not None and tuple(there) != tuple(entry):
        yield _contradicted(walk, naming, "it is still there and does not match")


def _judge_gap(
    walk: Walk, gap: Gap, named: dict[int, RetirementNaming], sure: bool
) -> Iterator[Fault]:
    """Go from the segment behind a gap to the one before it, from one retired segment to the
    next."""
    seq, prev = gap.next_seq, gap.next_prev
    for number in range(gap.last, gap.first - 1, -1):
        naming = named.get(number)
        if naming is None:
            fault = _deleted(walk, gap, number, seq, named)
            yield from [fault] if sure or fault.deed is Deed.REORDERED else []
            return
        entry = naming.entry
        if (entry.last + 1, entry.hash) != (seq, prev):
            yield from (
                [_contradicted(walk, naming, "what comes after it does not follow from it")]
                if sure
                else []
            )
            return
        seq, prev = entry.first, entry.prev
    if seq > gap.seq and gap.first > 1:
        said = (
            f"records {gap.seq} to {seq - 1}, which were before the retired segment "
            f"{gap.first}, are gone"
        )
        yield _gone(walk, gap.first - 1, gap.seq, said)
    elif sure and (seq, prev) != (gap.seq, gap.prev):
        yield _contradicted(walk, named[gap.first], "it does not follow from what comes before it")


def _deleted(
    walk: Walk, gap: Gap, number: int, behind: int, named: dict[int, RetirementNaming]
) -> Fault:
    before = max((each for each in named if gap.first <= each < number), default=None)
    first, seq = (
        (gap.first, gap.seq) if before is None else (before + 1, named[before].entry.last + 1)
    )
    what = f"segment {number}" if first == number else f"segments {first} to {number}"
    unsealed = next((naming.seq for naming in walk.namings if naming.entry.number == number), None)
    why = (
        "no record retires it"
        if unsealed is None
        else f"record {unsealed}, which retires it, comes after the head"
    )
    return _gone(walk, first, seq, f"{what} with records {seq} to {behind - 1} was deleted: {why}")


def _gone(walk: Walk, number: int, seq: int, said: str) -> Fault:
    """The fault of records that are not there; it is another one where the first of them stands
    elsewhere."""
    for place, record in sound_lines(walk.files):
        if record.seq == seq:
            said = f"record {seq} was moved out of segment {number}: it is at {place}"
            return walk.fault(Deed.REORDERED, said, seq, number)
    return walk.fault(Deed.DELETED, said, seq, number)


def _contradicted(walk: Walk, naming: RetirementNaming, why: str) -> Fault:
    said = f"record {naming.seq} says that segment {naming.entry.number} was retired, but {why}"
    return walk.fault(Deed.CONTRADICTED, said, naming.seq, naming.number, naming.line)


# Erasure: content that is not there is no fault where a record of the trail says that it was
# erased.

Rows = list[tuple[int, int]]


def judge_content(walks: Mapping[str, Walk], faulty: Mapping[str, Fault]) -> Iterator[Fault]:
    """Say of each chain which content is gone without a word, or is another; the first of it.

    Only what stands at or before a head erases anything: whoever can append to a file could write
    the rest.
    """
    said = {chain: _joined(rows) for chain, rows in _erased(walks, faulty).items()}
    for chain, walk in sorted(walks.items()):
        for unsaid in walk.unsaid:
            seq = _unexplained(unsaid, said.get(chain, []))
            if seq is not None:
                number, line = walk.line_of(seq) or (unsaid.number, unsaid.line)
                words = (
                    f"the content of record {seq} is gone, and no record says that it was erased"
                )
                deed = Deed.DELETED
                if unsaid.changed:
                    words = (
                        f"the content of record {seq} was changed: it does not match the hash "
                        f"in the record"
                    )
                    deed = Deed.EDITED
                yield walk.fault(deed, words, seq, number, line)
                break


def _erased(walks: Mapping[str, Walk], faulty: Mapping[str, Fault]) -> dict[str, Rows]:
    """What records say that can be trusted, by the chain that they speak of."""
    rows: defaultdict[str, Rows] = defaultdict(list)
    for name, walk in walks.items():
        trusted = max(walk.good_seal, -1 if walk.head is None else walk.head.seq)
        fault = faulty.get(name)
        if fault is not None and fault.seq is not None:
            trusted = min(trusted, fault.seq - 1)
        for erasure in walk.erasures:
            if erasure.seq <= trusted:
                rows[erasure.chain].append((erasure.first, erasure.last))
    return rows


def _joined(rows: Rows) -> Rows:
    """Rows in their order, none of which touches another."""
    joined: Rows = []
    for first, last in sorted(rows):
        if joined and first <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(joined[-1][1], last))
        else:
            joined.append((first, last))
    return joined


def _unexplained(unsaid: Unsaid, rows: Rows) -> int | None:
    """The first of some records in a row that no row of erased ones has."""
    at = bisect_right(rows, (unsaid.first, 1 << 62)) - 1
    if at < 0 or rows[at][1] < unsaid.first:
        return unsaid.first
    return None if rows[at][1] >= unsaid.last else rows[at][1] + 1
