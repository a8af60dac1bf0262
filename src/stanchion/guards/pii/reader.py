"""The reader: which of the things that may be personal data are, by the words near them and by what
is allowed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final

from stanchion.guards.pii.context import named, otherwise, window
from stanchion.guards.pii.entities import ENTITIES
from stanchion.guards.pii.entity import Entity
from stanchion.guards.pii.finder import Candidate, Finder
from stanchion.guards.pii.limits import REACH
from stanchion.guards.pii.sketch import compact, sketch
from stanchion.kernel.guard import TooDense
from stanchion.kernel.names import Names, names
from stanchion.kernel.regex import regex
from stanchion.kernel.sizes import LIMITS, allowed
from stanchion.readings.joined import Joined
from stanchion.readings.texts import Span

Above = Callable[[int], tuple[str, ...]]
"""Gives the names above a text, by its number."""
TABLED: Final = 8
"""How many times as many hits as secrets a text may have of personal data."""
OPENED: Final = regex(r"\[[a-z0-9-]{1,40}:$")


class Reader:
    """Reads texts for some entities. `bare` lets numbers with a right check digit count where no
    word says what they are; `allow` are values that are nobody's secret, and domains of
    addresses."""

    def __init__(self, entities: Sequence[Entity], allow: Names, bare: bool) -> None:
        self.finder = Finder(entities)
        self._allow = allow
        self._bare = bare

    def spans(
        self, texts: Joined, above: Above, a_kb: int = LIMITS.matches_a_kb, since: int = 0
    ) -> list[list[Span]] | None:
        """What is personal in each of some texts, from a place on, given what tells the names above
        one; nothing where none is. Tables of people have more of it than other texts have secrets:
        eight times as much is `allowed`, and with more it raises `TooDense`."""
        whole = texts.text
        candidates = self.finder.candidates(sketch(whole), since)
        if not candidates:
            return None
        left = most = allowed(len(whole), TABLED * a_kb)
        starts = texts.begins
        kept: dict[int, list[Candidate]] = {}
        windows: dict[int, str] = {}
        said: dict[tuple[int, str], bool] = {}
        for one in candidates:
            at = texts.which(one.start)
            near = windows.get(one.start)
            if near is None:
                near = windows[one.start] = named(above(at)) + window(whole, starts[at], one.start)
            before = whole[max(starts[at], one.start - REACH) : one.start]
            told = said.get((one.order, near))
            if told is None:
                told = said[one.order, near] = self.finder.words[one.order].near(near)
            grouped = " " in whole[one.start : one.end]
            if (told or self._counts(one, near, before, grouped)) and not self._known(whole, one):
                kept.setdefault(at, []).append(one)
                left -= 1
                if left < 0:
                    raise TooDense(f"{most:,}")
        return (
            [self._merged(kept.get(at, []), start) for at, start in enumerate(starts[:-1])]
            if kept
            else None
        )

    def _counts(self, one: Candidate, near: str, before: str, grouped: bool) -> bool:
        """Whether something is personal of which no word nearby says so: it is sure by itself, and
        nothing says otherwise."""
        entity = self.finder.entities[one.order]
        if one.sure:
            return not (entity.shapes and otherwise(near, before, grouped))
        return self._bare and _summed(entity)

    def _known(self, text: str, one: Candidate) -> bool:
        """Whether something is hidden already, or allowed."""
        return _placeholder(text, one.start, one.end) or self._allowed(text[one.start : one.end])

    def _allowed(self, value: str) -> bool:
        if not self._allow.exact and not self._allow.globs:
            return False
        domain = value.rpartition("@")[2] if "@" in value else value
        return (
            value in self._allow or domain in self._allow or compact(sketch(value)) in self._allow
        )

    def _merged(self, candidates: list[Candidate], start: int) -> list[Span]:
        """Spans that do not overlap, each named for what begins first and is longest."""
        merged: list[Span] = []
        for one in sorted(candidates, key=lambda c: (c.start, -c.end, c.order)):
            begin, end = one.start - start, one.end - start
            if merged and begin < merged[-1].end:
                if end > merged[-1].end:
                    merged[-1] = merged[-1]._replace(end=end)
            else:
                merged.append(Span(begin, end, self.finder.entities[one.order].kind))
        return merged


@lru_cache(64)
def reader(kinds: tuple[str, ...], allow: tuple[str, ...], bare: bool) -> Reader:
    """The reader for kinds of entities: the same for the same."""
    return Reader([ENTITIES[kind] for kind in kinds], names(allow), bare)


def _summed(entity: Entity) -> bool:
    return entity.summed and entity.check is not None


def _placeholder(text: str, start: int, end: int) -> bool:
    """Whether characters are the end of a pseudonym, which hides something already."""
    return (
        text[end : end + 1] == "]"
        and text[start - 1 : start] == ":"
        and bool(OPENED.search(text[:start][-42:]))
    )
