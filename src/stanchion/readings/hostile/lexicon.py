"""The lexicons of all languages as one: verbs with their effects, and the words that stand round them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from stanchion.readings.hostile.effects import ANY, CREATE, EFFECTS, SAY, VISIT
from stanchion.readings.hostile.languages import english

Verbs = Mapping[str, int]
"""Verbs in their base form, with the bits of what they bring about."""


def _verbs() -> dict[str, int]:
    found: dict[str, int] = {}
    for name, words in english.VERBS.items():
        for word in words.split():
            found[word] = found.get(word, 0) | EFFECTS[name]
    return found


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


VERBS: Final[Verbs] = _verbs()
"""What a person may mean by a verb."""
READS: Final = _set(english.READS) - {"sort"}
VISITS: Final = _set(english.VISITS)
NOMINAL: Final = english.NOMINAL
JOINED: Final = english.JOINED
COMMANDING: Final = _set(english.COMMANDING)
SOFT: Final = _set(english.SOFT)
STOPWORDS: Final = _set(english.STOPWORDS)
COMMANDS: Final[Verbs] = {
    **dict.fromkeys(VISITS, VISIT),
    **VERBS,
    **{verb: VERBS.get(verb, 0) | VISIT for verb in VISITS if verb != "navigate"},
    "setup": CREATE,
    **dict.fromkeys(_set(english.SAYS), SAY),
}
"""What a text may want of its reader by a verb."""
POLITE: Final = ANY
