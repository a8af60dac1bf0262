"""Values: what an argument holds, in its parts and in a form that can be compared."""

from __future__ import annotations

import re
from typing import Any, Final

from stanchion.kernel.regex import regex
from stanchion.readings.hostile import normal

MAIL: Final = regex(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}")
URL: Final = regex(r"(?:https?://|www\.)[^\s'\"<>)\]]{1,2000}", re.IGNORECASE)
CODE: Final = regex(r"\b[A-Z]{2}(?=[A-Z0-9-]{0,60}\d)[A-Z0-9-]{8,60}\b|\b0x[0-9a-fA-F]{16,64}\b|\b\d{8,40}\b")
IBAN: Final = regex(r"[a-z]{2}\d{2}[a-z0-9]{8,30}", re.IGNORECASE)
HOST: Final = regex(
    r"\b(?:\d{1,3}\.){3}\d{1,3}\b|\b[\w-]{1,63}(?:\.[\w-]{1,63}){0,6}\.(?:com|net|org|io|ru|cn|xyz|top|info|dev|app|site"
    r"|me|co|ai|sh|to|cc|biz|online|cloud|tech|store|link|page)\b",
    re.IGNORECASE,
)
PRIVATE: Final = regex(r"(?:https?://)?(?:127\.|0\.0\.0\.0|10\.|192\.168\.|localhost|\[::1\])")
FILE: Final = regex(r"\.(?:docx?|xlsx?|pptx?|pdf|txt|md|csv|py|sh|js|ts|json|ya?ml|html?|png|jpe?g|zip|log|eml)$")
SHAPED: Final = regex(r"\.\w{2,5}$|@|/")
ZEROS: Final = regex(r"\.0+$")
GOES_ON: Final = regex(r"[.,](?!0+(?!\d))\d|,\d")
"""A number that is not at its end: what follows makes it another one."""
DIGIT: Final = regex(r"\d")
LONG_NUMBER: Final = regex(r"\d\d\d|0x")
DEEPEST: Final = 24
MOST: Final = 400
"""How many values of a call are looked at."""

BYTES: Final = bytes(
    [32 if code < 128 and not (chr(code).isalnum() or chr(code) == "_") else code for code in range(256)]
)
"""Everything of ASCII that is in no word, as blanks."""
MARKS: Final = regex("[\u00a0-\u00bf\u2000-\u206f\u3000-\u303f]")
"""Punctuation beyond ASCII."""


def words(text: str) -> list[str]:
    """The words of a text in its normal form, in order."""
    if not text.isascii():
        text = MARKS.sub(" ", text)
    return text.encode("utf-8", "surrogatepass").translate(BYTES).decode("utf-8", "surrogatepass").split()


class Value:
    """One value of a call: the name of its parameter, what it is as a text, its normal form and its words."""

    __slots__ = ("_words", "name", "normal", "text")

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.text = text
        lower = text.lower()
        plain = lower.isascii() and lower.isprintable() and "  " not in lower and lower.strip() == lower
        self.normal = lower if plain else normal(text)
        self._words: list[str] | None = None

    @property
    def words(self) -> list[str]:
        """Its words, in order."""
        if self._words is None:
            self._words = words(self.normal)
        return self._words


def values(args: Any) -> list[tuple[str, str]]:
    """The values of arguments as texts, each with the name of the innermost parameter that it is of; empty ones are
    none."""
    found: list[tuple[str, str]] = []
    if type(args) is not dict:
        _collect(args, "", found, 0)
        return found
    for name, value in args.items():
        if type(value) is str:
            if value and not value.isspace() and len(found) < MOST:
                found.append((name, value))
        else:
            _collect(value, name if type(name) is str else str(name), found, 1)
    return found


def _collect(value: Any, name: str, found: list[tuple[str, str]], depth: int) -> None:
    kind = type(value)
    if kind is str:
        if value and not value.isspace() and len(found) < MOST:
            found.append((name, value))
    elif kind is dict:
        for key, each in value.items() if depth < DEEPEST else ():
            _collect(each, key if type(key) is str else str(key), found, depth + 1)
    elif kind is list or kind is tuple:
        for each in value if depth < DEEPEST else ():
            if type(each) is str and each and not each.isspace() and len(found) < MOST:
                found.append((name, each))
            else:
                _collect(each, name, found, depth + 1)
    elif value is not None and kind is not bool and len(found) < MOST:
        found.append((name, str(value)))


def shapes(text: str, hosts: bool = False) -> list[str]:
    """What in a text is an address, a URL, or the number of an account or a document."""
    found = MAIL.findall(text) if "@" in text else []
    if "://" in text or "www." in text or "WWW." in text:
        found += URL.findall(text)
    if LONG_NUMBER.search(text):
        found += CODE.findall(text)
    return found + HOST.findall(text) if hosts else found


def within(text: str, part: str) -> bool:
    """Whether a part stands in a text as whole words."""
    at = text.find(part)
    while at >= 0:
        if stands(text, at, len(part)):
            return True
        at = text.find(part, at + 1)
    return False


def stands(text: str, at: int, size: int, number: bool = False) -> bool:
    """Whether what is found at a place are whole words. A short number does not touch what it may be a part of."""
    end = at + size
    before = text[at - 1] if at else " "
    after = text[end] if end < len(text) else " "
    if before.isalnum() or after.isalnum() or before == "_" or after == "_":
        return False
    return not number or not (before in "-.,/:" or after in "-:/" or GOES_ON.match(text, end))


def is_short_number(text: str) -> bool:
    """Whether a value is so short a number that it may be a part of many things."""
    return text[:1].isdigit() and len(text) < 8
