"""Shell patterns: `*`, `?` and `[…]` against a text, in at most len(pattern) × len(text) steps."""

from __future__ import annotations

import re
from typing import Final

from stanchion.kernel.regex import regex
from stanchion.readings.shell.tree import MAX_FIELDS, Meter, Part, TextPart

ANY: Final = 0
ONE: Final = 1
Piece = int | str | tuple[bool, str]
_SPAN: Final = regex(r"(?s)(.)-(.)")


def pieces(pattern: str) -> list[Piece]:
    """The pattern's pieces: any characters, one, a character, or a set of them."""
    found: list[Piece] = []
    at = 0
    while at < len(pattern):
        char = pattern[at]
        at += 1
        if char == "*":
            if not found or found[-1] != ANY:
                found.append(ANY)
        elif char == "?":
            found.append(ONE)
        elif char == "\\" and at < len(pattern):
            found.append(pattern[at])
            at += 1
        elif char == "[" and (close := pattern.find("]", at + 1)) > 0:
            inner = pattern[at:close]
            negated = inner[:1] in ("!", "^")
            found.append((negated, ranged(inner[negated:])))
            at = close + 1
        else:
            found.append(char)
    return found


def ranged(text: str, most: int = 256) -> str:
    """A text with the characters for which its ranges stand: `abc` of `a-c`."""

    def spell(span: re.Match[str]) -> str:
        first, last = map(ord, span.groups())
        return "".join(map(chr, range(first, min(last, first + most) + 1)))

    return _SPAN.sub(spell, text)


def fits(pattern: list[Piece], text: str, meter: Meter) -> bool:
    """Whether the whole text fits the pattern."""
    at = place = mark = 0
    star = -1
    while place < len(text):
        meter.step()
        piece = pattern[at] if at < len(pattern) else None
        if piece == ANY:
            star, mark = at, place
            at += 1
        elif piece is not None and _takes(piece, text[place]):
            at += 1
            place += 1
        elif star >= 0:
            mark += 1
            at, place = star + 1, mark
        else:
            return False
    return all(piece == ANY for piece in pattern[at:])


def _takes(piece: Piece, char: str) -> bool:
    if isinstance(piece, str):
        return piece == char
    if isinstance(piece, tuple):
        return (char in piece[1]) != piece[0]
    return piece == ONE


_RANGE: Final = regex(r"(-?\d{1,9}|[A-Za-z])\.\.(-?\d{1,9}|[A-Za-z])(?:\.\.(-?\d{1,9}))?", re.ASCII)
LONGEST: Final = 1_024
"""Longer words are left as they stand."""

_HELD: Final = 0xE000
"""Parts that are no plain text stand as characters from here on while braces are expanded."""


def spread(parts: list[Part], meter: Meter) -> list[list[Part]]:
    """The words that a word with braces stands for."""
    if not any(
        isinstance(part, TextPart) and not part.quoted and "{" in part.text for part in parts
    ):
        return [parts]
    held: list[Part] = []
    text: list[str] = []
    for part in parts:
        if isinstance(part, TextPart) and not part.quoted:
            text.append(part.text)
        elif len(held) < 0x1800:
            text.append(chr(_HELD + len(held)))
            held.append(part)
        else:
            return [parts]
    flat = "".join(text)
    if len(flat) > LONGEST:
        return [parts]
    found = _alternatives(flat, meter, 0)
    if found == [flat]:
        return [parts]
    return [_restored(one, held) for one in found]


def _restored(text: str, held: list[Part]) -> list[Part]:
    parts: list[Part] = []
    plain: list[str] = []
    for char in text:
        code = ord(char) - _HELD
        if 0 <= code < len(held):
            if plain:
                parts.append(TextPart("".join(plain)))
                plain = []
            parts.append(held[code])
        else:
            plain.append(char)
    if plain:
        parts.append(TextPart("".join(plain)))
    return parts


def _alternatives(text: str, meter: Meter, depth: int) -> list[str]:
    for begin, close, commas in _pairs(text, meter):
        inner = text[begin + 1 : close]
        options: list[str] = []
        if commas:
            marks = [begin, *commas, close]
            options = [text[marks[at] + 1 : marks[at + 1]] for at in range(len(marks) - 1)]
            if depth < 8:
                options = [
                    each for option in options for each in _alternatives(option, meter, depth + 1)
                ]
        elif (match := _RANGE.fullmatch(inner)) is not None:
            options = _counted(match)
        if options:
            return _product(text[:begin], options, text[close + 1 :], meter, depth)
    return [text]


def _pairs(text: str, meter: Meter) -> list[tuple[int, int, list[int]]]:
    """Braces that are closed, in the order in which they open, each with the commas directly in
    it."""
    found: list[tuple[int, int, list[int]]] = []
    waiting: list[tuple[int, list[int]]] = []
    meter.step(1 + len(text) // 16)
    for at, char in enumerate(text):
        if char == "{":
            waiting.append((at, []))
        elif char == "," and waiting:
            waiting[-1][1].append(at)
        elif char == "}" and waiting:
            begin, commas = waiting.pop()
            found.append((begin, at, commas))
    return sorted(found)


def _product(head: str, options: list[str], tail: str, meter: Meter, depth: int) -> list[str]:
    tails = _alternatives(tail, meter, depth + 1) if depth < 8 else [tail]
    if len(options) * len(tails) > MAX_FIELDS:
        options = options[: max(1, MAX_FIELDS // len(tails))]
    meter.step(len(options) * len(tails))
    return [head + option + rest for option in options for rest in tails]


def _counted(match: re.Match[str]) -> list[str]:
    first, last, by = match.groups()
    if first.isalpha() != last.isalpha():
        return []
    letters = first.isalpha()
    low, high = (ord(first), ord(last)) if letters else (int(first), int(last))
    step = max(1, abs(int(by))) if by else 1
    values = range(low, high + 1, step) if low <= high else range(low, high - 1, -step)
    few = list(values[:MAX_FIELDS])
    return [chr(value) for value in few] if letters else [str(value) for value in few]
