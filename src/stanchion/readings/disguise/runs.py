"""Runs of a text that are encoded, in base64, base32, hexadecimal or as in a URL, and what they
say."""

from __future__ import annotations

import zlib
from base64 import b32decode, b64decode
from binascii import Error
from collections import deque
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, Final

from stanchion.kernel.regex import linear, regex
from stanchion.readings.disguise.escapes import (
    ESCAPED,
    ODD,
    QUOTED,
    may_be_escaped,
    odd,
    unescaped_run,
)
from stanchion.readings.disguise.said import Back, Said

RUN: Final = r"[0-9A-Za-z%+/_.~=\\&#;\xad-]"
"""What encoded text is made of."""
LETTERS: Final = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz%+/_.~=\\&#;\xad-"
SHORTEST: Final = 24
LONGEST: Final = 4_000
"""Longer runs are not decoded where a text may come in pieces."""
SHORTEST_HEX: Final = 32
UNPACKED: Final = 65_536
"""So much of what is packed is read."""

_PRINTED: Final = bytes([9, 10, 13, *range(32, 127)])
_ESCAPE: Final = regex(f"{ESCAPED}|{QUOTED}")
_PACKED: Final = (b"\x1f\x8b", b"\x78\x9c", b"\x78\x01", b"\x78\xda")
"""How packed bytes begin, by gzip and by zlib."""
_BASE32: Final = regex(r"(?:[A-Z2-7]{32,}|[a-z2-7]{32,})={0,6}")
_HEX: Final = frozenset("0123456789abcdefABCDEF")


@cache
def _expressions() -> tuple[Any, Any, Any]:
    """Runs, base64, and escapes."""
    long, base64 = f"{RUN}{{{SHORTEST},}}", f"[0-9A-Za-z+/_-]{{{SHORTEST},}}={{0,6}}"
    return linear(long), linear(base64), linear(_ESCAPE.pattern)


def decoded(text: str, most: int | None = None) -> Iterator[Said]:
    """What the runs of a text say that are encoded; of no run that is longer than `most`."""
    if len(text) < SHORTEST:
        return
    long, base64, _ = _expressions()
    seen = _flat(text)
    if (most is None or len(text) <= most) and not odd(text) and not _escaped(text, seen):
        # What base64 is made of is what runs are made of: without the rest of them it stands in the
        # same places.
        yield from _said(text, base64.finditer(seen))
        return
    parts = deque(base64.finditer(seen))
    for run in long.finditer(seen):
        start, end = run.span()
        inside = []
        while parts and parts[0].start() < end:
            inside.append(parts.popleft())
        if most is not None and end - start > most:
            continue
        made = unescaped_run(text[start:end], start)
        if made is not None:
            yield made
        yield from _said(text, inside)


def _escaped(text: str, seen: bytes) -> bool:
    """Whether there are escapes in a text. Beyond ASCII there are other digits, which only one
    engine knows."""
    if not may_be_escaped(text):
        return False
    found = _expressions()[2].search(seen) if text.isascii() else _ESCAPE.search(text)
    return found is not None


def _flat(text: str) -> bytes:
    """One byte for each character; what stands in runs though it is none of their letters is the
    same one."""
    plain = ODD.sub("\xad", text) if odd(text) else text
    return plain.encode("latin-1", "replace")


def _said(text: str, parts: Iterable[Any]) -> Iterator[Said]:
    """What parts of a text say that are encoded text."""
    for part in parts:
        first, last = part.span()
        made = _decoded(text[first:last], first, last)
        if made is not None:
            yield made


def _decoded(run: str, first: int, last: int) -> Said | None:
    """What a run says that stands from `first` to `last`."""
    body = run.rstrip("=")
    if len(body) >= SHORTEST_HEX and len(body) % 2 == 0 and _HEX.issuperset(body):
        raw = bytes.fromhex(body)
        said = _printed(raw)
        if said:
            return Said(said, lambda one, two: (first + 2 * one, first + 2 * two))
        said = _inner(raw)
        return Said(said, lambda _one, _two: (first, last)) if said else None
    if _BASE32.fullmatch(run) is not None:
        raw = _bytes32(body)
        said = _printed(raw)
        if said:
            return Said(said, _groups(first, last, 5, 8))
        said = _inner(raw)
        if said:
            return Said(said, lambda _one, _two: (first, last))
    raw = _bytes64(body)
    said = _printed(raw)
    if said:
        return Said(said, _groups(first, last, 3, 4))
    said = _inner(raw)
    return Said(said, lambda _one, _two: (first, last)) if said else None


def _groups(first: int, last: int, size: int, letters: int) -> Back:
    """Where bytes stand of which so many are written as so many letters."""
    return lambda one, two: (
        first + one // size * letters,
        min(last, first + -(-two // size) * letters),
    )


def _bytes64(body: str) -> bytes:
    """What base64 says; nothing where it is none."""
    body = body[:-1] if len(body) % 4 == 1 else body
    other = b"-_" if "-" in body or "_" in body else None
    try:
        return b64decode(body + "=" * (-len(body) % 4), other, validate=True)
    except (Error, ValueError):
        return b""


def _bytes32(body: str) -> bytes:
    """What base32 says; nothing where it is none."""
    try:
        return b32decode(body + "=" * (-len(body) % 8), casefold=True)
    except (Error, ValueError):
        return b""


def _printed(said: bytes) -> str:
    """What bytes say that are text."""
    return said.decode("ascii") if said.isascii() and not said.translate(None, _PRINTED) else ""


def _inner(said: bytes) -> str:
    """What bytes say that are text of two bytes a letter, or packed; empty where they are not."""
    if said[1:2] == b"\0" and len(said) % 2 == 0 and not any(said[1::2]):
        return _printed(said[::2])
    if said[:2] in _PACKED:
        try:
            return _printed(zlib.decompressobj(47).decompress(said, UNPACKED))
        except zlib.error:
            return ""
    return ""


def runs(text: str) -> list[tuple[int, int]]:
    """Where runs stand that may be decoded."""
    return [run.span() for run in _expressions()[0].finditer(_flat(text))]


def last_run(text: str) -> int:
    """Where the run at the end of a text begins."""
    return len(_flat(text).rstrip(LETTERS))
