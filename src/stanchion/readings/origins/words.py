"""Words: their stems, and which of them say nothing of what a text is about."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from stanchion.kernel.regex import regex
from stanchion.readings.origins.marks import digest
from stanchion.readings.word_lists import listed

KEPT: Final = 65_536
"""How many words are remembered with their stems."""
ENDINGS: Final = (("ies", "y"), ("sses", "ss"), ("ing", ""), ("ed", ""), ("es", ""), ("s", ""))
SHORTEST: Final = 3
LONG: Final = 5
"""Longer words have one `l` at their end: cancelled, cancel."""
WORDS: Final = regex(r"[^\W\d_]+(?:'[a-z]+)?|\d+")
GENERIC: Final = listed(
    """
    a an the this that these those my your his her its our their me you him them it i we he she they
    us of to in on at by for with from and or if then than as is are was were be been being am do
    does did done have has had will would can could should may might must shall not no any all some
    each every please just also so very there here what which who whom whose when where how why up
    out into about over after before more most other new name type value data info information
    detail details id ids user users account list item items result results number date time day
    want need like make sure use using let get thing things one two first last next same go www com
    http https org net html
    """
)


@lru_cache(KEPT)
def stem(word: str) -> str:
    """A word in lower case without its ending."""
    for ending, instead in ENDINGS:
        ends = word.endswith(ending) and not (ending == "s" and word.endswith("ss"))
        if ends and len(word) - len(ending) >= SHORTEST:
            word = word[: -len(ending)] + instead
            doubled = ending in ("ing", "ed") and len(word) > SHORTEST and word[-1] == word[-2]
            word = word[:-1] if doubled and word[-1] not in "lsz" else word
            break
    if len(word) > LONG and word.endswith("ll"):
        return word[:-1]
    return word[:-1] if len(word) > SHORTEST and word.endswith("e") else word


REQUESTS: Final = frozenset(
    map(
        stem,
        listed(
            """
            answer book buy cancel change check create delete email find forward get inbox invite
            mail message move open order pay post print read remove reply reserve schedule send
            share show summarise summarize tell transfer update write
            """
        ),
    )
)
"""Stems that users' requests begin with: a title that is made of them means nothing."""


@lru_cache(KEPT)
def telling(word: str) -> str:
    """The stem of a word, empty for one that says nothing of what a text is about."""
    stemmed = word if word.isdigit() else stem(word)
    return "" if word in GENERIC or stemmed in GENERIC else stemmed


def stems(text: str) -> frozenset[str]:
    """The stems of the words of a text that say something."""
    return stems_of(WORDS.findall(text.lower()))


def stems_of(said: list[str]) -> frozenset[str]:
    """The stems of those words that say something."""
    return frozenset(filter(None, map(telling, said)))


@lru_cache(KEPT)
def _mark(stemmed: str) -> int:
    return digest(f"stem={stemmed}")


def stem_marks(stemmed: Iterable[str]) -> list[int]:
    """The marks of stems."""
    return [*map(_mark, stemmed)]
