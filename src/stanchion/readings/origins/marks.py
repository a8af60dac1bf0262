"""Marks: words and values of texts as digests with a key of their run, so that they can be compared
in another process and read in none."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
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
WORDS: Final = regex(r"[^\W_]+")
MASK: Final = (1 << 64) - 1
STEP: Final = 0x9E3779B97F4A7C15
SHORT_NUMBER: Final = 3
"""Up to how many digits a number is too common to be anybody's own."""
NAMING: Final = frozenset({"mail", "link", "host"})
"""Kinds of values that say whom or what a phrase means that has one."""


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
    """The key of a run: the same in each of its processes."""
    return digest("\0".join(names)) | 1


class Token(NamedTuple):
    """What stands between two blanks, without any key: its words and its values."""

    words: tuple[int, ...]
    values: tuple[int, ...]


def _token(piece: str) -> Token:
    inner = bare(piece)
    found = of_token(inner) if inner else []
    said = [digest(word) for word in WORDS.findall(piece.lower())]
    return Token(tuple(said), tuple([_of_value(value) for value in found]))


def _of_value(value: Value) -> int:
    return digest(f"{value.kind}:{value.text}")


TOKENS: Final = Known(_token)


def marks_of(text: str, key: int) -> set[int]:
    """The marks of all words and values of a text."""
    found: set[int] = set()
    for token in map(TOKENS.__getitem__, set(text.split())):
        found.update(token.words)
        found.update(token.values)
    found.update(map(_of_value, spaced(text)))
    return {each * key & MASK for each in found}


def words_of(text: str, key: int) -> list[int]:
    """The marks of the words of a text, in order."""
    return [word * key & MASK for piece in text.split() for word in TOKENS[piece].words]


def pairs_of(words: Sequence[int]) -> Iterator[int]:
    """A mark for each two words that stand beside each other."""
    for one, next_ in pairwise(words):
        yield (one * STEP + next_) & MASK


STEM: Final = "stem"
"""The kind of marks that words of one stem share."""


def kind_mark(kind: str, text: str, key: int) -> int:
    """The mark of a text among those of its kind."""
    return digest(f"{kind}={text}") * key & MASK


def link_mark(url: str, key: int) -> int:
    """The mark of an address just as it is."""
    return digest("address:" + squash(url.partition("://")[2] or url)) * key & MASK


class Spelled(NamedTuple):
    """A value as it is looked for. `groups` are its distinctive parts, each with the ways of
    writing it: all parts have to be found, in one of their ways. One without parts is a phrase, of
    these `words`. `common` is a number that is too short to be anybody's own."""

    groups: tuple[tuple[int, ...], ...]
    words: tuple[int, ...]
    common: bool = False
    names_somebody: bool = False
    """Whether it has an address under which somebody could be reached."""

    @property
    def mark(self) -> int:
        """The one mark by which equal values are found; 0 for one that says nothing."""
        found = 0
        for each in [group[0] for group in self.groups] if self.groups else self.words:
            found = (found * STEP + each) & MASK
        return found

    def stands_in(self, marks: Collection[int]) -> bool:
        """Whether a text with these marks has it, or at least all of its words."""
        if self.groups and all(any(way in marks for way in group) for group in self.groups):
            return True
        return bool(self.words) and all(word in marks for word in self.words)

    def is_said(self, marks: Collection[int], pairs: Collection[int]) -> bool:
        """Whether somebody whose words have these marks says just this value."""
        if self.groups:
            return all(any(way in marks for way in group) for group in self.groups)
        return all(word in marks for word in self.words) and all(
            pair in pairs for pair in pairs_of(self.words)
        )


def spell(text: str, key: int) -> Spelled:
    """A value in the one spelling by which it is looked for."""
    text = text.strip()
    words = tuple(words_of(text, key))
    found = _ways(text)
    groups = tuple([tuple([_of_value(value) * key & MASK for value in ways]) for ways in found])
    if len(groups) == len(words) == 1:
        groups = ((*groups[0], words[0]),)  # however a text writes it: `#7423`, `(7423)`
    common = text.isdigit() and len(text) <= SHORT_NUMBER
    return Spelled(groups, words, common, any(ways[0].kind in NAMING for ways in found))


def _ways(text: str) -> list[list[Value]]:
    """The distinctive parts of a value, each in its ways of being written."""
    pieces = text.split()
    read = [of_token(inner) for piece in pieces if (inner := bare(piece))]
    whole = spaced(text)
    found = [each for each in map(_most_of, read) if each]
    if len(pieces) == 1:
        return found
    if whole and max([len(value.text) for value in whole]) + 1 >= len(squash(text)):
        return [whole]
    return [each for each in found if each[0].kind in NAMING]


def _most_of(found: list[Value]) -> list[Value]:
    """The values of one token that say most: an address and not only its host, a path and not only
    its last part; of a number all ways to write it."""
    for kind in ("mail", "link", "host", "path"):
        some = [value for value in found if value.kind == kind]
        if some:
            return some[:1]
    return found
