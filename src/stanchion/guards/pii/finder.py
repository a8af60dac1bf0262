"""Finding personal data: its shapes, the words around it, and the candidates in a text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import product
from typing import Any, Final, NamedTuple

from stanchion.guards._placeholders import NAMES
from stanchion.guards.pii.entity import PersonalEntity
from stanchion.kernel.regex import linear, regex
from stanchion.readings.scan.facts import width
from stanchion.readings.scan.pattern_parser import read
from stanchion.readings.word_lists import listed

REACH: Final = 64
"""How many characters before a number are read for words."""
TABLE: Final = 1_024
"""Numbers behind so many characters of nothing but numbers and short words are a table: they are
looked at one by one, not joined by blanks. That keeps what a number can depend on near."""


LETTERS_OF_SHAPES: Final = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
DIGITS: Final = b"0123456789"
WORD: Final = frozenset(LETTERS_OF_SHAPES + DIGITS + b"_")
SHAPED: Final = bytes.maketrans(LETTERS_OF_SHAPES + DIGITS, b"A" * 52 + b"9" * 10)
"""Makes the shape of a text: `A` for a letter, `9` for a digit."""
STARRED: Final = bytes.maketrans(LETTERS_OF_SHAPES + DIGITS, b"*" * 62)
"""Makes the shape of a text in which letters and digits are alike."""
KNIT: Final = b"-."
"""What ties a word to the next one: neither is looked at alone."""
TIED: Final = WORD | {93}
"""What a word may be tied to: another word, or the placeholder that stands for one."""
ALIKE: Final = {
    **dict.fromkeys("\u00a0\u2007\u2009\u202f", " "),
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2212", "-"),
}
"""Blanks and hyphens that are not ASCII, and what they are read as."""
INSIDE: Final = b"_.,-/+()@:%'"
"""What may stand inside of a thing besides letters and digits; everything else parts."""
PARTED: Final = bytes(
    [124 if byte not in WORD and byte not in INSIDE else 46 for byte in range(256)]
)
PARTED_BY_BLANKS: Final = bytes(
    [124 if byte <= 32 or byte in b'"<>\\^`{|}' else 46 for byte in range(256)]
)
CUT: Final = b"|"


def sketch(text: str) -> bytes:
    """One byte for each character; what is not ASCII becomes a question mark, unless it is a blank
    or a hyphen."""
    if text.isascii():
        return text.encode()
    for char, plain in ALIKE.items():
        if char in text:
            text = text.replace(char, plain)
    return text.encode("ascii", "replace")


def compact(drawn: bytes) -> str:
    """The letters and digits of a piece, in capitals."""
    return drawn.translate(None, b" .,-/+()").decode().upper()


BEGINS: Final = r"(?:^|[^0-9A-Za-z_.@+-]|(?:^|[^0-9A-Za-z_\]])[.-])"
ENDS: Final = r"(?:$|[^0-9A-Za-z_@.-]|[.-](?:$|[^0-9A-Za-z_]))"
"""What stands before a shape that `begins` at a place, and is no sign of another kind of number,
and behind one that `ends` there."""


def begins(drawn: bytes, at: int) -> bool:
    """Whether a word begins at a place that is not tied to the word before."""
    if not at or drawn[at - 1] not in WORD:
        return not (at > 1 and drawn[at - 1] in KNIT and drawn[at - 2] in TIED)
    return False


def ends(drawn: bytes, at: int) -> bool:
    """Whether a word ends at a place and is not tied to the next."""
    if at >= len(drawn):
        return True
    if drawn[at] in WORD or drawn[at] == 64:
        return False
    return not (drawn[at] in KNIT and at + 1 < len(drawn) and drawn[at + 1] in WORD)


LETTERS: Final = regex(r"[^\W\d_]+")
HUMP: Final = regex(r"(?<=[a-z\d])(?=[A-Z])")
HIDDEN: Final = regex(r"(?:^|\[[a-z0-9-]+:)[a-z0-9:-]*\]")
"""A placeholder, or the end of one that began before the window. Its words are ours and say
nothing."""
SCRIPTS: Final = "\u0900"
"""From here on scripts do not part words by blanks."""


class EntityWords:
    """The words of an entity, ready to be looked for."""

    __slots__ = ("_parted", "_within")

    def __init__(self, entity: PersonalEntity) -> None:
        words = [word for word in entity.words.split("|") if word]
        self._parted = tuple(
            [f" {word}{more} " for word in words if word[0] < SCRIPTS for more in ("", "s")]
        )
        self._within = tuple([word for word in words if word[0] >= SCRIPTS])

    def __bool__(self) -> bool:
        return bool(self._parted or self._within)

    def near(self, window: str) -> bool:
        """Whether a window has one of them."""
        return any(word in window for word in self._parted) or any(
            word in window for word in self._within
        )


def window(text: str, start: int, at: int) -> str:
    """What stands before a place in a text that begins at `start`, as words in small letters,
    parted by blanks."""
    raw = text[max(start, at - REACH) : at]
    if "]" in raw:
        for hidden in HIDDEN.finditer(raw):
            last = hidden.end()
            raw = " " * last + raw[last:]
    return spelt(raw)


@lru_cache(1_024)
def named(names: tuple[str, ...]) -> str:
    """The words of the names above a value."""
    return "".join([spelt(name) for name in names[-NAMES:]])


def spelt(text: str) -> str:
    """The words of a text in small letters, parted by blanks."""
    return f" {' '.join(LETTERS.findall(HUMP.sub(' ', text))).lower()} "


OTHERS: Final = listed(
    "awb barcode batch block booking case confirmation consignment dump employee hash hexdump "
    "imei invoice isbn item lot memory offset order parcel part po product purchase ref "
    "reference reservation seed serial shipment sku staff ticket timestamp tracking "
    "transaction upc version waybill"
)  # fmt: skip
"""Words for numbers that have the shape of a person's by chance."""
CLOSE_WORDS: Final = 5
"""So many words before a number may say what else it is."""
SERIES: Final = regex(r"(?<![0-9A-Za-z-])(?:[0-9A-Fa-f]{4}|[0-9A-Fa-f]{6,16}:?[ ]?)[ ]\Z")
"""A group of digits right before another: one of a dump, or of a longer number."""


