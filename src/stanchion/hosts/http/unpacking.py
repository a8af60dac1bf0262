"""Unpacking: bodies without the content encodings that their headers name."""

from __future__ import annotations

import zlib
from typing import Any, Final

MOST_ENCODINGS: Final = 5
PIECE: Final = 4_096
"""So much is unpacked at a time: what stands behind a part of a body is copied no more than
that."""

_GZIP: Final = 31
_ZLIB: Final = 15
_BARE: Final = -15


def unpacked(body: bytes, encoding: str, longest: int) -> bytes | None:
    """A body without its content encodings, or a little more than `longest` of it; `None` where one
    is not known, or not all of the body is in it."""
    steps = encoding.lower().split(",")
    if len(steps) > MOST_ENCODINGS:
        return None
    for step in reversed(steps):
        plain = _once(body, step.strip(), longest)
        if plain is None or len(plain) > longest:
            return plain
        body = plain
    return body


def _once(body: bytes, encoding: str, longest: int) -> bytes | None:
    match encoding:
        case "" | "identity":
            return body
        case "gzip" | "x-gzip":
            return _inflated(body, _GZIP, longest)
        case "deflate":
            zlib_form = _inflated(body, _ZLIB, longest)
            return zlib_form if zlib_form is not None else _inflated(body, _BARE, longest)
        case _:
            return None


def _inflated(body: bytes, window: int, longest: int) -> bytes | None:
    found = bytearray()
    member: Any = None
    at = 0
    while at < len(body):
        member = zlib.decompressobj(window) if member is None else member
        piece = body[at : at + PIECE]
        try:
            found += member.decompress(piece, longest + 1 - len(found))
        except zlib.error:
            return None
        if len(found) > longest:
            return bytes(found)
        at += len(piece) - len(member.unused_data)
        member = None if member.eof else member
    return bytes(found) if member is None else None
