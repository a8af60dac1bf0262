"""Settling: how much of a text that is still growing can be judged for good."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from stanchion.guards.pii.entity import Entity
from stanchion.guards.pii.finder import Candidate, Finder
from stanchion.guards.pii.limits import TABLE
from stanchion.guards.pii.sketch import CUT, PARTED, PARTED_BY_BLANKS, SHAPED, STARRED, sketch
from stanchion.kernel.regex import regex
from stanchion.readings.cover import Cover

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

    def cuts(self, text: str) -> Callable[[int], int]:
        """Gives the last place up to another one where a text that goes on may be cut."""
        if not self._finder.entities:
            return lambda at: at
        drawn = sketch(text)
        parted = drawn.translate(self._cuts)
        candidates = self._finder.candidates(drawn)
        unfinished = (self._unfinished(drawn), len(drawn) + 1)
        cover = Cover([unfinished, *[(one.start, one.end) for one in candidates]])

        def back(at: int) -> int:
            place = at
            while place > 0:
                beside = self._back(parted, place)
                place = cover.clear(beside)
                if place == beside >= 0:
                    return place
            if place == 0 and at < self._far + TABLE:
                return 0
            return self._within(drawn, candidates, min(at, len(drawn) - self._far))

        return back

    def _back(self, parted: bytes, at: int) -> int:
        """The last place up to another one beside which words are parted; -1 where that is farther
        than anything is long."""
        if parted[at : at + 1] == CUT:
            return at
        found = parted.rfind(CUT, max(0, at - self._far), at)
        return found + 1 if found >= 0 else 0 if at <= self._far else -1

    def _unfinished(self, drawn: bytes) -> int:
        """Where the first thing begins that may go on when more text comes."""
        low = max(0, len(drawn) - self._reach)
        tail = drawn[low:]
        shaped, starred = tail.translate(SHAPED), tail.translate(STARRED)
        for match in WORD.finditer(tail):
            start = match.start()
            opens = shaped[start:] in self._open or starred[start:] in self._open
            if opens or any(pattern.fullmatch(tail, start) for pattern in self._opening):
                return low + start
        return len(drawn)

    def _within(self, drawn: bytes, candidates: list[Candidate], high: int) -> int:
        """A place to cut inside of a word without an end: the last at which nothing is changed by
        cutting there."""
        spans = Cover([(one.start, one.end) for one in candidates])
        for at in range(high, max(0, high - TRIES), -1):
            if spans.clear(at) == at:
                near = at - self._far
                low = max(0, near - self._far - TABLE)
                alone = [
                    one._replace(start=one.start + low, end=one.end + low)
                    for one in self._finder.candidates(drawn[low:at])
                    if one.end + low > near
                ]
                if alone == [one for one in candidates if near < one.end <= at]:
                    return at
        return 0


def _key(shape: str) -> bytes:
    return shape.encode().translate(STARRED) if "*" in shape else shape.encode()


def _reach(entity: Entity) -> int:
    shapes = [len(shape) for shape in entity.shapes + entity.told if " " in shape]
    return max([*shapes, entity.longest if entity.opens else 0])
