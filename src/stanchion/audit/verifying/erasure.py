"""Erasure: content that is not there is no fault where a record of the trail says that it was
erased."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping

from .files import segment_name
from .report import Deed, Fault
from .seen import Unsaid
from .walk import Walk

Rows = list[tuple[int, int]]


def judge(walks: Mapping[str, Walk], faulty: Mapping[str, Fault]) -> Iterator[Fault]:
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
                yield Fault(chain, segment_name(number), line, seq, deed, words)
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
