"""Base 85: quoted texts of signs and letters, in a text that names the encoding."""

from __future__ import annotations

from base64 import a85decode, b85decode
from collections.abc import Iterator
from typing import Final

from stanchion.kernel.regex import regex
from stanchion.readings.disguise.said import Said

MOST: Final = 16
LONGEST: Final = 4_096

BASE85: Final = r"(?i:\b[abz]85|ascii[_-]?85|base[_-]?85)"
"""What names the encoding."""

_TEXT: Final = regex(r"""(["'`])((?:<~)?[!-~]{20,4096}?)\1""")


def unpacked(text: str) -> Iterator[Said]:
    """What quoted texts of a text say that names base 85."""
    for count, found in enumerate(_TEXT.finditer(text)):
        if count >= MOST:
            return
        said = _said(found[2])
        if said:
            yield _at(said, *found.span(2))


def _at(said: str, start: int, end: int) -> Said:
    return Said(said, lambda _first, _last: (start, end))


def _said(body: str) -> str:
    for decode in (a85decode, b85decode):
        try:
            said = decode(body.removeprefix("<~").removesuffix("~>").encode("ascii"))
        except ValueError:
            continue
        if said.isascii() and said.decode("ascii").isprintable():
            return said.decode("ascii")
    return ""
