"""Shell patterns: `*`, `?` and `[…]` against a text, in at most len(pattern) × len(text) steps."""

from __future__ import annotations

from typing import Final

from stanchion.readings.shell.limits import Meter

ANY: Final = 0
ONE: Final = 1
Piece = int | str | tuple[bool, str]


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
            found.append((negated, _spread(inner[negated:])))
            at = close + 1
        else:
            found.append(char)
    return found


def _spread(inner: str) -> str:
    chars: list[str] = []
    at = 0
    while at < len(inner):
        if inner[at + 1 : at + 2] == "-" and at + 2 < len(inner):
            chars += [
                chr(code)
                for code in range(ord(inner[at]), min(ord(inner[at + 2]), ord(inner[at]) + 256) + 1)
            ]
            at += 3
        else:
            chars.append(inner[at])
            at += 1
    return "".join(chars)


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