def otherwise(near: str, before: str, grouped: bool) -> bool:
    """Whether what stands before a number says that it is something else, given its words, its
    characters, and whether the number is written in groups."""
    return not OTHERS.isdisjoint(near.split()[-CLOSE_WORDS:]) or (
        grouped and SERIES.search(before) is not None
    )


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


class EntityCandidate(NamedTuple):
    """Characters that may be an entity: with a word nearby, or `sure` without."""

    start: int
    end: int
    order: int
    sure: bool


class EntityShape(NamedTuple):
    """A shape of an entity; `exact` tells letters from digits where its key does not."""

    order: int
    sure: bool
    joined: bool
    exact: re.Pattern[bytes] | None


class EntityFinder:
    """Finds what may be one of some entities. What it says of characters depends on those near them
    alone."""

    def __init__(self, entities: Sequence[PersonalEntity]) -> None:
        self.entities = tuple(entities)
        self.words = tuple([EntityWords(entity) for entity in entities])
        self.longest = max([entity.longest for entity in entities], default=0)
        self.shortest = min([_shortest(entity) for entity in entities], default=1)
        """A text that is shorter has none of them."""
        self._shapes: dict[bytes, list[EntityShape]] = {}
        heads: dict[bytes, set[int]] = {}
        for order, entity in enumerate(entities):
            for sure, shapes in ((True, entity.shapes), (False, entity.told)):
                for shape in shapes:
                    exact = regex(_regex(shape).encode()) if "*" in shape else None
                    kept = EntityShape(order, sure, any(sep in shape for sep in JOINS), exact)
                    self._shapes.setdefault(shape_key(shape), []).append(kept)
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

    def candidates(self, drawn: bytes, since: int = 0) -> list[EntityCandidate]:
        """Everything in a sketch that may be one of the entities, in the order of their
        beginnings, from a place on where words are parted."""
        if len(drawn) < self.shortest or not self.entities:
            return []
        found: list[EntityCandidate] = []
        shaped = b""
        tables = TableSketch(drawn)
        fitting: dict[bytes, list[tuple[int, tuple[EntityShape, ...]]]] = {}
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

    def _fitting(self, outline: bytes) -> list[tuple[int, tuple[EntityShape, ...]]]:
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
        self,
        drawn: bytes,
        at: int,
        fitting: list[tuple[int, tuple[EntityShape, ...]]],
        tables: TableSketch,
    ) -> Iterator[EntityCandidate]:
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
                    yield EntityCandidate(at, end, shape.order, shape.sure)

    def _address(self, drawn: bytes, at: int, tables: TableSketch) -> Iterator[EntityCandidate]:
        local = LOCAL.search(drawn, max(0, at - 64), at)
        if local is not None and begins(drawn, local.start()):
            for order in self._addresses:
                yield from self._read(drawn, local.start(), order, tables)

    def _read(
        self, drawn: bytes, at: int, order: int, tables: TableSketch
    ) -> Iterator[EntityCandidate]:
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
                    yield EntityCandidate(at, at + length, order, sure)
                    break


class TableSketch:
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


def _shortest(entity: PersonalEntity) -> int:
    """How long an entity is at least, as far as its shapes tell."""
    found = [len(shape) for shape in entity.shapes + entity.told]
    return min([*found, *([width(read(entity.sieve))[0]] if entity.sieve else [])])


def shape_key(shape: str) -> bytes:
    """The bytes by which a shape is looked up: of one with wildcards, its starred outline."""
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
