"""Roles: what a parameter or a field holds, by the words of its name, then by what is said of it."""

from __future__ import annotations

import re
from enum import StrEnum
from functools import lru_cache
from typing import Final

from stanchion.guards.flow import english
from stanchion.guards.flow.nouns import stem
from stanchion.kernel.regex import regex
from stanchion.readings.hostile.sieve import compiled

PARTS: Final = regex(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")


class Role(StrEnum):
    """What a parameter is for."""

    TARGET = "target"
    OBJECT = "object"
    SECRET = "secret"
    COMMAND = "command"
    AMOUNT = "amount"
    TIME = "time"
    CONTENT = "content"
    OTHER = "other"


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


WORDS: Final = (
    (Role.TIME, _set(english.TIME)),
    (Role.CONTENT, _set(english.CONTENT)),
    (Role.SECRET, _set(english.SECRET)),
    (Role.TARGET, _set(english.TARGET)),
    (Role.AMOUNT, _set(english.AMOUNT)),
    (Role.OBJECT, _set(english.OBJECT)),
)
COMMAND: Final = _set(english.COMMAND)
TO_WHOM: Final = _set(english.TO_WHOM)
NUMBERS: Final = frozenset({"id", "ids", "number", "no", "key", "name", "names"})
IDENTIFYING: Final = _set(english.IDENTIFYING)
SECRETIVE: Final = english.SENSITIVE.replace("_?", "[_ ]?")
SENSITIVE: Final = regex(english.SENSITIVE, re.IGNORECASE)
MONEY_ID: Final = frozenset({"payment", "account", "card", "wallet", "bank"})


def split(name: str) -> list[str]:
    """The words that a name is made of, in lower case."""
    return [part.lower() for part in PARTS.findall(name)]


@lru_cache(4_096)
def role(name: str) -> Role:
    """The role of a parameter by its name; its last word tells most."""
    words = [word if word in ("cc", "bcc", "address") else stem(word) for word in split(name)]
    if not words:
        return Role.OTHER
    if len(words) == 1 and words[0] in COMMAND:
        return Role.COMMAND
    head, rest = words[-1], words[:-1]
    if head in NUMBERS and rest:
        inner = rest[-1]
        if inner in TO_WHOM:
            return Role.TARGET
        if head == "key" and inner in ("api", "private", "secret", "access"):
            return Role.SECRET
        if head in ("number", "no") and inner in MONEY_ID | {"phone", "telephone", "fax"}:
            return Role.TARGET
        return Role.OBJECT
    for word in (head, *reversed(rest)):
        for kind, known in WORDS:
            if word in known:
                return kind
    return Role.OTHER


@lru_cache(4_096)
def identifies(field: str) -> bool:
    """Whether people name a thing by this field."""
    return not IDENTIFYING.isdisjoint(split(field))


def may_be_sensitive(text: str) -> bool:
    """Whether a text may have a field, or a label, of which nobody is told what stands in it."""
    return compiled(SECRETIVE).search(text.encode("utf-8", "replace")) is not None


@lru_cache(4_096)
def sensitive(field: str) -> bool:
    """Whether what stands in a field is told to nobody unless the user names it."""
    return SENSITIVE.search(field.replace(" ", "_")) is not None
