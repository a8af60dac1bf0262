"""The normal form of a text: case, width, look-alike letters and what cannot be seen make no
difference to it."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import accumulate
from typing import Final

from stanchion.kernel.regex import regex

_BARE: Final = (
    "\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f"
    "\ufeff\uffa0\U000e0100-\U000e01ef"
)
UNSEEN: Final = regex(f"[{_BARE}\u034f\ufdfa\ufdfb]")
"""Characters that nobody sees, a mark that belongs to the letter before it, and two that stand for
sentences: nobody writes a word with these, and read letter by letter they are 18 times as long."""

TAGS: Final = regex("[\U000e0000-\U000e007f]")
"""Characters that nobody sees and that spell out letters."""

ALIKE: Final = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u04bb\u0501"
    "\u051b\u051d\u043a\u043c\u0442\u043d\u0432\u0433\u04cf\u03b1\u03bf\u03c1"
    "\u03bd\u03b9\u03ba\u03c5\u03c4\u03b5\u0585\u057d\u0570\u0581",
    "aeopcyxijshdqwkmthbrlaopvikuteouhg",
)
"""Letters of other alphabets that look like those of the Latin one."""

MIXED: Final = regex(r"[a-z][\u0370-\u03ff\u0400-\u058f]|[\u0370-\u03ff\u0400-\u058f][a-z]")
"""Letters of two alphabets side by side."""
WORD: Final = regex(r"[^\W\d_]+")


CLUSTER: Final = regex(
    "[^\u0300-\u036f][\u0300-\u036f]{1,64}|[\x00-\x7f]{1,4096}(?![\u0300-\u036f])"
    f"|[{_BARE}]{{1,4096}}(?![\u0300-\u036f])|.",
    re.DOTALL,
)
"""What is made normal by itself: a letter with its marks, plain letters, what nobody sees, or any
other character."""


ASCII: Final = bytes(range(128))
JAMO: Final = range(0x1100, 0x1200)
MANY: Final = 48
"""More kinds of characters than this are made normal all at once, fewer one after the other."""


def odd(text: str) -> frozenset[str]:
    """The characters of a text that are not plain ones."""
    if text.isascii():
        return frozenset()
    return frozenset(
        text.encode("utf-8", "surrogatepass")
        .translate(None, ASCII)
        .decode("utf-8", "surrogatepass")
    )


def folded(text: str) -> str:
    """A text in its normal form, with its blanks and lines as they are."""
    if text.isascii():
        return text.lower()
    special = odd(text)
    if len(special) > MANY or not all(_stands_alone(char) for char in special):
        return _of_one_alphabet(_seen(text))
    text = text.encode("utf-8", "surrogatepass").lower().decode("utf-8", "surrogatepass")
    for char in special:
        seen = _seen_one(char)
        if seen != char:
            text = text.replace(char, seen)
    return _of_one_alphabet(text) if any(_is_alike(char) for char in special) else text


@lru_cache(maxsize=4_096)
def _stands_alone(char: str) -> bool:
    """Whether a character has the same normal form beside any other."""
    marks = unicodedata.category(char)[0] == "M" and UNSEEN.match(char) is None
    return not marks and ord(char) not in JAMO


@lru_cache(maxsize=4_096)
def _seen_one(piece: str) -> str:
    return _seen(piece)


@lru_cache(maxsize=4_096)
def _is_alike(char: str) -> bool:
    return any("\u0370" <= one <= "\u058f" for one in _seen(char))


def mapped(text: str) -> tuple[str, list[int]]:
    """A text in its normal form, and where each character of it begins in the text; the text's end
    is the last."""
    pieces = CLUSTER.findall(text)
    known = {piece: _seen(piece) for piece in {*pieces}}
    steps = {
        piece: range(len(piece)) if piece.isascii() else (0,) * len(seen)
        for piece, seen in known.items()
    }
    begins = accumulate(map(len, pieces), initial=0)
    places = [at + step for at, piece in zip(begins, pieces, strict=False) for step in steps[piece]]
    return _of_one_alphabet("".join([known[piece] for piece in pieces])), [*places, len(text)]


def _seen(text: str) -> str:
    text = UNSEEN.sub("", TAGS.sub(_told, text))
    return unicodedata.normalize("NFKC", text).casefold()


def _of_one_alphabet(text: str) -> str:
    if MIXED.search(text) is None:
        return text
    return "".join(
        [WORD.sub(_latin, line) if MIXED.search(line) else line for line in text.splitlines(True)]
    )


def _told(found: re.Match[str]) -> str:
    code = ord(found.group()) - 0xE0000
    return chr(code) if 0x20 <= code < 0x7F else ""


def _latin(found: re.Match[str]) -> str:
    word = found.group()
    return word.translate(ALIKE) if MIXED.search(word) else word


def blank(text: str) -> str:
    """A text on one line, with single blanks."""
    return " ".join(text.split())


def normal(text: str) -> str:
    """A text in its normal form, on one line."""
    return blank(folded(text))
