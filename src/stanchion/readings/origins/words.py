"""Words: their stems, and which of them say nothing of what a text is about."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from stanchion.kernel.regex import regex
from stanchion.readings.word_lists import in_order, listed

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
        if (
            word.endswith(ending)
            and len(word) - len(ending) >= SHORTEST
            and not (ending == "s" and word.endswith("ss"))
        ):
            return _short(word[: len(word) - len(ending)] + instead, ending)
    return _without_e(word)


def _short(base: str, ending: str) -> str:
    doubled = ending in ("ing", "ed") and len(base) > SHORTEST and base[-1] == base[-2]
    if doubled and base[-1] not in "lsz":
        base = base[:-1]
    return _without_e(base)


def _without_e(word: str) -> str:
    if len(word) > LONG and word.endswith("ll"):
        return word[:-1]
    return word[:-1] if len(word) > SHORTEST and word.endswith("e") else word


REQUESTS: Final = frozenset(
    map(
        stem,
        in_order(
            """
        answer book buy cancel change check create delete email find forward get inbox invite mail
        message move open order pay post print read remove reply reserve schedule send share show
        summarise summarize tell transfer update write
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
