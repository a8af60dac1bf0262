"""Tokens: what stands between two blanks. Each is read once for its words, their stems and its
values, as most of the tokens of a text were seen before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Generic, NamedTuple, TypeVar

from stanchion.readings.prose.lexicon import stems_of, words
from stanchion.readings.prose.values import Value, bare, of_token, spaced

T = TypeVar("T")

KEPT: Final = 16_384
LONGEST: Final = 48
"""How many tokens are remembered, and how long they may be: nobody can fill much memory with
them."""
SILENT: Final = frozenset({""})
NO_VALUES: Final[frozenset[Value]] = frozenset()


class Token(NamedTuple):
    """What a token says. `values` is nothing at all where there is no sign or digit in it."""

    words: tuple[str, ...]
    stems: tuple[str, ...]
    values: tuple[Value, ...] | None


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


def tokens(text: str) -> list[Token]:
    """The tokens of a text, in order."""
    return [*map(READ.__getitem__, text.split())]


def words_in(read: list[Token]) -> list[str]:
    """The words of tokens, in order."""
    return [word for token in read for word in token[0]]


def stems_in(read: list[Token]) -> frozenset[str]:
    """The stems of those words that say something."""
    return frozenset([stemmed for token in read for stemmed in token[1]])


def values_in(text: str, read: list[Token]) -> list[Value]:
    """The values of a text, whose tokens these are."""
    odd = [token[2] for token in read if token[2] is not None]
    if not odd:
        return []
    found = [value for values in odd for value in values]
    found += spaced(text)
    return found


def stems_and_values(text: str) -> tuple[frozenset[str], frozenset[Value]]:
    """The stems and the values of a text; where all its tokens are plain words, at once."""
    found = frozenset(map(PLAIN.__getitem__, text.split()))
    if None not in found:
        return found - SILENT, NO_VALUES  # type: ignore[return-value]  # nothing but stems is left in it
    read = tokens(text)
    return stems_in(read), frozenset(values_in(text, read))


def _read(piece: str) -> Token:
    own = words(piece)
    inner = bare(piece)
    return Token(tuple(own), tuple(stems_of(own)), tuple(of_token(inner)) if inner else None)


def _plain(piece: str) -> str | None:
    """The stem of a token that is one word, empty for one that says nothing; none for all other
    tokens."""
    _, stems, values = READ[piece]
    if values is not None or len(stems) > 1:
        return None
    return stems[0] if stems else ""


READ: Final = Known(_read)
PLAIN: Final = Known(_plain)
