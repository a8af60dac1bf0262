"""Nouns: what things requests and tools are about, as bits of coarse groups."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from stanchion.guards.flow.english import GROUPS, IMPLIED
from stanchion.guards.flow.values import FILE, IBAN

BITS: Final = {name: 1 << at for at, name in enumerate(GROUPS)}


def _words() -> dict[str, int]:
    found: dict[str, int] = {}
    for name, words in GROUPS.items():
        for word in words.split():
            found[word] = found.get(word, 0) | BITS[name]
    return found


def _implied() -> dict[str, int]:
    return {verb: sum([BITS[name] for name in names.split()]) for verb, names in IMPLIED.items()}


OF_WORD: Final = _words()
OF_VERB: Final = _implied()
"""What a verb is about where nothing is said."""
MONEY: Final = BITS["money"]
FILES: Final = BITS["file"]
WEB: Final = BITS["web"]
MAILS: Final = BITS["mail"]
MESSAGES: Final = BITS["message"]
GRAVE: Final = sum([bit for name, bit in BITS.items() if name not in ("file", "web", "task")])
"""What is not touched without being asked for."""


def stem(word: str) -> str:
    """A noun in the singular, more or less."""
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("ses", "xes", "ches", "shes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith("ss") and len(word) > 3:
        return word[:-1]
    return word


def groups(words: Iterable[str]) -> int:
    """The groups that words belong to; the form of an account or a file tells as well."""
    found = 0
    for word in words:
        found |= OF_WORD.get(word, 0) | OF_WORD.get(stem(word), 0)
        if "." in word and FILE.search(word):
            found |= FILES
        elif len(word) > 11 and IBAN.fullmatch(word):
            found |= MONEY
    return found
