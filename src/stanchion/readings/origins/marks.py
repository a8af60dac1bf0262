"""Marks: words and values of texts as digests, so that they can be compared and not read. In a
store they have a key of their run."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterable, Sequence
from hashlib import blake2b
from itertools import pairwise
from typing import Final, Generic, NamedTuple, TypeVar

from stanchion.kernel.regex import regex
from stanchion.readings.origins.values import Value, bare, of_token, spaced, squash

T = TypeVar("T")

KEPT: Final = 16_384
LONGEST: Final = 48
"""How many tokens are remembered, and how long they may be: nobody can fill much memory with
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
STEM: Final = "stem"
"""The kind of marks that words of one stem share."""


class Known(dict[str, T], Generic[T]):
    """What was found out of tokens. To look at one that is known takes no call of Python's."""

    def __init__(self, find: Callable[[str], T]) -> None:
        self._find = find

    def __missing__(self, piece: str) -> T:
        found = self._find(piece)
        if len(piece) <= LONGEST:
            if len(self) >= KEPT:
                self.clear()
            self[piece] = found
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


class Token(NamedTuple):
    """What stands between two blanks: its words, its values, and of these the ways of writing what
    says most; whether that names somebody."""

    words: tuple[int, ...]
    values: tuple[int, ...]
    ways: tuple[int, ...]
    names: bool


def _token(piece: str) -> Token:
    inner = bare(piece) if len(piece) <= READ else ""
    found = of_token(inner) if inner else []
    most = _most_of(found)
    said = [digest(word) for word in WORDS.findall(piece.lower())]
    names = bool(most) and most[0].kind in NAMING
    return Token(tuple(said), tuple(map(_of_value, found)), tuple(map(_of_value, most)), names)


def _most_of(found: list[Value]) -> list[Value]:
    """The values of one token that say most: an address and not only its host, a path and not only
    its last part; of a number all ways to write it."""
    for kind in SPECIFIC:
        some = [value for value in found if value.kind == kind]
        if some:
            return some if kind == "path" else some[:1]
    return found


def _of_value(value: Value) -> int:
    return digest(f"{value.kind}:{value.text}")


TOKENS: Final = Known(_token)


class Marks(NamedTuple):
    """What a text has: its words in order, and its values."""

    words: list[int]
    values: list[int]

    @property
    def pairs(self) -> list[int]:
        """A mark for each two words that stand beside each other."""
        return pairs_of(self.words)

    @property
    def whole(self) -> int:
        """The one mark of all its words."""
        return whole_of(self.words)


def marks_of(text: str) -> Marks:
    """The marks of all words and values of a text."""
    tokens = [*map(TOKENS.__getitem__, text.split())]
    words = [word for token in tokens for word in token[0]]
    values = [value for token in tokens if token[1] for value in token[1]]
    return Marks(words, [*values, *map(_of_value, spaced(text))])


def words_of(text: str) -> tuple[int, ...]:
    """The marks of the words of a text, in order."""
    return tuple([word for piece in text.split() for word in TOKENS[piece][0]])


def pairs_of(words: Sequence[int]) -> list[int]:
    """A mark for each two words that stand beside each other."""
    return [(one * STEP + other) & MASK for one, other in pairwise(words)]


def whole_of(words: Sequence[int]) -> int:
    """The one mark of several words in their order; a word's own where it stands alone."""
    if len(words) < 2:
        return words[0] if words else 0
    return int.from_bytes(blake2b(array("Q", words).tobytes(), digest_size=8).digest())


def kind_mark(kind: str, text: str) -> int:
    """The mark of a text among those of its kind."""
    return digest(f"{kind}={text}")


def link_mark(url: str) -> int:
    """The mark of an address just as it is."""
    return kind_mark("address", squash(url.partition("://")[2] or url))


class Spelled(NamedTuple):
    """A value as it is looked for. `groups` are its distinctive parts, each with the ways of
    writing it: all parts have to be found, in one of their ways. One without parts is a phrase, of
    these `words`. `common` is a number that is too short to be anybody's own, `names_somebody` says
    that somebody could be reached under it."""

    groups: tuple[tuple[int, ...], ...]
    words: tuple[int, ...]
    common: bool = False
    names_somebody: bool = False

    def times(self, key: int) -> Spelled:
        """The same with a key, or without it again."""
        groups = tuple([tuple(times(group, key)) for group in self.groups])
        return self._replace(groups=groups, words=tuple(times(self.words, key)))

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
        return all(word in marks for word in self.words) and all(
            pair in pairs for pair in pairs_of(self.words)
        )


def spell(text: str) -> Spelled:
    """A value in the one spelling by which it is looked for."""
    pieces = text.split()
    tokens = [*map(TOKENS.__getitem__, pieces)]
    words = tuple([word for token in tokens for word in token[0]])
    if "://" in text and "\\" in text:
        return Spelled((), words)  # clients do not agree on where its host ends
    groups = tuple([token.ways for token in tokens if token.ways])
    if len(pieces) > 1:
        whole = spaced(text)
        if whole and max([len(value.text) for value in whole]) + 1 >= len(squash(text)):
            return Spelled((tuple(map(_of_value, whole)),), words)
        groups = tuple([token.ways for token in tokens if token.names])
        return Spelled(groups, words, False, bool(groups))
    if len(groups) == len(words) == 1:
        groups = ((*groups[0], words[0]),)  # however a text writes it: `#7423`, `(7423)`
    common = len(text) <= SHORT_NUMBER + 2 and text.strip().isdigit() and len(words) == 1
    short = common and len(text.strip()) <= SHORT_NUMBER
    return Spelled(groups, words, short, bool(tokens) and tokens[0].names)


def times(marks: Iterable[int], key: int) -> list[int]:
    """Marks with a key, or without it again."""
    return [mark * key & MASK for mark in marks]
