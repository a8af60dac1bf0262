"""Tokens: what stands between two blanks. Each is read once for its words, their stems and its values, as most of the
tokens of a text were seen before."""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple

from stanchion.readings.prose.lexicon import stems_of, words
from stanchion.readings.prose.values import Value, bare, of_token, spaced

KEPT: Final = 16_384
LONGEST: Final = 48
"""How many tokens are remembered, and how long they may be: nobody can fill much memory with them."""


class Token(NamedTuple):
    """What a token says. `values` is nothing at all where there is no sign or digit in it."""

    words: tuple[str, ...]
    stems: tuple[str, ...]
    values: tuple[Value, ...] | None


def tokens(text: str) -> list[Token]:
    """The tokens of a text, in order."""
    return [_known(piece) if len(piece) <= LONGEST else _read(piece) for piece in text.split()]


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


def _read(piece: str) -> Token:
    own = words(piece)
    inner = bare(piece)
    return Token(tuple(own), tuple(stems_of(own)), tuple(of_token(inner)) if inner else None)


_known = lru_cache(KEPT)(_read)
