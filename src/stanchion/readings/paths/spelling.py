"""Spelling: every way in which a path's text may be read, so that no encoding of a path hides where
it leads."""

from __future__ import annotations

import re
import unicodedata
from typing import Final, NamedTuple

from stanchion.kernel.regex import regex

LONGEST: Final = 4_096
"""No system takes a longer path."""
LONGEST_NAME: Final = 255
"""No file system has a longer name."""
DECODED: Final = 3
"""How often a text is decoded; what is encoded more often is no honest path."""

_PLAIN: Final = regex(
    r"[A-Za-z0-9_/ +=@,~{}()-]*(?:\.(?![.?/ ])[A-Za-z0-9_/ +=@,~{}()-]+)*(?<! )\Z"
)
"""Texts that can be read in one way only."""
_ESCAPES: Final = regex(r"(?:%u[0-9A-Fa-f]{4}|%[0-9A-Fa-f]{2})+")
_ESCAPE: Final = regex(r"%u([0-9A-Fa-f]{4})|%([0-9A-Fa-f]{2})")
_HEX: Final = regex(r"0x(2e|2f|5c)|(?<=\.\.)(2f|5c)", re.IGNORECASE)
_CONTROL: Final = regex(r"[\x00-\x1f\x7f-\x9f]")
_NO_NAME: Final = regex("[\ud800-\udfff\ue000-\uf8ff]")
_NESTED: Final = regex(r"%%[0-9A-Fa-f]{2}")
_BROKEN: Final = regex(r"[.?]{2}%(?![0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4})")

_LOOKALIKE: Final = str.maketrans(
    {
        **dict.fromkeys("\u2044\u2215\u29f8\u2571\u27cb\u338f", "/"),
        **dict.fromkeys("\u2216\u29f5\u29f9\u27cd", "/"),
        **dict.fromkeys("\u2024\ua4f8\u0701\u0702", "."),
        "\\": "/",
    }
)
_LENGTHS: Final = ((0xC0, 0xE0, 2, 0x80), (0xE0, 0xF0, 3, 0x800), (0xF0, 0xF8, 4, 0x10000), (0xF8, 0xFC, 5, 0x200000),  # noqa: E501
                   (0xFC, 0xFE, 6, 0x4000000))  # fmt: skip
"""Bytes that begin a sequence (from, below), how many bytes it has, and the least number that needs
so many."""


class PathSpelling(NamedTuple):
    """A path as the system takes it, the texts that lenient systems may read it as, and why it
    cannot be read."""

    text: str
    lenient: tuple[str, ...] = ()
    unclear: str = ""


def spelling(text: str) -> PathSpelling:
    """Every reading of a path: as it is written, with look-alikes folded, and decoded again and
    again."""
    short = len(text) <= LONGEST_NAME and " /" not in text and "0x" not in text
    if short and _PLAIN.match(text):
        return PathSpelling(text)
    if len(text) > LONGEST:
        return PathSpelling(text[:LONGEST], (), f"it is longer than {LONGEST:,} characters")
    first = unicodedata.normalize("NFC", text)
    lenient: list[str] = []
    unclear = ""
    for _ in range(DECODED + 1):
        folded = _folded(text)
        lenient += [folded] if "\\." not in text else [folded, _folded(text.replace("\\", ""))]
        decoded, trouble = _decoded(text)
        unclear = unclear or _trouble(text, folded) or trouble
        if decoded == text:
            break
        text = decoded
    else:
        unclear = unclear if unclear else f"it is encoded more than {DECODED} times"
    if not unclear and any(len(name) > LONGEST_NAME for name in lenient[-1].split("/")):
        unclear = f"a name in it is longer than {LONGEST_NAME} characters"
    return PathSpelling(first, tuple(dict.fromkeys(lenient)), unclear)


def _trouble(text: str, folded: str) -> str:
    if _CONTROL.search(text):
        return "it has control characters"
    if _NO_NAME.search(text):
        return "it has characters that stand for nothing"
    if _NESTED.search(text):
        return "it has an escape inside an escape"
    return "it has dots beside an escape that cannot be read" if _BROKEN.search(folded) else ""


def _folded(text: str) -> str:
    """The text as a lenient system takes it: look-alikes are what they look like, the invisible is
    not there."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
        text = "".join([char for char in text if unicodedata.category(char) != "Cf"])
    text = _CONTROL.sub("", text).translate(_LOOKALIKE)
    return _HEX.sub(_char, text)


def _char(found: re.Match[str]) -> str:
    code = found[1] if found[1] is not None else found[2]
    return "." if code.lower() == "2e" else "/"


def _decoded(text: str) -> tuple[str, str]:
    """The text with its escapes decoded once, and what is wrong with them."""
    if "%" not in text:
        return text, ""
    trouble: list[str] = []

    def decode(run: re.Match[str]) -> str:
        made: list[str] = []
        pending = bytearray()
        for wide, byte in _ESCAPE.findall(run[0]):
            if byte:
                pending.append(int(byte, 16))
                continue
            made += [_text(pending, trouble), chr(int(wide, 16))]
            pending.clear()
        return "".join([*made, _text(pending, trouble)])

    return _ESCAPES.sub(decode, text), trouble[0] if trouble else ""


def _text(data: bytearray, trouble: list[str]) -> str:
    """Bytes as text: as UTF-8, else as lenient decoders of UTF-8 have taken them, else each for
    itself."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        pass
    made: list[str] = []
    at = 0
    while at < len(data):
        byte = data[at]
        length, least = next(
            ((n, least) for low, high, n, least in _LENGTHS if low <= byte < high), (1, 0)
        )
        rest = data[at + 1 : at + length]
        whole = length > 1 and len(rest) == length - 1
        if not whole or not (byte in (0xC0, 0xC1) or all(0x80 <= one < 0xC0 for one in rest)):
            if byte in (0xC0, 0xC1):
                trouble.append("it has an escape that is not a character")
            made.append(chr(byte))
            at += 1
            continue
        number = byte & (0x7F >> length)
        for one in rest:
            number = number << 6 | one & 0x3F
        if number < least:
            trouble.append("it has a character in more bytes than it needs")
        made.append(chr(number) if number < 0xD800 else "?")
        at += length
    return "".join(made)
