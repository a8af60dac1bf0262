"""Carrying: addresses that take something along that was read, in a path, a query or the names
before a host."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from typing import Final
from urllib.parse import unquote_plus

from stanchion.guards.flow.memory import Memory
from stanchion.guards.flow.sources import Source
from stanchion.kernel.regex import regex
from stanchion.readings.prose.lexicon import telling, words
from stanchion.readings.prose.values import Value, split_link, squash, values

PIECES: Final = regex(r"[/&=?;,|#]+")
CODED: Final = regex(r"[A-Za-z0-9+/_-]{16,}={0,2}")
HEX: Final = regex(r"(?:[0-9a-fA-F]{2}){8,}")
LEAST: Final = 6
"""From how many letters and digits on a value tells something."""
LONGEST: Final = 4_000
MOST: Final = 24
"""How many pieces of an address are looked at."""
SOURCES: Final = 48
"""In how many of the newest sources a phrase is looked for."""


def carried(memory: Memory, url: str) -> Source | None:
    """The source of which an address takes something along to a host that nobody gave."""
    host, _ = split_link(url)
    given = Value("host", host)
    if not host or memory.ours(given) or memory.clean(given) or memory.knows_link(url):
        return None
    for piece in list(_pieces(url, host))[:MOST]:
        found = _read(memory, piece)
        if found is not None:
            return found
    return None


def _pieces(url: str, host: str) -> Iterator[str]:
    """What an address says besides where it leads, decoded."""
    rest = url[:LONGEST].partition("://")[2] or url[:LONGEST]
    texts = [rest.partition("/")[2], rest.partition("?")[2], " ".join(host.split(".")[:-2])]
    for text in texts:
        for piece in PIECES.split(text):
            plain = unquote_plus(piece).strip()
            if plain:
                yield plain
                yield from _decoded(plain)


def _decoded(piece: str) -> Iterator[str]:
    if HEX.fullmatch(piece):
        yield from _readable(bytes.fromhex(piece))
    elif CODED.fullmatch(piece):
        try:
            yield from _readable(
                base64.urlsafe_b64decode(
                    piece.replace("+", "-").replace("/", "_") + "=" * (-len(piece) % 4)
                )
            )
        except (binascii.Error, ValueError):
            return


def _readable(data: bytes) -> Iterator[str]:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return
    if text.isprintable() and text.isascii():
        yield text


def _read(memory: Memory, piece: str) -> Source | None:
    """The source that has what a piece says, if it tells something and the user did not say it."""
    for value in values(piece):
        if len(squash(value.text)) < LEAST or memory.user.has(value):
            continue
        place = next(iter(memory.data.get(value, ())), None)
        if place is not None:
            return place.source
        span = next(iter(memory.by_value.get(value, ())), None)
        if span is not None:
            return span.source
    said = words(piece.replace("_", " ").replace("-", " ").replace("+", " "))
    if len([word for word in said if telling(word)]) < 2:
        return None
    phrase = " ".join(said)
    if f" {phrase} " in memory.user.normal:
        return None
    return next(
        (source for source in memory.sources[-SOURCES:] if f" {phrase} " in source.normal), None
    )
