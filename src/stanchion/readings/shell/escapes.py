"""Escapes: what `\\n`, `\\x41` and their like stand for in `$'…'`, `echo -e` and `printf`."""

from __future__ import annotations

import re
from typing import Final

from stanchion.kernel.regex import regex

_ESCAPE: Final = regex(
    r"\\(?:x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|(0?[0-7]{1,3})|c(.)|(.))",
    re.DOTALL,
)
_SIMPLE: Final = {
    "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t",
    "v": "\v", "\\": "\\", "'": "'", '"': '"', "?": "?",
}  # fmt: skip


def unescape(text: str) -> str:
    """The text with its escapes carried out; one that means nothing stays as it is."""
    return _ESCAPE.sub(_meant, text) if "\\" in text else text


def _meant(found: re.Match[str]) -> str:
    byte, short, long, octal, control, simple = found.groups()
    if simple is not None:
        return _SIMPLE.get(simple, "\\" + simple)
    if control is not None:
        return chr(ord(control) & 0x1F)
    number = int(octal, 8) & 0xFF if octal is not None else int(byte or short or long, 16)
    return chr(number) if number < 0x110000 else ""
