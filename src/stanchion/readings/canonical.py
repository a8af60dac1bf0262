"""Data in one form: what means the same is written the same, however it was spaced, ordered or
counted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final
from unicodedata import normalize

NAME, TEXT, NUMBER, SAME = ":", '"', "#", "="
"""What pieces of data begin with: names, texts, numbers, and what there is only one of."""

_BLANKS: Final = "\t\x0b\x0c\r\x1c\x1d\x1e\x1f"
"""Spaces of ASCII besides ` ` and the end of a line."""
_FAR_BLANKS: Final = _BLANKS + "".join(
    map(chr, (0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000))
)
"""Those beyond ASCII as well."""


def canonical(value: Any) -> str:
    """A value as one text that is equal for equal data."""
    return TEXT + plain(value) if type(value) is str else "\n".join(pieces(value))


def plain(text: str) -> str:
    """A text without the spaces that mean nothing. Lines and their indentation stay: in code they
    mean something."""
    far = not text.isascii()
    if far:
        text = normalize("NFC", text)
    if "\n" not in text:
        return " ".join(text.split())
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    lines = text.split("\n")
    if any(map(text.__contains__, _FAR_BLANKS if far else _BLANKS)):
        return "\n".join(map(_spaced, lines)).strip("\n").rstrip()
    bare = "\n".join(map(str.strip, lines))
    if " \n" in text:
        lines = [*map(str.rstrip, lines)]
    # Few lines have several spaces that stand together behind their indentation.
    at, begin, found = 0, 0, bare.find("  ")
    while found >= 0:
        at += bare.count("\n", begin, found)
        lines[at] = _spaced(lines[at])
        begin = bare.find("\n", found)
        found = bare.find("  ", begin) if begin >= 0 else -1
    return "\n".join(lines).strip("\n").rstrip()


def _spaced(line: str) -> str:
    """A line with its indentation, and one space for all that stand together behind that."""
    bare = line.lstrip()
    return line[: len(line) - len(bare)] + " ".join(bare.split()) if bare else ""


def pieces(value: Any) -> list[str]:
    """A value piece by piece, keys in order; the first character says what a piece is. Nothing is
    too deep for it."""
    made: list[str] = []
    inside: list[tuple[Iterator[Any], dict[Any, Any] | None]] = [(iter((value,)), None)]
    while inside:
        items, named = inside[-1]
        for item in items:
            one = item
            if named is not None:
                word = type(item) is str and item.isascii() and item.isidentifier()
                made.append(NAME + (item if word else plain(str(item))))
                one = named[item]
            if isinstance(one, str):
                made.append(TEXT + plain(one))
            elif isinstance(one, dict):
                made.append("{")
                inside.append((iter(sorted(one, key=str)), one))
                break
            elif isinstance(one, list | tuple):
                made.append("[")
                inside.append((iter(one), None))
                break
            elif one is None or one is True or one is False:
                made.append(f"{SAME}{one}")
            else:
                made.append(NUMBER + _number(one))
        else:
            made.append("]" if named is None else "}")
            inside.pop()
    return made[:-1]


def _number(value: Any) -> str:
    """A number in one form: 1, 1.0 and 1e0 are the same. In hexadecimal, because that is never too
    long to write."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return f"{value:x}" if isinstance(value, int) else str(value)
