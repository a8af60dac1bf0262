"""The verdict on one chain by its own files: its first fault, and what is worth knowing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Final

from .diagnosis import diagnose, sound_lines, those
from .heads import HeadFile, VerifiedHead
from .report import Deed, Fault
from .retirement import judge_gaps
from .seals import INSTALL, RATCHET, SealKey, SealVerdict
from .walk import BadMark, Walk

# Epochs of a key that ratchets: each begins once, and the next follows; which of them a trail does
# not have.


def unproven(walks: Iterable[Walk], key: SealKey | None) -> Iterator[str]:
    """Say which epochs are nowhere in the trail, and which begin twice.

    Whoever finds a key on the machine seals with it from then on, and could put such records in the
    place of earlier
    ones: then the epochs of those are missing.
    """
    if key is None or key.algorithm != RATCHET or key.epoch:
        return
    began = Counter(number for walk in walks for number in walk.epochs)
    missing = [number for number in range(max(began, default=-1) + 1) if number not in began]
    spans = [list(span) for _, span in groupby(enumerate(missing), lambda one: one[1] - one[0])]
    for span in spans:
        first, last = span[0][1], span[-1][1]
        which = (
            f"epoch {first} of the key is"
            if first == last
            else f"epochs {first} to {last} of the key are"
        )
        yield (
            f"not proven: {which} nowhere in this trail. Possible reasons: another trail has them, "
            f"they were pruned, a "
            "process died before it wrote, or somebody with a later key replaced what was there"
        )
    twice = sorted(number for number, count in began.items() if count > 1)
    if twice:
        listed = ", ".join(map(str, twice))
        yield (
            f"not proven: the key was put back to an earlier one, because epoch {listed} begins "
            "more than once: whoever had it then could have written everything sealed since"
        )


# Records that do not bear the mac of the key: written by somebody else, or changed since.


def mac_fault(walk: Walk, bad: BadMark, vouched: int, head: SealVerdict | None) -> Fault:
    """Say what a record is that does not bear the mac of the key.

    `vouched` is the last record that a seal of the key stands behind, `head` what the seal of the
    head is. A writer with a shared secret checks what it goes on from, so its seals stand behind
    all that is before; one with a key that ratchets cannot, and seals only what it wrote.
    """
    seq, missing = bad.seq, bad.verdict is SealVerdict.MISSING
    proven = walk.key is not None and walk.key.algorithm != RATCHET and vouched >= seq
    other = SealVerdict.OTHER_KEY in (bad.verdict, head if missing else None)
    if other and not proven:
        deed = Deed.REWRITTEN
        said = (
            f"record {seq} was written with another key: the chain was rewritten from there on, or "
            f"the key is wrong"
        )
    elif proven:
        deed, what = (Deed.UNSEALED, "removed") if missing else (Deed.RESEALED, "changed")
        said = f"the mac of record {seq} was {what}"
    elif missing and not _is_sealed(walk):
        deed = Deed.UNSEALED
        said = (
            f"record {seq} has no mac: the chain was written without the key, or rewritten "
            f"without it"
        )
    else:
        what = "it has no mac" if missing else "its mac does not match"
        deed = Deed.FORGED
        said = f"record {seq} was not written by somebody who had the key: {what}"
    return walk.fault(deed, said, seq, bad.number, bad.line)


def _is_sealed(walk: Walk) -> bool:
    """Whether anything in a chain bears a seal."""
    return walk.sealed > 0 or (walk.head is not None and walk.head.seal is not None)


NEWBORN = 2
"""With how many records a chain may be before it has a head: the segment begins, a process takes
the chain."""


def first_fault(walk: Walk, file: HeadFile) -> Fault | None:
    """The first thing that is wrong with a chain, by the number of the record that is bad; None for
    a whole chain."""
    head = walk.head
    sealing = None if head is None or walk.key is None else walk.key.judge(head.seal, head.sealed)
    vouched = walk.good_seal
    if head is not None and sealing is SealVerdict.FITS and _meets(walk, head):
        vouched = max(vouched, head.seq)
    found = [] if walk.broken is None else [walk.broken]
    if walk.stop is not None:
        found.append(diagnose(walk, walk.stop))
    gaps = list(judge_gaps(walk, max(walk.good_seal, -1 if head is None else head.seq)))
    if walk.bad_mac is not None:
        found.append(mac_fault(walk, walk.bad_mac, -1 if gaps else vouched, sealing))
    if walk.bad_seal is not None:
        found.append(_seal_fault(walk, walk.bad_seal, -1 if gaps else vouched))
    found += gaps
    if not found:
        found += _head_faults(walk, file, sealing)
    return min(found, key=lambda fault: -1 if fault.seq is None else fault.seq, default=None)


def _meets(walk: Walk, head: VerifiedHead) -> bool:
    return walk.head_ends is not None and walk.head_ends[2] == head.hash


_UNCHECKED: Final = (
    Deed.UNVERIFIED,
    f"the seal of checkpoint {{seq}} cannot be checked here: {INSTALL}",
)
_NO_SEALS: Final = (
    Deed.UNSEALED,
    "checkpoint {seq} has no seal: the chain was written without the key, or rewritten without it",
)
_SEALS: Final = {
    SealVerdict.UNCHECKED: (_UNCHECKED, _UNCHECKED),
    SealVerdict.MISSING: (
        (Deed.UNSEALED, "the seal of checkpoint {seq} was removed"),
        (
            Deed.REWRITTEN,
            "checkpoint {seq} has no seal, and neither do later ones: the chain was rewritten up "
            "to it",
        ),
    ),
    SealVerdict.OTHER_KEY: (
        (Deed.RESEALED, "checkpoint {seq} is sealed with another key"),
        (
            Deed.REWRITTEN,
            "checkpoint {seq} is sealed with another key: the chain was rewritten up to it, or the "
            "key is wrong",
        ),
    ),
    SealVerdict.WRONG: (
        (Deed.RESEALED, "the seal of checkpoint {seq} was changed"),
        (
            Deed.REWRITTEN,
            "the chain was rewritten up to checkpoint {seq}: its seal does not match",
        ),
    ),
}
"""What is said of a checkpoint's seal: where the checkpoint is vouched for otherwise, and where
not."""


def _seal_fault(walk: Walk, bad: BadMark, vouched: int) -> Fault:
    """A checkpoint without a seal of the key. What its own mac, or a later seal, vouches for was
    not rewritten."""
    marked = (
        walk.key is not None
        and walk.key.marks
        and (walk.bad_mac is None or walk.bad_mac.seq > bad.seq)
    )
    seq, genuine = bad.seq, vouched >= bad.seq or walk.key is None or marked
    verdict = bad.verdict
    if verdict is SealVerdict.MISSING and not genuine and not _is_sealed(walk):
        deed, said = _NO_SEALS
    else:
        deed, said = _SEALS[verdict if verdict in _SEALS else SealVerdict.WRONG][not genuine]
    said = said.format(seq=seq)
    if deed is Deed.REWRITTEN and walk.good_seal >= 0:
        said += f"; up to checkpoint {walk.good_seal} it is sealed"
    return walk.fault(deed, said, seq, bad.number, bad.line)


def _head_faults(walk: Walk, file: HeadFile, sealing: SealVerdict | None) -> Iterator[Fault]:
    """What is wrong with a head, or with a chain that is whole in itself but not the one its head
    names."""
    head, last, chain = walk.head, walk.seq - 1, walk.files.chain
    if file.raw is None:
        said = f"the head is gone: the chain has {last + 1} records"
        yield from [walk.fault(Deed.HEADLESS, said, last)] if walk.records > NEWBORN else []
    elif head is None:
        yield walk.fault(Deed.UNREADABLE, f"the head cannot be read: {file.why}", None)
    elif head.chain != chain:
        yield walk.fault(Deed.SPLICED, f"the head belongs to chain {head.chain}", head.seq)
    elif sealing is not None and sealing not in (SealVerdict.FITS, SealVerdict.EARLIER):
        yield walk.fault(*_head_seal(sealing, walk), head.seq)
    else:
        yield from _missed(walk, head, last)


def _head_seal(sealing: SealVerdict, walk: Walk) -> tuple[Deed, str]:
    behind = f"after checkpoint {walk.good_seal} " if walk.good_seal >= 0 else ""
    since = f"records {behind}may be gone or rewritten"
    match sealing:
        case SealVerdict.UNCHECKED:
            return Deed.UNVERIFIED, f"the seal of the head cannot be checked here: {INSTALL}"
        case SealVerdict.MISSING:
            return Deed.UNSEALED, f"the head has no seal: {since}"
        case SealVerdict.WRONG:
            return (
                Deed.EDITED,
                f"the head was edited: its seal does not match what it says, and {since}",
            )
        case _:
            return Deed.RESEALED, f"the seal of the head was not made with the key: {since}"


def _missed(walk: Walk, head: VerifiedHead, last: int) -> Iterator[Fault]:
    """A readable head that its seal, if there is a key, fits: does the chain fit it?"""
    sealed, ends = walk.key is not None, walk.head_ends
    if not _meets(walk, head):
        moved = not sealed and any(
            record.hash == head.hash for _, record in sound_lines(walk.files)
        )
        yield _other(walk, head, last, moved)
    elif ends is not None and not sealed and ends[:2] != (head.segment, head.offset):
        said = (
            f"the head was edited, or a `took` before it: record {head.seq} ends at byte {ends[1]} "
            f"of segment {ends[0]}, but the head says byte {head.offset} of segment {head.segment}"
        )
        yield walk.fault(Deed.EDITED, said, head.seq)
    elif head.closed and last > head.seq:
        number, line = walk.line_of(head.seq + 1) or (head.segment, None)
        said = (
            f"record {head.seq + 1} was added after record {head.seq}, with which the writer "
            f"closed the chain"
        )
        yield walk.fault(Deed.INSERTED, said, head.seq + 1, number, line)
    elif head.closed and walk.last_kind != "checkpoint":
        said = (
            f"the head was edited: it says that the chain is closed, but record {last} is not a "
            f"checkpoint"
        )
        yield walk.fault(Deed.EDITED, said, head.seq)


def _other(walk: Walk, head: VerifiedHead, last: int, moved: bool) -> Fault:
    """The fault where the record that a head names is not there, or is another."""
    if moved or (walk.head_ends is None and head.seq <= last):
        said = f"the head was edited: it names record {head.seq} with the hash of another"
        return walk.fault(Deed.EDITED, said, head.seq)
    if head.seq > last:
        said = f"{those(last + 1, head.seq, ' at the end, listed in the head,')} gone"
        if head.segment not in walk.files.numbers:
            said = f"segment {head.segment} was deleted: {said}"
            return walk.fault(Deed.DELETED, said, last + 1, head.segment)
        line = next((s.last - s.first + 2 for s in walk.segments if s.number == head.segment), 1)
        return walk.fault(Deed.TRUNCATED, said, last + 1, head.segment, line)
    number, line = walk.line_of(head.seq) or (head.segment, 1)
    since = f" after checkpoint {walk.good_seal}" if walk.good_seal >= 0 else ""
    said = f"record {head.seq} was rewritten{since}: the head names it with another hash"
    return walk.fault(Deed.REWRITTEN, said, head.seq, number, line)
