"""Verifying a whole trail: every chain by itself, then all of them against one another."""

from __future__ import annotations

import os
import time
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

from .diagnosis import those
from .files import ChainFiles, Tick, batches, beside, chain_folders, noted, segment_name
from .heads import HeadFile, head_file
from .report import CannotVerify, Chain, Deed, Fault, Remark, Report, Witnessed
from .retirement import judge_content, retired_before
from .seals import SealKey, key_from
from .verdict import first_fault, unproven
from .walk import HeadClaim, Walk
from .witness import Given, judge, read_witnesses

# What chains say of one another, and what a witness says of all: is it still so?

STORE: Final = "store"
"""By whom a claim is that comes from the store: no chain is called so."""


def cross(
    walks: Mapping[str, Walk], faulty: Mapping[str, Fault], claims: Iterable[HeadClaim]
) -> Iterator[Fault]:
    """Hold every claim against the chain it is about; a chain that has a fault already gets no
    other."""
    about: defaultdict[str, list[HeadClaim]] = defaultdict(list)
    for claim in claims:
        about[claim.chain].append(claim)
    for chain, said in sorted(about.items()):
        if chain in faulty:
            continue
        said.sort(key=lambda claim: claim.seq)
        walk = walks.get(chain)
        if walk is None:
            last = said[-1]
            sentence = (
                f"the chain, which held records to {last.seq}, is gone: {_source(last)} lists it"
            )
            yield Fault(chain, "", None, 0, Deed.DELETED, sentence)
        else:
            yield from islice(_against(walk, said), 1)


def trusted(walk: Walk, fault: Fault | None) -> Iterator[HeadClaim]:
    """The claims in a chain that were made before anything that is wrong with it."""
    bound = walk.seq
    if fault is not None and fault.seq is not None:
        bound = walk.good_seal + 1 if fault.deed is Deed.REWRITTEN else fault.seq
    return (claim for claim in walk.claims.values() if claim.at < bound)


def _against(walk: Walk, claims: list[HeadClaim]) -> Iterator[Fault]:
    """What claims, by rising numbers, know against a chain that is whole in itself."""
    chain, last, fits = walk.files.chain, walk.seq - 1, None
    hashes = _hashes(walk, sorted({claim.seq for claim in claims if claim.seq <= last}))
    for claim in claims:
        if claim.seq > last:
            continue
        found = hashes.get(claim.seq)
        if found is None or found == claim.hash:
            fits = claim.seq
            continue
        number, line = walk.line_of(claim.seq) or (0, None)
        since = "" if fits is None else f"; up to record {fits} it agrees with other sources"
        either = "" if walk.key is not None or not claim.by else ", or the other record was changed"
        said = (
            f"record {claim.seq} was rewritten: {_source(claim)} names it with another "
            f"hash{either}{since}"
        )
        file = segment_name(number) if number else ""
        yield Fault(chain, file, line, claim.seq, Deed.REWRITTEN, said)
    ahead = claims[-1]
    if ahead.seq > last:
        gone = those(last + 1, ahead.seq, " at the end")
        number = walk.segments[-1].number if walk.segments else 1
        line = walk.segments[-1].last - walk.segments[-1].first + 2 if walk.segments else 1
        said = f"{gone} gone: {_source(ahead)} lists what was there"
        if ahead.by == STORE:
            said = (
                f"the store has seen record {ahead.seq}, and the chain ends with record {last}: "
                f"{gone} gone"
            )
        yield walk.fault(Deed.TRUNCATED, said, last + 1, number, line)


def _source(claim: HeadClaim) -> str:
    if claim.why:
        return f"its own writer, in record {claim.at} of chain {claim.by} ({claim.why!a}),"
    if claim.by == STORE:
        return "the store"
    return f"checkpoint {claim.at} of chain {claim.by}" if claim.by else "the witness"


def _hashes(walk: Walk, wanted: list[int]) -> dict[int, str]:
    """The hashes of some records of a chain that was walked; of retired ones those that other
    records still name."""
    found = {gap.next_seq - 1: gap.next_prev for gap in walk.gaps}
    found |= {naming.entry.last: naming.entry.hash for naming in walk.namings}
    for segment in walk.segments:
        here = wanted[bisect_left(wanted, segment.first) : bisect_right(wanted, segment.last)]
        if not here:
            continue
        try:
            with walk.files.open(segment.number) as file:
                raw = (line for lines, _ in batches(file) for line in lines)
                at = segment.first
                for seq in here:
                    found[seq] = next(islice(raw, seq - at, None), b"")[9:73].decode(
                        "ascii", "replace"
                    )
                    at = seq + 1
        except OSError:  # retired since it was walked
            continue
    return found


TRIES: Final = 4
"""How often a chain is read that changes in the meantime, before what was found counts."""

Progress = Callable[[int, int], None]
"""Is told how many bytes were read, of how many."""


Sizes = dict[tuple[str, int], int]
"""How long each segment was before anything was read."""


class _Read(NamedTuple):
    walk: Walk
    file: HeadFile
    fault: Fault | None


Reads = dict[str, _Read]


