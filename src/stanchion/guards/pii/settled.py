"""Settling: how much of a text that is still growing can be judged for good."""

from __future__ import annotations

from typing import Final

from stanchion.guards.pii.entity import Entity
from stanchion.guards.pii.finder import Candidate, Finder
from stanchion.guards.pii.limits import TABLE
from stanchion.guards.pii.sketch import CUT, PARTED, PARTED_BY_BLANKS, SHAPED, STARRED, sketch
from stanchion.kernel.regex import regex

TRIES: Final = 64
"""At how many places a word without an end is tried to be cut."""
WORD: Final = regex(rb"[+(]*[0-9A-Za-z]+")


class Settling:
    """Says where a text may be cut: where nothing that may be an entity goes across, whatever
    follows, and where what stands before is found the same without what follows."""

    def __init__(self, finder: Finder) -> None:
        self._finder = finder
        self._cuts = (
            PARTED_BY_BLANKS if any(entity.kind == "url" for entity in finder.entities) else PARTED
        )
        self._far = finder.longest + 2
        joined = [_key(s) for e in finder.entities for s in e.shapes + e.told if " " in s]
        self._open = frozenset([key[:end] for key in joined for end in range(1, len(key))])
        self._opening = tuple([regex(e.opens.encode()) for e in finder.entities if e.opens])
        self._reach = max([_reach(entity) for entity in finder.entities], default=0)

    def settled(self, text: str) -> int:
        """How many leading characters can be judged now."""
        if not self._finder.entities:
            return len(text)
        seen = self._far + TABLE
        base = max(0, len(text) - 4 * seen)
        drawn = sketch(text[base:])
        cuts = drawn.translate(self._cuts)
        candidates = self._finder.candidates(drawn)
        at = self._back(cuts, len(drawn))
        while at > 0:
            across = [one.start for one in candidates if one.start < at < one.end]
            first = min([*across, *self._unfinished(drawn, at)], default=at)
            if first == at:
                return base + at
            at = self._back(cuts, first)
        if at == 0 and base == 0 and len(drawn) < seen:
            return 0
        return base + self._within(drawn, candidates)

    def _back(self, cuts: bytes, at: int) -> int:
        """The last place up to another one where words are parted; -1 where that is farther than
        anything is long."""
        found = cuts.rfind(CUT, max(0, at - self._far), at)
        return found + 1 if found >= 0 else 0 if at <= self._far else -1

    def _unfinished(self, drawn: bytes, at: int) -> tuple[int, ...]:
        """Where something begins before a place that may go on across it when more text comes."""
        low = max(0, len(drawn) - self._reach)
        tail = drawn[low:]
        shaped, starred = tail.translate(SHAPED), tail.translate(STARRED)
        for match in WORD.finditer(tail):
            start = match.start()
            if low + start >= at:
                break
            opens = shaped[start:] in self._open or starred[start:] in self._open
            if opens or any(pattern.fullmatch(tail, start) for pattern in self._opening):
                return (low + start,)
        return ()

    def _within(self, drawn: bytes, candidates: list[Candidate]) -> int:
        """A place to cut inside of a word without an end: the last at which nothing is changed by
        cutting there."""
        high = len(drawn) - self._far
        for at in range(high, max(0, high - TRIES), -1):
            if not any(one.start < at < one.end for one in candidates):
                alone = self._finder.candidates(drawn[:at])
                if alone == [one for one in candidates if one.end <= at]:
                    return at
        return 0


def _key(shape: str) -> bytes:
    return shape.encode().translate(STARRED) if "*" in shape else shape.encode()


def _reach(entity: Entity) -> int:
    shapes = [len(shape) for shape in entity.shapes + entity.told if " " in shape]
    return max([*shapes, entity.longest if entity.opens else 0])
