"""Doubt: chains that do not have what the store has seen of them. Nobody goes on with one, and the
next says why."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

import msgspec

from stanchion import typed
from stanchion.audit.anchors import Anchor
from stanchion.audit.chain_lock import is_written
from stanchion.audit.layout import DOUBT, chains, segments, write_private
from stanchion.audit.segment_scan import backwards

FAR: Final = 10_000
"""How many records before the end of a chain one is still looked for: what was seen last stands
near it."""


class DoubtMark(msgspec.Struct, frozen=True):
    """What the store has seen of a chain, and the chain does not have."""

    seq: int
    hash: str


def doubt(trail: Path, anchors: Iterable[Anchor]) -> None:
    """Mark the chains of a trail that do not have a record which the store has seen, unless they
    are written now."""
    there = set(chains(trail))
    for seen in anchors:
        folder = trail / seen.chain
        if seen.chain not in there or is_written(folder) or _has(folder, seen):
            continue
        write_private(folder / DOUBT, msgspec.json.encode(DoubtMark(seen.seq, seen.hash)) + b"\n")


def doubted(trail: Path) -> dict[str, tuple[str, int, str, str]]:
    """The chains that are in doubt, and what is said of each in the next one."""
    found = {}
    for name in chains(trail):
        try:
            known = typed.decode((trail / name / DOUBT).read_bytes(), DoubtMark)
        except FileNotFoundError:
            continue
        except (OSError, msgspec.MsgspecError):
            known = DoubtMark(0, "")
        found[name] = (
            name,
            known.seq,
            known.hash,
            f"the store has seen record {known.seq}, which is missing here",
        )
    return found


def _has(folder: Path, seen: Anchor) -> bool:
    """Whether a chain has a record, as far as that can be told: what stands far before its end may
    have left it."""
    numbers = sorted(segments(folder), reverse=True)
    newest_first = (found for number in numbers for found in backwards(folder, number))
    count = -1
    for count, found in enumerate(newest_first):
        if found.stub.seq <= seen.seq:
            return (found.stub.seq, found.line.hash) == (seen.seq, seen.hash)
        if count == FAR:
            break
    return count >= 0
