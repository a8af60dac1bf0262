"""Numerals: whole numbers below a hundred that are written as words."""

from __future__ import annotations

from typing import Final

_ONES: Final = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_TEENS: Final = (
    "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen",
    "eighteen", "nineteen",
)  # fmt: skip
_TENS: Final = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")

WORD: Final = (
    rf"(?:(?:{'|'.join(_TENS)})(?:[- ](?:{'|'.join(_ONES)}))?|{'|'.join(_TEENS)}|"
    rf"{'|'.join(_ONES)}|zero|no)"
)
"""How such a number is written; `no` counts as well."""


def number_of(text: str) -> int | str:
    """A whole number, in digits or in words; what is none stays a text, which counts nothing."""
    plain = text.replace(",", "")
    if plain in _VALUES:
        return _VALUES[plain]
    try:
        return int(plain)
    except ValueError:
        return plain


def _values() -> dict[str, int]:
    found = {"zero": 0, "no": 0, **{word: at for at, word in enumerate((*_ONES, *_TEENS), start=1)}}
    for ten, word in enumerate(_TENS, start=2):
        found[word] = ten * 10
        for one, unit in enumerate(_ONES, start=1):
            found[f"{word}-{unit}"] = found[f"{word} {unit}"] = ten * 10 + one
    return found


_VALUES: Final = _values()
