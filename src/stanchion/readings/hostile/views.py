"""Views: what a text says when its disguises are taken off, and where that stands in the text."""

from __future__ import annotations

import base64
import html
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple
from urllib.parse import unquote

from stanchion.kernel.regex import regex
from stanchion.readings.hostile.normal import folded, mapped
from stanchion.readings.hostile.sieve import ROT13, compiled, whole

Back = Callable[[int, int], tuple[int, int]]
"""Gives the place in a text of what stands between two places of a view."""


class View(NamedTuple):
    """A text as it can be read; `odd` where nobody honest writes like that."""

    text: str
    back: Back
    odd: bool = False


ESCAPED: Final = regex(
    r"(?:%[0-9a-f]{2})+|&(?:#\d{1,7}|#x[0-9a-f]{1,6}|[a-z]{2,8});|\\(?:u[0-9a-f]{4}|x[0-9a-f]{2})",
    re.IGNORECASE,
)
MARKED: Final = regex(r"\*{1,3}|__|`|~~|</?[a-z][^<>\n]{0,200}>|<!--[^<>\n]{0,200}-->")
SPACED: Final = regex(r"(?<![a-z])[a-z](?:[ ._*\r-]{1,3}[a-z](?![a-z])){6,}")
GAPS: Final = regex(r"[ ._*\r-]+")
CODED: Final = r"[A-Za-z0-9+/_-]{32,}={0,2}"
HEX: Final = r"(?:[0-9a-fA-F]{2}[ :,]?){15,}[0-9a-fA-F]{2}"
LEET: Final = str.maketrans("01!|34579@$+", "oiiieastgast")
WORDS: Final = regex(r"[a-z0-9!|@$+]+")
LETTER: Final = regex(r"[a-z]")
FEW: Final = 20
"""Bytes are a text if at most one character in so many is none."""


def lines(text: str) -> str:
    """A text in its normal form whose lines end with a carriage return, as patterns read it."""
    return folded(whole(text)).replace("\n", "\r")


def first_view(text: str) -> View:
    """A text in its normal form."""
    text = whole(text)
    if text.isascii():
        return View(text.lower().replace("\n", "\r"), _same)
    seen, places = mapped(text)
    return View(seen.replace("\n", "\r"), _by_place(places))


def further_views(text: str, first: View, disguises: frozenset[str]) -> Iterator[View]:
    """What a text says under disguises that it may have on."""
    if "escaped" in disguises:
        yield _on(first, _cut(first.text, ESCAPED, _unescaped, False))
    if "marked" in disguises:
        yield _on(first, _cut(first.text, MARKED, lambda _: "", False))
    if "leet" in disguises:
        yield View(WORDS.sub(_plain, first.text), first.back, True)
    if "spaced" in disguises:
        yield _on(first, _cut(first.text, SPACED, _joined, True))
    if "turned" in disguises:
        yield View(first.text.translate(ROT13), first.back, True)
    if "reversed" in disguises:
        size = len(first.text)
        yield View(first.text[::-1], lambda start, end: first.back(size - end, size - start), True)
    if "coded" in disguises:
        yield from _coded(text)


def _same(start: int, end: int) -> tuple[int, int]:
    return start, end


def _by_place(places: list[int]) -> Back:
    return lambda start, end: (places[start], places[end])


def _on(first: View, second: View) -> View:
    """A view of a view."""
    return View(second.text, lambda start, end: first.back(*second.back(start, end)), second.odd)


def _cut(text: str, pattern: re.Pattern[str], other: Callable[[str], str], odd: bool) -> View:
    """A text in which other pieces stand in the place of what a pattern finds."""
    pieces: list[str] = []
    begins: list[int] = []
    sources: list[int] = []
    exact: list[bool] = []
    size = done = 0

    def put(piece: str, source: int, same: bool) -> None:
        nonlocal size
        if piece:
            pieces.append(piece)
            begins.append(size)
            sources.append(source)
            exact.append(same)
            size += len(piece)

    for found in pattern.finditer(text):
        start, end = found.span()
        put(text[done:start], done, True)
        put(other(found.group()), start, False)
        done = end
    put(text[done:], done, True)
    begins.append(size)
    sources.append(len(text))
    exact.append(True)

    def back(start: int, end: int) -> tuple[int, int]:
        piece = bisect_right(begins, start) - 1
        first = sources[piece] + (start - begins[piece] if exact[piece] else 0)
        piece = bisect_right(begins, end - 1) - 1
        last = sources[piece] + end - begins[piece] if exact[piece] else sources[piece + 1]
        return first, max(first, last)

    return View("".join(pieces), back, odd)


def _unescaped(found: str) -> str:
    if found[0] == "%":
        return lines(unquote(found, errors="replace"))
    return lines(html.unescape(found) if found[0] == "&" else chr(int(found.lstrip("\\ux"), 16)))


def _plain(found: re.Match[str]) -> str:
    word = found.group()
    return word if word.isalpha() or LETTER.search(word) is None else word.translate(LEET)


def _joined(found: str) -> str:
    """Letters that stand apart as words: what parts them most often is nothing, what is wider parts
    words."""
    gaps = GAPS.findall(found)
    narrow = min([len(gap) for gap in gaps])
    return GAPS.sub(lambda gap: "" if len(gap.group()) == narrow else " ", found)


def _coded(text: str) -> Iterator[View]:
    """What stands in a text as base64 or as hexadecimal digits: each is read by itself, and stands
    where it stands."""
    text = whole(text)
    for found in compiled(HEX).finditer(text):
        yield from _read(bytes.fromhex(re.sub(r"[ :,]", "", found.group())), found.span())
    for found in compiled(CODED).finditer(text):
        word = found.group().replace("-", "+").replace("_", "/").rstrip("=")
        word = word[: len(word) - (len(word) % 4 == 1)]
        yield from _read(base64.b64decode(word + "=" * (-len(word) % 4)), found.span())


def _read(data: bytes, span: tuple[int, int]) -> Iterator[View]:
    text = data.decode("utf-8", "replace")
    if text.count("\ufffd") * FEW <= len(text) and sum(map(_is_shown, text)) * FEW >= len(text) * (
        FEW - 1
    ):
        yield View(lines(text), lambda _start, _end: span, True)


def _is_shown(char: str) -> bool:
    return char.isprintable() or char.isspace()
