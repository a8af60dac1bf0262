"""What chains say of one another, and what a witness says of all: is it still so?"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Final

from .files import batches, segment_name
from .report import Deed, Fault
from .seen import Claim
from .walk import Walk

STORE: Final = "store"
"""By whom a claim is that comes from the store: no chain is called so."""


def cross(
    walks: Mapping[str, Walk], faulty: Mapping[str, Fault], claims: Iterable[Claim]
) -> Iterator[Fault]:
    """Hold every claim against the chain it is about; a chain that has a fault already gets no
    other."""
    about: defaultdict[str, list[Claim]] = defaultdict(list)
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


def trusted(walk: Walk, fault: Fault | None) -> Iterator[Claim]:
    """The claims in a chain that were made before anything that is wrong with it."""
    bound = walk.seq
    if fault is not None and fault.seq is not None:
        bound = walk.good_seal + 1 if fault.deed is Deed.REWRITTEN else fault.seq
    return (claim for claim in walk.claims.values() if claim.at < bound)


def _against(walk: Walk, claims: list[Claim]) -> Iterator[Fault]:
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
        yield Fault(
            chain, segment_name(number) if number else "", line, claim.seq, Deed.REWRITTEN, said
        )
    ahead = claims[-1]
    if ahead.seq > last:
        gone = (
            f"records {last + 1} to {ahead.seq} at the end are"
            if ahead.seq > last + 1
            else f"record {ahead.seq} is"
        )
        number = walk.segments[-1].number if walk.segments else 1
        line = walk.segments[-1].last - walk.segments[-1].first + 2 if walk.segments else 1
        said = f"{gone} gone: {_source(ahead)} lists what was there"
        if ahead.by == STORE:
            said = (
                f"the store has seen record {ahead.seq}, and the chain ends with record "
                f"{last}: "
                f"{gone} gone"
            )
        yield Fault(chain, segment_name(number), line, last + 1, Deed.TRUNCATED, said)


def _source(claim: Claim) -> str:
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