def verify(
    folder: str | os.PathLike[str],
    key: bytes | str | Path | None = None,
    witness: Given | Sequence[Given] | None = None,
    progress: Progress | None = None,
    anchors: Iterable[tuple[str, int, str]] = (),
    now_ms: int | None = None,
) -> Report:
    """Verify the trail in a folder, which may be a copy, and may be written to meanwhile.

    `key` is a key file, or the bytes that such a file holds; without one no seal is checked.
    `witness` is one that was kept elsewhere, or several: files, or what `read_witness` gives.
    `anchors` are what the store has seen: chain, number and hash of a record. `now_ms` is when it
    is, by this machine's clock unless it is said. Raises `CannotVerify` where there is nothing to
    verify or nothing to verify it with.
    """
    path = Path(folder)
    holds = None if key is None else key_from(key)
    witnesses = read_witnesses(witness, path)
    kept = [head for one in witnesses for head in one.heads]
    outside = [HeadClaim(head.chain, head.seq, head.hash, "", 0) for head in kept]
    outside += [HeadClaim(chain, seq, digest, STORE, 0) for chain, seq, digest in anchors]
    until: Sizes = {}
    for each in _chains(path)[0]:
        until |= _listed(each).sizes()
    chains, false, strangers = _chains(path)
    if not (chains or false or outside or witnesses):
        raise CannotVerify(f"`{path}` holds no chain: give the folder of a trail")
    left = {each.name: beside(each) for each in chains}
    reads = _read_all(chains, holds, until, _Count(sum(until.values()), progress))
    walks = {name: read.walk for name, read in reads.items()}
    faulty = _faulty(reads, walks, false)
    claims = [claim for read in reads.values() for claim in trusted(read.walk, read.fault)]
    faults = [faulty[name] for name in sorted(faulty)]
    faults += cross(walks, faulty, claims + outside)
    remarks = _of_trail(walks, holds, strangers)
    remarks += [Remark("", said) for said in unproven(walks.values(), holds)]
    for name, read in reads.items():
        remarks += _of_chain(read, faulty.get(name))
    for each in chains:
        remarks += [Remark(each.name, said) for said in noted(each, left[each.name])]
    remarks += _of_ends(sorted(set(walks) - {claim.chain for claim in outside}), bool(outside))
    told = tuple(map(_told, reads.values()))
    newest = max((chain.last_at for chain in told if chain.last_at is not None), default=None)
    found = list(judge(witnesses, newest, round(time.time() * 1000) if now_ms is None else now_ms))
    proven = {claim.chain for claim in outside if claim.by}
    proven |= {head.chain for one in witnesses if not one.copy for head in one.heads}
    return Report(
        str(path),
        told,
        (*faults, *(one for one in found if isinstance(one, Fault))),
        (*remarks, *(one for one in found if isinstance(one, Remark))),
        tuple(one for one in found if isinstance(one, Witnessed)),
        end_proven=set(walks) <= proven,
    )


def _read_all(chains: list[Path], key: SealKey | None, until: Sizes, count: _Count) -> Reads:
    """Read chains; those again in which somebody erases meanwhile, and says so in one that was read
    before."""
    reads = {each.name: _read(each, key, until, count) for each in chains}
    for _ in range(TRIES):
        moved = [each for each in chains if head_file(each).raw != reads[each.name].file.raw]
        walks = {name: read.walk for name, read in reads.items()}
        if not moved or not any(judge_content(walks, {})):
            break
        reads |= {each.name: _read(each, key, until, count) for each in moved}
    count.end()
    return reads


def _faulty(reads: Reads, walks: Mapping[str, Walk], false: list[Path]) -> dict[str, Fault]:
    """The first fault of each chain that its own files show."""
    faulty = {name: read.fault for name, read in reads.items() if read.fault is not None}
    for each in false:
        said = "a chain has to be a folder, and links are not followed"
        faulty[each.name] = Fault(each.name, "", None, None, Deed.UNREADABLE, said)
    for fault in list(judge_content(walks, faulty)):
        first = faulty.setdefault(fault.chain, fault)
        if None not in (first.seq, fault.seq) and (fault.seq or 0) < (first.seq or 0):
            faulty[fault.chain] = fault
    return faulty


class _Count:
    """Counts bytes for whoever wants to see progress."""

    def __init__(self, total: int, progress: Progress | None) -> None:
        self._done, self._total, self._progress = 0, total, progress

    def __call__(self, more: int) -> None:
        self._done = min(self._total, self._done + more)
        if self._progress is not None:
            self._progress(self._done, self._total)

    def end(self) -> None:
        self(self._total - self._done)


def _chains(path: Path) -> tuple[list[Path], list[Path], list[str]]:
    try:
        return chain_folders(path)
    except OSError as error:
        raise CannotVerify(
            f"cannot read `{path}`: {error.strerror}; give the folder of a trail"
        ) from None


def _listed(path: Path) -> ChainFiles:
    try:
        return ChainFiles.of(path)
    except OSError:
        return ChainFiles(path, path.name, (), ())


