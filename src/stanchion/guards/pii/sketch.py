"""Sketches: texts as bytes, one for each character, on which shapes are found by their place."""

from __future__ import annotations

from typing import Final

LETTERS: Final = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
DIGITS: Final = b"0123456789"
WORD: Final = frozenset(LETTERS + DIGITS + b"_")
SHAPED: Final = bytes.maketrans(LETTERS + DIGITS, b"A" * 52 + b"9" * 10)
"""Makes the shape of a text: `A` for a letter, `9` for a digit."""
STARRED: Final = bytes.maketrans(LETTERS + DIGITS, b"*" * 62)
"""Makes the shape of a text in which letters and digits are alike."""
KNIT: Final = b"-."
"""What ties a word to the next one: neither is looked at alone."""
TIED: Final = WORD | {93}
"""What a word may be tied to: another word, or the placeholder that stands for one."""
ALIKE: Final = {
    **dict.fromkeys("\u00a0\u2007\u2009\u202f", " "),
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2212", "-"),
}
"""Blanks and hyphens that are not ASCII, and what they are read as."""
INSIDE: Final = b"_.,-/+()@:%'"
"""What may stand inside of a thing besides letters and digits; everything else parts."""
PARTED: Final = bytes(
    [124 if byte not in WORD and byte not in INSIDE else 46 for byte in range(256)]
)
PARTED_BY_BLANKS: Final = bytes(
    [124 if byte <= 32 or byte in b'"<>\\^`{|}' else 46 for byte in range(256)]
)
CUT: Final = b"|"


def sketch(text: str) -> bytes:
    """One byte for each character; what is not ASCII becomes a question mark, unless it is a blank
    or a hyphen."""
    if text.isascii():
        return text.encode()
    for char, plain in ALIKE.items():
        if char in text:
            text = text.replace(char, plain)
    return text.encode("ascii", "replace")


def compact(drawn: bytes) -> str:
    """The letters and digits of a piece, in capitals."""
    return drawn.translate(None, b" .,-/+()").decode().upper()


BEGINS: Final = r"(?:^|[^0-9A-Za-z_.@+-]|(?:^|[^0-9A-Za-z_\]])[.-])"
ENDS: Final = r"(?:$|[^0-9A-Za-z_@.-]|[.-](?:$|[^0-9A-Za-z_]))"
"""What stands before a shape that `begins` at a place, and is no sign of another kind of number,
and behind one that `ends` there."""


def begins(drawn: bytes, at: int) -> bool:
    """Whether a word begins at a place that is not tied to the word before."""
    if not at or drawn[at - 1] not in WORD:
        return not (at > 1 and drawn[at - 1] in KNIT and drawn[at - 2] in TIED)
    return False


def ends(drawn: bytes, at: int) -> bool:
    """Whether a word ends at a place and is not tied to the next."""
    if at >= len(drawn):
        return True
    if drawn[at] in WORD or drawn[at] == 64:
        return False
    return not (drawn[at] in KNIT and at + 1 < len(drawn) and drawn[at + 1] in WORD)
