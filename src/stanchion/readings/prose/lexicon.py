"""The lexicon: stems of words, what kind of words they are, and which are related; built from
WordNet."""

from __future__ import annotations

import zlib
from enum import StrEnum
from functools import cache, lru_cache
from pkgutil import get_data
from typing import Final, NamedTuple

from stanchion.kernel.regex import regex

FILE: Final = "lexicon.bin"
KEPT: Final = 65_536
"""How many words are remembered with their stems."""
ENDINGS: Final = (("ies", "y"), ("sses", "ss"), ("ing", ""), ("ed", ""), ("es", ""), ("s", ""))
SHORTEST: Final = 3
LONG: Final = 5
"""Longer words have one `l` at their end: cancelled, cancel."""
WORDS: Final = regex(r"[^\W\d_]+(?:'[a-z]+)?|\d+")
NONE: Final[frozenset[str]] = frozenset()


class Mark(StrEnum):
    """What kind of word a stem is of."""

    VERB = "v"
    BASE = "b"
    """A verb as it stands, and no stem."""
    ONLY_VERB = "d"
    """Hardly ever a noun."""
    PAST = "p"
    WEAK = "w"
    """Says nothing of what is wanted by itself."""
    GENERIC = "g"
    READS = "r"
    PREPARES = "s"
    SAYS = "y"
    """Puts something into words."""
    MAKES = "k"
    """Says only that something is brought about; what, other words say."""
    TEXT = "t"
    """Names a kind of thing that carries text; its number says which."""
    LIST = "+"
    """Is in a list of words as they stand; its name says which."""
    SAID = "f"
    MEANT = "m"
    """Who says the one of an agent means a tool that is called by the other; their numbers say
    which."""


class Word(NamedTuple):
    """What is known of a stem."""

    marks: frozenset[str] = NONE
    near: frozenset[str] = NONE
    wide: frozenset[str] = NONE
    """What it is related to widely, its near relations included."""


UNKNOWN: Final = Word()


@lru_cache(KEPT)
def stem(word: str) -> str:
    """A word in lower case without its ending."""
    for ending, instead in ENDINGS:
        if (
            word.endswith(ending)
            and len(word) - len(ending) >= SHORTEST
            and not (ending == "s" and word.endswith("ss"))
        ):
            return _short(word[: len(word) - len(ending)] + instead, ending)
    return _without_e(word)


def _short(base: str, ending: str) -> str:
    if (
        ending in ("ing", "ed")
        and len(base) > SHORTEST
        and base[-1] == base[-2]
        and base[-1] not in "lsz"
    ):
        base = base[:-1]
    return _without_e(base)


def _without_e(word: str) -> str:
    if len(word) > LONG and word.endswith("ll"):
        return word[:-1]
    return word[:-1] if len(word) > SHORTEST and word.endswith("e") else word


def words(text: str) -> list[str]:
    """The words of a text, in lower case."""
    return WORDS.findall(text.lower())


@cache
def _table() -> dict[str, str]:
    body = get_data(__package__, FILE)
    if body is None:
        raise FileNotFoundError(
            f"`{FILE}` is not beside the code that reads it: install the package again"
        )
    text = zlib.decompress(body).decode()
    found: dict[str, str] = {}
    for line in text.split("\n"):
        word, _, rest = line.partition("\t")
        found[word] = rest
    return found


@lru_cache(KEPT)
def known(stemmed: str) -> Word:
    """What is known of a stem."""
    line = _table().get(stemmed)
    if line is None:
        return UNKNOWN
    marks, near, wide = line.split("\t")
    close = frozenset(near.split())
    return Word(frozenset(marks.split()), close, close | frozenset(wide.split()))


@lru_cache(KEPT)
def is_listed(word: str, name: str) -> bool:
    """Whether a word as it stands is in a list."""
    return Mark.LIST + name in known(word).marks


@lru_cache(KEPT)
def telling(word: str) -> str:
    """The stem of a word, empty for one that says nothing of what a text is about."""
    stemmed = word if word.isdigit() else stem(word)
    return "" if _is_generic(word) or _is_generic(stemmed) else stemmed


def _is_generic(word: str) -> bool:
    """Whether a word says nothing; one that nobody knows is not even remembered."""
    return word in _table() and Mark.GENERIC in known(word).marks


def stems(text: str) -> frozenset[str]:
    """The stems of the words of a text that say something."""
    return stems_of(words(text))


def stems_of(said: list[str]) -> frozenset[str]:
    """The stems of those words that say something."""
    return frozenset(filter(None, map(telling, said)))
