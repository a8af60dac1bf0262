"""Pieces: one value that is written as several, over lines, as terms of a sum, as items, letter by
letter."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, Final

from stanchion.kernel.regex import regex
from stanchion.readings.disguise.said import Said, rewritten

SUM: Final = (
    r"""["'`][ \t]{0,4}(?:\n[ \t]{0,40})?(?:\+|\.\.?|&|<>|\|\||\+\+|~)[ \t]{0,4}\\?(?:\n[ \t]{0,40})?["'`]"""  # noqa: E501
    r"""|["'`]\)?\.(?:append|concat|add|push|plus|join)\(["'`]"""
    r"""|\\\r?\n[ \t]{0,40}"""
)
"""What stands between two terms of one value: the end of a text, a sign, the beginning of
another."""
_CODE: Final = r"(?:0x[2-7][0-9A-Fa-f]|[3-9]\d|1[01]\d|12[0-6])"
CODES: Final = rf"\b(?:{_CODE}[\s]{{0,2}}[,;\s][\s]{{0,2}}){{7,}}{_CODE}\b"
"""The numbers of characters, one after another."""
_BYTE: Final = "[2-7][0-9A-Fa-f]"
HEXED: Final = rf"\b(?:{_BYTE}[ :]){{11,}}{_BYTE}\b|\b(?:{_BYTE}{_BYTE} ){{7,}}(?:{_BYTE}){{1,2}}\b"
"""Bytes in hexadecimal with a sign between them, as tools dump them."""
_BLANKS: Final = r"\x09-\x0d\x1c-\x20"
"""What ASCII has of blanks, for a set of characters."""
_FAR_WORD: Final = regex(r"[^\x00-\x7f\W]")
_FAR_BLANK: Final = regex(r"[^\x00-\x7f\S]")
_FAR_DIGIT: Final = regex(r"[^\x00-\x7f\D]")
_NUMBER: Final = regex(r"0x[0-9A-Fa-f]{2}|\d+")
_DUMP: Final = regex(r"(?:[0-9A-Fa-f]{2}[ :]?)+")
_WHOLE: Final = regex(f"{SUM}|{HEXED}|{CODES}")

_PART: Final = r"[0-9A-Za-z_+/=.~-]"
_GAP: Final = r"""(?:["'`]?[ \t]{0,4},?[ \t]{0,4}=?\r?\n[ \t>|*#+"'`]{0,40}|["'`][ \t]{0,4},?[ \t]{0,4}["'`])"""  # noqa: E501
"""What may stand between two pieces of one value: the end of a line, or that of an item."""
SHORTEST: Final = 20
MOST: Final = 64
"""How many chains of pieces are read in one text."""
LONGEST: Final = 8_192

_MIXED: Final = f"(?:[0-9]{_PART}*[A-Za-z]|[A-Za-z]{_PART}*[0-9])"
"""A digit and a letter in one piece."""
CHAIN: Final = f"{_MIXED}{_PART}*{_GAP}{_PART}{{2}}|{_PART}{{2}}{_GAP}{_PART}*{_MIXED}"
"""What stands in every chain of pieces that may be one value."""
APART: Final = rf"[0-9]{_PART}*\x1f{_PART}{{2}}|{_PART}{{2}}\x1f{_PART}*[0-9]"
"""What stands where two texts of an event may be pieces of one value."""
_MARK: Final = "[0-9A-Za-z_+/=~-]"
LONE: Final = rf"(?:{_MARK}(?: |\.|\||\*)){{15}}"
"""Letters with a sign behind each."""
_GAPS: Final = regex(_GAP)
_PARTS: Final = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_+/=.~-"


@cache
def _chains() -> tuple[Any, Any, Any]:
    import re2  # type: ignore[import-untyped]  # it ships no stubs

    chain = f"{_PART}{{2,}}(?:{_GAP}{_PART}{{2,}})+"
    lone = rf"(?:^|[^0-9A-Za-z])((?:{_MARK}(?: |\.|\||\*)){{15,}}{_MARK})(?:$|[^0-9A-Za-z])"
    return re2.compile(CHAIN.encode()), re2.compile(chain.encode()), re2.compile(lone.encode())


def summed(text: str) -> Said | None:
    """A whole text in which the terms of values are put together; `None` where there are none."""
    plain = _in_ascii(text)
    found = _WHOLE.finditer(text) if plain is None else _whole().finditer(plain)
    made = rewritten(text, [one.span() for one in found], _put_together)
    return Said(made.text, made.span, whole=True) if made.cuts else None


def _in_ascii(text: str) -> bytes | None:
    """A text with something of ASCII for every other character that means the same to `_WHOLE`;
    `None` where there is nothing like that."""
    if not text.isascii():
        if _FAR_DIGIT.search(text) is not None:
            return None
        text = _FAR_BLANK.sub("\x1c", _FAR_WORD.sub("_", text))
    return text.encode("ascii", "replace")


@cache
def _whole() -> Any:
    """What finds the same as `_WHOLE` in ASCII, in one pass whatever the text: there both engines
    mean the same by the edge of a word, and blanks, by which they do not, are spelled out."""
    import re2

    return re2.compile(_WHOLE.pattern.replace(r"\s]", f"{_BLANKS}]").encode())


def _put_together(term: str) -> str | None:
    if not term[0].isalnum():
        return ""
    if _DUMP.fullmatch(term) is not None:
        said = bytes.fromhex(term.replace(":", ""))
        return (
            said.decode("ascii") if said.isascii() and said.decode("ascii").isprintable() else None
        )
    return "".join([chr(int(one, 0)) for one in _NUMBER.findall(term)])


def chained(text: str) -> Iterator[Said]:
    """What pieces say that stand one after the other in a text, and may or may not be one value."""
    seen = text.encode("latin-1", "replace")
    near, chains, lone = _chains()
    made: list[Said] = []
    last = 0
    for found in near.finditer(seen):
        start = found.start()
        if start < last:
            continue
        before = max(last, start - LONGEST)
        start = before + len(seen[before:start].rstrip(_PARTS))
        chain = chains.match(seen, start)
        last = last if chain is None else chain.end()
        if chain is not None and last - start >= SHORTEST:
            made.append(_chain(text, start, min(last, start + LONGEST)))
            if len(made) >= MOST:
                break
    yield from made
    for found in lone.finditer(seen):
        yield _letters(text, *found.span(1))


def _chain(text: str, start: int, end: int) -> Said:
    piece = text[start:end]
    made = rewritten(piece, [found.span() for found in _GAPS.finditer(piece)], lambda _: "", start)
    return Said(made.text, made.span, cuts=made.cuts)


def _letters(text: str, start: int, end: int) -> Said:
    """Letters with one sign between any two."""
    said = text[start:end:2]
    cuts = tuple(range(1, len(said)))
    return Said(said, lambda first, last: (start + 2 * first, start + 2 * last - 1), cuts=cuts)