def _read(path: Path, key: SealKey | None, until: Sizes, tick: Tick) -> _Read:
    """Read one chain; again where it has a fault but has also changed in the meantime."""
    for again in range(TRIES, 0, -1):
        file = head_file(path)  # before the segments: what it names is then in them
        files = _listed(path)
        walk = Walk(files, file.head, key, until, retired_before(files), tick)
        fault = _fault(walk, file)
        if (
            fault is None
            or again == 1
            or (head_file(path).raw == file.raw and _listed(path) == files)
        ):
            return _Read(walk, file, fault)
    raise AssertionError("the last try returns")


def _fault(walk: Walk, file: HeadFile) -> Fault | None:
    chain = walk.files.chain
    try:
        os.listdir(walk.files.path)
        walk.along()
    except OSError as error:
        said = f"it cannot be read: {error.strerror or error}"
        number = next(
            (n for n in walk.files.numbers if not walk.segments or n > walk.segments[-1].number), 0
        )
        name = segment_name(number) if number else ""
        return Fault(chain, name, None, walk.seq, Deed.UNREADABLE, said)
    return first_fault(walk, file)


def _told(read: _Read) -> Chain:
    walk, head, last = read.walk, read.walk.head, read.walk.seq - 1
    segments, records = walk.segments, walk.records
    first = segments[0].first if segments else None
    return Chain(
        id=walk.files.chain,
        records=records,
        segments=len(walk.files.numbers),
        first_seq=first,
        last_seq=last if records else None,
        first_at=walk.first_at,
        last_at=walk.last_at(),
        checkpoints=walk.checkpoints,
        sealed=walk.sealed,
        bytes=walk.size,
        closed=head is not None and head.closed,
        behind_head=0 if head is None else max(0, last - head.seq),
        retired=0 if read.fault is not None else sum(gap.next_seq - gap.seq for gap in walk.gaps),
    )


def _of_trail(walks: dict[str, Walk], key: SealKey | None, strangers: list[str]) -> list[Remark]:
    sealed = any(
        walk.sealed or (walk.head is not None and walk.head.seal is not None)
        for walk in walks.values()
    )
    said = [f"{name!a} is not part of a trail" for name in strangers]
    said += [
        f"{f'{walk.files.chain}/{name}'!a} is not part of a trail"
        for walk in walks.values()
        for name in walk.files.strangers
    ]
    if key is None and sealed:
        said.append("the trail is sealed, but no key was given: no seal was checked")
    elif key is None:
        said.append(
            "nothing is sealed: whoever can write to the folder could have rewritten all of it"
        )
    elif key.algorithm == "hmac-sha256":
        said.append("the key is a shared secret: whoever has this key can forge all of it")
    elif key.epoch:
        said.append(
            "this is the key that seals: to verify what was written before its epoch, give the key "
            "that verifies"
        )
    return [Remark("", sentence) for sentence in said]


def _of_ends(open_ended: list[str], outside: bool) -> list[Remark]:
    """That nothing outside a trail says where it ends, or where some of its chains do."""
    if not open_ended:
        return []
    if outside:
        said = "neither the store nor a witness names this chain: records may be missing at its end"
        return [Remark(chain, said) for chain in open_ended]
    said = (
        "end not proven: neither a store nor a witness says how far the trail had come, so records "
        "at the end of a chain, whole chains, or everything since an earlier state of the folder "
        "may be missing"
    )
    return [Remark("", said)]


def _of_chain(read: _Read, fault: Fault | None) -> list[Remark]:
    walk, head = read.walk, read.walk.head
    said = []
    if read.fault is None and head is None:
        said.append("the chain has begun, and nothing is sealed yet")
    if walk.left_over:
        said.append(
            f"{walk.left_over} bytes after record {walk.seq - 1} are not a record: a crash left "
            f"them"
        )
    erased = sum(one.last - one.first + 1 for one in walk.unsaid)
    if fault is None and erased:
        said.append(f"the content of {erased} record{'s' if erased > 1 else ''} was erased")
    if head is not None and not head.closed:
        said.append("the chain is not closed: it is being written to, or its writer crashed")
    if (
        read.fault is None
        and head is not None
        and walk.head_ends is not None
        and walk.key is not None
    ):
        moved = walk.head_ends[1] - head.offset
        if moved:
            said.append(
                f"what is written beside the records became {abs(moved)} bytes "
                f"{'longer' if moved > 0 else 'shorter'}"
            )
    said += _unproven(walk)
    return [Remark(walk.files.chain, sentence) for sentence in said]


def _unproven(walk: Walk) -> list[str]:
    """Which records a key cannot prove."""
    if walk.key is None:
        return []
    if walk.key.marks:
        return (
            [f"not proven: {walk.earlier} records of epochs before the key's"]
            if walk.earlier
            else []
        )
    said = [
        (
            f"not proven: records {first} to {last} came after the head when the next process "
            f"continued from them"
        )
        for first, last in walk.found
    ]
    sealed = max(walk.good_seal, -1 if walk.head is None else walk.head.seq)
    if sealed < walk.seq - 1:
        said.append(f"not proven: records {sealed + 1} to {walk.seq - 1} come after the last seal")
    return said
