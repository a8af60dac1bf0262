"""Reading personal data: the chosen kinds, and where a text that goes on may be cut."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from difflib import get_close_matches
from functools import lru_cache
from typing import Final

from stanchion.guards.pii.entities import ENTITIES
from stanchion.guards.pii.entity import PersonalEntity
from stanchion.guards.pii.finder import (
    CUT,
    PARTED,
    PARTED_BY_BLANKS,
    REACH,
    SHAPED,
    STARRED,
    TABLE,
    EntityCandidate,
    EntityFinder,
    compact,
    named,
    otherwise,
    shape_key,
    sketch,
    window,
)
from stanchion.kernel.guard import TooDense
from stanchion.kernel.names import Names, glob, is_glob, names
from stanchion.kernel.regex import regex
from stanchion.kernel.sizes import LIMITS, allowed
from stanchion.readings.cover import Cover
from stanchion.readings.joined import JoinedTexts
from stanchion.readings.texts import TextSpan
from stanchion.readings.word_lists import Strings


def chosen(patterns: Strings | None, without: Strings = ()) -> tuple[PersonalEntity, ...]:
    """The entities that names and globs choose, or the usual ones, less others, in the order of
    their list; raises `ValueError` for what fits none."""
    usual = {entity.kind for entity in ENTITIES.values() if entity.usual}
    kinds = (usual if patterns is None else _fitting(patterns)) - _fitting(without)
    if not kinds:
        raise ValueError("no entity is left to look for: name some in `entities`, or leave it out")
    return tuple([entity for kind, entity in ENTITIES.items() if kind in kinds])


def _fitting(patterns: Strings) -> set[str]:
    kinds: set[str] = set()
    for pattern in patterns:
        fits = {
            kind
            for kind in ENTITIES
            if (glob(pattern, kind) if is_glob(pattern) else pattern == kind)
        }
        if not fits:
            near = get_close_matches(pattern, ENTITIES, 1, 0.4)
            hint = f"did you mean `{near[0]}`?" if near else "see the list on the guard's page"
            raise ValueError(f"`{pattern}` is not an entity: {hint}")
        kinds |= fits
    return kinds


Above = Callable[[int], Strings]
"""Gives the names above a text, by its number."""
TABLED: Final = 8
"""How many times as many hits as secrets a text may have of personal data."""
OPENED: Final = regex(r"\[[a-z0-9-]{1,40}:$")


class EntityReader:
    """Reads texts for some entities. `bare` lets numbers with a right check digit count where no
    word says what they are; `allow` are values that are nobody's secret, and domains of
    addresses."""

    def __init__(self, entities: Sequence[PersonalEntity], allow: Names, bare: bool) -> None:
        self.finder = EntityFinder(entities)
        self._allow = allow
        self._bare = bare

    def spans(
        self, texts: JoinedTexts, above: Above, a_kb: int = LIMITS.matches_a_kb, since: int = 0
    ) -> list[list[TextSpan]] | None:
        """What is personal in each of some texts, from a place on, given what tells the names above
        one; nothing where none is. Tables of people have more of it than other texts have secrets:
        eight times as much is `allowed`, and with more it raises `TooDense`."""
        whole = texts.text
        candidates = self.finder.candidates(sketch(whole), since)
        if not candidates:
            return None
        left = most = allowed(len(whole), TABLED * a_kb)
        starts = texts.begins
        kept: dict[int, list[EntityCandidate]] = {}
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
                told = said[one.order, near] = self._told(one.order, near)
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

    def _told(self, order: int, near: str) -> bool:
        """Whether a word before something says what it is."""
        within = self.finder.entities[order].within
        close = f" {' '.join(near.split()[-within:])} " if within else near
        return self.finder.words[order].near(close)

    def _counts(self, one: EntityCandidate, near: str, before: str, grouped: bool) -> bool:
        """Whether something is personal of which no word nearby says so: it is sure by itself, and
        nothing says otherwise."""
        entity = self.finder.entities[one.order]
        if one.sure:
            return not (entity.shapes and otherwise(near, before, grouped))
        return self._bare and _summed(entity)

    def _known(self, text: str, one: EntityCandidate) -> bool:
        """Whether something is hidden already, or allowed."""
        return _placeholder(text, one.start, one.end) or self._allowed(text[one.start : one.end])

    def _allowed(self, value: str) -> bool:
        if not self._allow.exact and not self._allow.globs:
            return False
        domain = value.rpartition("@")[2] if "@" in value else value
        return (
            value in self._allow or domain in self._allow or compact(sketch(value)) in self._allow
        )

    def _merged(self, candidates: list[EntityCandidate], start: int) -> list[TextSpan]:
        """Spans that do not overlap, each named for what begins first and is longest."""
        merged: list[TextSpan] = []
        for one in sorted(candidates, key=lambda c: (c.start, -c.end, c.order)):
            begin, end = one.start - start, one.end - start
            if merged and begin < merged[-1].end:
                if end > merged[-1].end:
                    merged[-1] = merged[-1]._replace(end=end)
            else:
                merged.append(TextSpan(begin, end, self.finder.entities[one.order].kind))
        return merged


@lru_cache(64)
def reader(kinds: Strings, allow: Strings, bare: bool) -> EntityReader:
    """The reader for kinds of entities: the same for the same."""
    return EntityReader([ENTITIES[kind] for kind in kinds], names(allow), bare)


def _summed(entity: PersonalEntity) -> bool:
    return entity.summed and entity.check is not None


def _placeholder(text: str, start: int, end: int) -> bool:
    """Whether characters are the end of a pseudonym, which hides something already."""
    return (
        text[end : end + 1] == "]"
        and text[start - 1 : start] == ":"
        and bool(OPENED.search(text[:start][-42:]))
    )


TRIES: Final = 64
"""At how many places a word without an end is tried to be cut."""
WORD: Final = regex(rb"[+(]*[0-9A-Za-z]+")


class Settling:
    """Says where a text may be cut: where nothing that may be an entity goes across, whatever
    follows, and where what stands before is found the same without what follows."""

    def __init__(self, finder: EntityFinder) -> None:
        self._finder = finder
        self._cuts = (
            PARTED_BY_BLANKS if any(entity.kind == "url" for entity in finder.entities) else PARTED
        )
        self._far = finder.longest + 2
        joined = [shape_key(s) for e in finder.entities for s in e.shapes + e.told if " " in s]
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

    def _within(self, drawn: bytes, candidates: list[EntityCandidate], high: int) -> int:
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


def _reach(entity: PersonalEntity) -> int:
    shapes = [len(shape) for shape in entity.shapes + entity.told if " " in shape]
    return max([*shapes, entity.longest if entity.opens else 0])
