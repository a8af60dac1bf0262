"""The finder: all entities looked for together, in one linear pass, by what is near."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import product
from typing import Any, Final, NamedTuple

from stanchion.guards.pii.context import Words
from stanchion.guards.pii.entity import Entity
from stanchion.guards.pii.limits import TABLE
from stanchion.guards.pii.sketch import BEGINS, ENDS, SHAPED, STARRED, WORD, begins, compact, ends
from stanchion.kernel.regex import linear, regex
from stanchion.readings.scan.facts import width
from stanchion.readings.scan.syntax import read

PROSE: Final = regex(rb"[A-Za-z]{5}|[^0-9A-Za-z ./-]")
START: Final = regex(rb"[0-9A-Za-z]+|[+(:]")
LOCAL: Final = regex(rb"[A-Za-z0-9_][A-Za-z0-9._%+'-]{0,63}$")
WORDY: Final = 4
"""One letter less than a word of prose has."""
CLOSE: Final = 64
JOINS: Final = (" ", "/")
MEMORY: Final = 64 << 20
AT: Final = 64
HEAD: Final = 3


class Candidate(NamedTuple):
    """Characters that may be an entity: with a word nearby, or `sure` without."""

    start: int
    end: int
    order: int
    sure: bool


class Shape(NamedTuple):
    """A shape of an entity; `exact` tells letters from digits where its key does not."""

    order: int
    sure: bool
    joined: bool
    exact: re.Pattern[bytes] | None


class Finder:
    """Finds what may be one of some entities. What it says of characters depends on those near them
    alone."""

    def __init__(self, entities: Sequence[Entity]) -> None:
        self.entities = tuple(entities)
        self.words = tuple([Words(entity) for entity in entities])
        self.longest = max([entity.longest for entity in entities], default=0)
        self.shortest = min([_shortest(entity) for entity in entities], default=1)
        """A text that is shorter has none of them."""
        self._shapes: dict[bytes, list[Shape]] = {}
        heads: dict[bytes, set[int]] = {}
        for order, entity in enumerate(entities):
            for sure, shapes in ((True, entity.shapes), (False, entity.told)):
                for shape in shapes:
                    exact = regex(_regex(shape).encode()) if "*" in shape else None
                    kept = Shape(order, sure, any(sep in shape for sep in JOINS), exact)
                    self._shapes.setdefault(_key(shape), []).append(kept)
                    for head in _heads(shape):
                        heads.setdefault(head, set()).add(len(shape))
        self._lengths = {head: tuple(sorted(lengths)) for head, lengths in heads.items()}
        self._widest = max([max(lengths) for lengths in heads.values()], default=0) + 2
        """How much of a sketch says which shapes begin it: the longest, and where its word ends."""
        self._addresses = [order for order, entity in enumerate(entities) if entity.sieve == "@"]
        self._headed: dict[int, list[int]] = {}
        for order, entity in enumerate(entities):
            for char in entity.heads:
                self._headed.setdefault(ord(char), []).append(order)
        self._patterns = [regex(entity.pattern.encode()) for entity in entities]

    @cached_property
    def sieve(self) -> Any:
        """The linear pattern that finds where anything may begin; compiled when it is first
        needed."""
        return linear(self._anything(r"\b", r"\b"), MEMORY)

    @cached_property
    def gate(self) -> str:
        """What stands in every text that has any: something that is not tied to what is beside
        it."""
        return self._anything(BEGINS, ENDS)

    def _anything(self, before: str, behind: str) -> str:
        """The linear pattern of all entities, given that of what stands beside their shapes."""
        shapes = [f"{before}(?:{self._any_shape}){behind}"] if self._any_shape else []
        return "|".join([*shapes, *[entity.sieve for entity in self.entities if entity.sieve]])

    @cached_property
    def _any_shape(self) -> str:
        shapes = [_regex(shape) for e in self.entities for shape in e.shapes + e.told]
        return "|".join(dict.fromkeys(shapes))

    def candidates(self, drawn: bytes, since: int = 0) -> list[Candidate]:
        """Everything in a sketch that may be one of the entities, in the order of their
        beginnings, from a place on where words are parted."""
        if len(drawn) < self.shortest or not self.entities:
            return []
        found: list[Candidate] = []
        shaped = b""
        tables = Tables(drawn)
        fitting: dict[bytes, list[tuple[int, tuple[Shape, ...]]]] = {}
        for match in self.sieve.finditer(drawn, since):
            start, end = match.span()
            if drawn[start] == AT:
                found += self._address(drawn, start, tables)
                continue
            shaped = shaped if shaped else drawn.translate(SHAPED)
            for at in _starts(drawn, start, end):
                if begins(drawn, at):
                    outline = shaped[at : at + self._widest]
                    if outline not in fitting:
                        fitting[outline] = self._fitting(outline)
                    if fitting[outline]:
                        found += self._shaped(drawn, at, fitting[outline], tables)
                    for order in self._headed.get(drawn[at], ()):
                        found += self._read(drawn, at, order, tables)
        return sorted(set(found))

    def _fitting(self, outline: bytes) -> list[tuple[int, tuple[Shape, ...]]]:
        """The shapes with which a sketch may begin whose letters and digits are told apart only as
        such, by their lengths."""
        starred = outline.translate(STARRED)
        found = [
            (
                length,
                (
                    *self._shapes.get(outline[:length], ()),
                    *self._shapes.get(starred[:length], ()),
                ),
            )
            for length in self._lengths.get(outline[:HEAD], ())
            if length <= len(outline) and ends(outline, length)
        ]
        return [(length, shapes) for length, shapes in found if shapes]

    def _shaped(
        self, drawn: bytes, at: int, fitting: list[tuple[int, tuple[Shape, ...]]], tables: Tables
    ) -> Iterator[Candidate]:
        if at and drawn[at - 1] in b"+@":
            return
        for length, shapes in fitting:
            end, text = at + length, ""
            for shape in shapes:
                if shape.joined and tables.has(at):
                    continue
                check = self.entities[shape.order].check
                text = text if text else compact(drawn[at:end])
                exact = shape.exact is None or shape.exact.fullmatch(drawn, at, end)
                if exact and (check is None or check(text)):
                    yield Candidate(at, end, shape.order, shape.sure)

    def _address(self, drawn: bytes, at: int, tables: Tables) -> Iterator[Candidate]:
        local = LOCAL.search(drawn, max(0, at - 64), at)
        if local is not None and begins(drawn, local.start()):
            for order in self._addresses:
                yield from self._read(drawn, local.start(), order, tables)

    def _read(self, drawn: bytes, at: int, order: int, tables: Tables) -> Iterator[Candidate]:
        entity = self.entities[order]
        if entity.reads is None or (at and chr(drawn[at - 1]) in entity.glued):
            return
        raw = self._patterns[order].match(drawn, at, at + entity.longest)
        if raw is None or (entity.opens and tables.has(at)):
            return
        text = raw[0].decode()
        for sure in (True, False) if entity.words else (True,):
            for length in entity.reads(text, not sure):
                if ends(drawn, at + length):
                    yield Candidate(at, at + length, order, sure)
                    break


class Tables:
    """Says which places of a sketch are deep in a table of numbers; asked from left to right, it
    looks once."""

    def __init__(self, drawn: bytes) -> None:
        self._drawn = drawn
        self._clean = 0
        self._said = (-1, False)

    def has(self, at: int) -> bool:
        """Whether a place is."""
        if self._said[0] != at:
            self._said = (at, self._looked(at))
        return self._said[1]

    def _looked(self, at: int) -> bool:
        if at < TABLE or PROSE.search(self._drawn, at - CLOSE, at) is not None:
            return False
        if PROSE.search(self._drawn, max(at - TABLE, self._clean), at) is not None:
            return False
        self._clean = at - WORDY
        return True


def _starts(drawn: bytes, start: int, end: int) -> Iterator[int]:
    """Where something may begin in a region: at its beginning, and wherever a word does."""
    yield start
    for match in START.finditer(drawn, start + 1, end):
        if drawn[match.start() - 1] not in WORD:
            yield match.start()


def _shortest(entity: Entity) -> int:
    """How long an entity is at least, as far as its shapes tell."""
    found = [len(shape) for shape in entity.shapes + entity.told]
    return min([*found, *([width(read(entity.sieve))[0]] if entity.sieve else [])])


def _key(shape: str) -> bytes:
    return shape.encode().translate(STARRED) if "*" in shape else shape.encode()


def _heads(shape: str) -> list[bytes]:
    """How the shapes of texts begin that fit one."""
    return [
        "".join(chars).encode()
        for chars in product(*[("9A" if c == "*" else c) for c in shape[:HEAD]])
    ]


def _regex(shape: str) -> str:
    """The linear pattern of a shape."""
    pieces: list[str] = []
    for run in re.finditer(r"9+|A+|\*+|.", shape):
        kind = {"9": "[0-9]", "A": "[A-Za-z]", "*": "[0-9A-Za-z]"}.get(run[0][0])
        pieces.append(
            re.escape(run[0])
            if kind is None
            else f"{kind}{{{len(run[0])}}}"
            if len(run[0]) > 1
            else kind
        )
    return "".join(pieces)
