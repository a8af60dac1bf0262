"""Marks: words and values of texts as digests, so that they can be compared and not read. In a
store they have a key of their run."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Sequence
from hashlib import blake2b
from itertools import pairwise
from typing import Any, Final, Generic, NamedTuple, TypeVar

from stanchion.kernel.regex import regex
from stanchion.readings.origins.values import DistinctValue, bare, of_token, spaced, squash

T = TypeVar("T")

KEPT: Final = 16_384
LONGEST: Final = 48
"""How many texts are remembered, and how long they may be: nobody can fill much memory with
them."""
READ: Final = 2_048
"""Up to how many characters values are looked for in a token."""
WORDS: Final = regex(r"[^\W_]+")
MASK: Final = (1 << 64) - 1
STEP: Final = 0x9E3779B97F4A7C15
SHORT_NUMBER: Final = 3
"""Up to how many digits a number is too common to be anybody's own."""
NAMING: Final = frozenset({"mail", "link", "host"})
"""Kinds of values that say whom or what a phrase means that has one."""
SPECIFIC: Final = ("mail", "link", "host", "path")
"""Kinds of which one value says all that a token does."""


class TextCache(dict[str, T], Generic[T]):
    """What was found out of short texts. To look at one that is known takes no call of Python's."""

    def __init__(self, find: Callable[[str], T]) -> None:
        self._find = find

    def __missing__(self, text: str) -> T:
        found = self._find(text)
        if len(text) <= LONGEST:
            if len(self) >= KEPT:
                self.clear()
            self[text] = found
        return found


def digest(text: str) -> int:
    """A text as a number of 64 bits."""
    return int.from_bytes(blake2b(text.encode("utf-8", "replace"), digest_size=8).digest())


def key_of(*names: str) -> int:
    """The key of a run, by which its marks are multiplied where they are kept: the same in each of
    its processes."""
    return digest("\0".join(names)) | 1


def unkey(key: int) -> int:
    """The number that takes a key away again."""
    return pow(key, -1, 1 << 64)


def keyed(data: Any, key: int) -> Any:
    """Plain data with a key on each of its marks, or without it again: every number is a mark."""
    if isinstance(data, list | tuple):
        return [each * key & MASK if type(each) is int else keyed(each, key) for each in data]
    return data


class MarkedToken(NamedTuple):
    """What stands between two blanks: its words, its values, and of these the ways of writing what
    says most; whether that names somebody."""

    words: tuple[int, ...]
    values: tuple[int, ...]
    ways: tuple[int, ...]
    names: bool


def _token(piece: str) -> MarkedToken:
    inner = bare(piece) if len(piece) <= READ else ""
    found = of_token(inner) if inner else []
    most = next((some for kind in SPECIFIC if (some := _of_kind(found, kind))), found)
    said = tuple(map(digest, WORDS.findall(piece.lower())))
    names = bool(most) and most[0].kind in NAMING
    return MarkedToken(said, tuple(map(_of_value, found)), tuple(map(_of_value, most)), names)


def _of_kind(found: list[DistinctValue], kind: str) -> list[DistinctValue]:
    """The values of a kind: of a path all ways to write it, of others the first."""
    some = [value for value in found if value.kind == kind]
    return some if kind == "path" else some[:1]


def _of_value(value: DistinctValue) -> int:
    return digest(f"{value.kind}:{value.text}")


TOKENS: Final = TextCache(_token)


def marks_of(text: str) -> tuple[list[int], list[int]]:
    """The marks of all words of a text in order, and of its values."""
    tokens = [*map(TOKENS.__getitem__, text.split())]
    words = [word for token in tokens for word in token[0]]
    values = [value for token in tokens if token[1] for value in token[1]]
    return words, [*values, *map(_of_value, spaced(text))]


def words_of(text: str) -> tuple[int, ...]:
    """The marks of the words of a text, in order."""
    return tuple([word for piece in text.split() for word in TOKENS[piece][0]])


def names_somebody(text: str) -> bool:
    """Whether a text has an address, of a person or of a page."""
    return any(TOKENS[piece].names for piece in text.split())


def pairs_of(words: Sequence[int]) -> list[int]:
    """A mark for each two words that stand beside each other."""
    return [(one * STEP + other) & MASK for one, other in pairwise(words)]


def whole_of(words: Sequence[int]) -> int:
    """The one mark of several words in their order; a word's own where it stands alone."""
    if len(words) < 2:
        return words[0] if words else 0
    return int.from_bytes(blake2b(array("Q", words).tobytes(), digest_size=8).digest())


def link_mark(url: str) -> int:
    """The mark of an address just as it is."""
    return digest(f"address={squash(url.partition('://')[2] or url)}")


class Spelled(NamedTuple):
    """A value as it is looked for. `groups` are its distinctive parts, each with the ways of
    writing it: all parts have to be found, in one of their ways. One without parts is a phrase, of
    these `words`. `common` is a number that is too short to be anybody's own, `names_somebody` says
    that somebody could be reached under it."""

    groups: tuple[tuple[int, ...], ...]
    words: tuple[int, ...]
    common: bool = False
    names_somebody: bool = False

    @property
    def mark(self) -> int:
        """The one mark by which equal values are found; 0 for one that says nothing."""
        return whole_of([group[0] for group in self.groups] if self.groups else self.words)

    def has_parts_in(self, marks: Collection[int]) -> bool:
        """Whether there are distinctive parts, and a text with these marks has all of them."""
        return bool(self.groups) and all(any(way in marks for way in one) for one in self.groups)

    def stands_in(self, marks: Collection[int]) -> bool:
        """Whether a text with these marks has it, or at least all of its words."""
        if self.has_parts_in(marks):
            return True
        return bool(self.words) and all(word in marks for word in self.words)

    def is_said(self, marks: Collection[int], pairs: Collection[int]) -> bool:
        """Whether somebody whose words have these marks says just this value."""
        if self.groups:
            return self.has_parts_in(marks)
        return says(self.words, marks, pairs)


def says(words: Sequence[int], marks: Collection[int], pairs: Collection[int]) -> bool:
    """Whether a text with these marks has these words one behind the other."""
    return all(word in marks for word in words) and all(pair in pairs for pair in pairs_of(words))


def _spelled(text: str) -> Spelled:
    pieces = text.split()
    tokens = [*map(TOKENS.__getitem__, pieces)]
    words = tuple([word for token in tokens for word in token.words])
    if "://" in text and "\\" in text:
        return Spelled((), words)  # clients do not agree on where its host ends
    if len(pieces) > 1:
        whole = spaced(text)
        if whole and max([len(value.text) for value in whole]) + 1 >= len(squash(text)):
            return Spelled((tuple(map(_of_value, whole)),), words)
        groups = tuple([token.ways for token in tokens if token.names])
        return Spelled(groups, words, False, bool(groups))
    groups = tuple([token.ways for token in tokens if token.ways])
    if len(groups) == len(words) == 1:
        groups = ((*groups[0], words[0]),)  # however a text writes it: `#7423`, `(7423)`
    common = text.strip().isdigit() and len(text.strip()) <= SHORT_NUMBER and len(words) == 1
    return Spelled(groups, words, common, bool(tokens) and tokens[0].names)


SPELLED: Final = TextCache(_spelled)


def spell(text: str) -> Spelled:
    """A value in the one spelling by which it is looked for."""
    return SPELLED[text]
