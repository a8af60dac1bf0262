"""The verdict on one chain by its own files: its first fault, and what is worth knowing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby

from .diagnosis import diagnose, sound_lines
from .files import segment_name
from .heads import HeadFile, VerifiedHead
from .report import Deed, Fault
from .retirement import judge_gaps
from .seals import INSTALL, RATCHET, Marking, SealKey, SealVerdict
from .walk import BadMac, BadSeal, Walk

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


def mac_fault(walk: Walk, bad: BadMac, vouched: int, head: SealVerdict | None) -> Fault:
    """Say what a record is that does not bear the mac of the key.

    `vouched` is the last record that a seal of the key stands behind, `head` what the seal of the
    head is. A writer with a shared secret checks what it goes on from, so its seals stand behind
    all that is before; one with a key that ratchets cannot, and seals only what it wrote.
    """
    seq, checks = bad.seq, walk.key is not None and walk.key.algorithm != RATCHET
    sealed = walk.sealed > 0 or (walk.head is not None and walk.head.seal is not None)
    other = bad.marking is Marking.OTHER_KEY or (
        bad.marking is Marking.MISSING and head is SealVerdict.OTHER_KEY
    )
    if other and not (checks and vouched >= seq):
        deed = Deed.REWRITTEN
        said = (
            f"record {seq} was written with another key: the chain was rewritten from there on, or "
            f"the key is wrong"
        )
    elif checks and vouched >= seq and bad.marking is Marking.MISSING:
        deed, said = Deed.UNSEALED, f"the mac of record {seq} was removed"
    elif checks and vouched >= seq:
        deed, said = Deed.RESEALED, f"the mac of record {seq} was changed"
    elif bad.marking is Marking.MISSING and not sealed:
        deed = Deed.UNSEALED
        said = (
            f"record {seq} has no mac: the chain was written without the key, or rewritten "
            f"without it"
        )
    elif bad.marking is Marking.MISSING:
        deed, said = (
            Deed.FORGED,
            f"record {seq} was not written by somebody who had the key: it has no mac",
        )
    else:
        deed, said = (
            Deed.FORGED,
            f"record {seq} was not written by somebody who had the key: its mac does not match",
        )
    return Fault(walk.files.chain, segment_name(bad.number), bad.line, seq, deed, said)


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
    found = [] if walk.fault is None else [walk.fault]
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


def _seal_fault(walk: Walk, bad: BadSeal, vouched: int) -> Fault:
    """A checkpoint without a seal of the key. What its own mac, or a later seal, vouches for was
    not rewritten."""
    marked = (
        walk.key is not None
        and walk.key.marks
        and (walk.bad_mac is None or walk.bad_mac.seq > bad.seq)
    )
    seq, genuine = bad.seq, vouched >= bad.seq or walk.key is None or marked
    sealed = walk.sealed > 0 or (walk.head is not None and walk.head.seal is not None)
    match bad.sealing:
        case SealVerdict.UNCHECKED:
            deed, said = (
                Deed.UNVERIFIED,
                f"the seal of checkpoint {seq} cannot be checked here: {INSTALL}",
            )
        case SealVerdict.MISSING if genuine:
            deed, said = Deed.UNSEALED, f"the seal of checkpoint {seq} was removed"
        case SealVerdict.MISSING if not sealed:
            deed = Deed.UNSEALED
            said = (
                f"checkpoint {seq} has no seal: the chain was written without the key, or "
                f"rewritten without it"
            )
        case SealVerdict.MISSING:
            deed = Deed.REWRITTEN
            said = (
                f"checkpoint {seq} has no seal, and neither do later ones: the chain was "
                f"rewritten up to it"
            )
        case SealVerdict.OTHER_KEY if genuine:
            deed, said = Deed.RESEALED, f"checkpoint {seq} is sealed with another key"
        case SealVerdict.OTHER_KEY:
            deed = Deed.REWRITTEN
            said = (
                f"checkpoint {seq} is sealed with another key: the chain was rewritten up to "
                f"it, or the key is wrong"
            )
        case _ if genuine:
            deed, said = Deed.RESEALED, f"the seal of checkpoint {seq} was changed"
        case _:
            deed, said = (
                Deed.REWRITTEN,
                f"the chain was rewritten up to checkpoint {seq}: its seal does not match",
            )
    if deed is Deed.REWRITTEN and walk.good_seal >= 0:
        said += f"; up to checkpoint {walk.good_seal} it is sealed"
    return Fault(walk.files.chain, segment_name(bad.number), bad.line, seq, deed, said)


def _head_faults(walk: Walk, file: HeadFile, sealing: SealVerdict | None) -> Iterator[Fault]:
    """What is wrong with a head, or with a chain that is whole in itself but not the one its head
    names."""
    head, last, chain = walk.head, walk.seq - 1, walk.files.chain
    if file.raw is None:
        if walk.records > NEWBORN:
            yield Fault(
                chain,
                "head",
                None,
                last,
                Deed.HEADLESS,
                f"the head is gone: the chain has {last + 1} records",
            )
        return
    if head is None:
        yield Fault(
            chain, "head", None, None, Deed.UNREADABLE, f"the head cannot be read: {file.why}"
        )
        return
    if head.chain != chain:
        yield Fault(
            chain, "head", None, head.seq, Deed.SPLICED, f"the head belongs to chain {head.chain}"
        )
        return
    if sealing is not None and sealing not in (SealVerdict.FITS, SealVerdict.EARLIER):
        deed, said = _head_seal(sealing, walk)
        yield Fault(chain, "head", None, head.seq, deed, said)
        return
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
    chain, sealed = walk.files.chain, walk.key is not None
    if not _meets(walk, head):
        moved = not sealed and any(
            record.hash == head.hash for _, record in sound_lines(walk.files)
        )
        yield _other(walk, head, last, moved)
    elif (
        walk.head_ends is not None
        and not sealed
        and walk.head_ends[:2] != (head.segment, head.offset)
    ):
        number, ends, _ = walk.head_ends
        said = (
            f"record {head.seq} ends at byte {ends} of segment {number}, but the head says byte "
            f"{head.offset} of segment {head.segment}"
        )
        yield Fault(
            chain,
            "head",
            None,
            head.seq,
            Deed.EDITED,
            f"the head was edited, or a `took` before it: {said}",
        )
    elif head.closed and last > head.seq:
        place = walk.line_of(head.seq + 1)
        number, line = (head.segment, None) if place is None else place
        said = (
            f"record {head.seq + 1} was added after record {head.seq}, with which the writer "
            f"closed the chain"
        )
        yield Fault(chain, segment_name(number), line, head.seq + 1, Deed.INSERTED, said)
    elif head.closed and walk.last_kind != "checkpoint":
        said = (
            f"the head was edited: it says that the chain is closed, but record {last} is not a "
            f"checkpoint"
        )
        yield Fault(chain, "head", None, head.seq, Deed.EDITED, said)


def _other(walk: Walk, head: VerifiedHead, last: int, moved: bool) -> Fault:
    """The fault where the record that a head names is not there, or is another."""
    chain = walk.files.chain
    if moved or (walk.head_ends is None and head.seq <= last):
        said = f"the head was edited: it names record {head.seq} with the hash of another"
        return Fault(chain, "head", None, head.seq, Deed.EDITED, said)
    if head.seq > last:
        gone = f"records {last + 1} to {head.seq}" if head.seq > last + 1 else f"record {head.seq}"
        said = (
            f"{gone} at the end, listed in the head, {'are' if head.seq > last + 1 else 'is'} gone"
        )
        if head.segment not in walk.files.numbers:
            said = f"segment {head.segment} was deleted: {said}"
            return Fault(chain, segment_name(head.segment), None, last + 1, Deed.DELETED, said)
        line = next((s.last - s.first + 2 for s in walk.segments if s.number == head.segment), 1)
        return Fault(chain, segment_name(head.segment), line, last + 1, Deed.TRUNCATED, said)
    number, line = walk.line_of(head.seq) or (head.segment, 1)
    since = f" after checkpoint {walk.good_seal}" if walk.good_seal >= 0 else ""
    said = f"record {head.seq} was rewritten{since}: the head names it with another hash"
    return Fault(chain, segment_name(number), line, head.seq, Deed.REWRITTEN, said)
