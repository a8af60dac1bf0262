"""Bounded data: what is kept of a call's arguments, however large they were."""

from __future__ import annotations

import math
from hashlib import sha256
from typing import Any, Final

import msgspec

from stanchion.kernel.shown import json_safe

CUT: Final = "…"
"""What stands where something was left out."""
MOST_TEXT: Final = 200
MOST_ITEMS: Final = 20
MOST_NAMES: Final = 40
DEEPEST: Final = 6
MOST_CHARS: Final = 3_000
"""How many characters of names and values are kept of one call."""
LARGEST: Final = 1 << 63
"""A whole number from here on is kept as a text: no store has a type for it."""


class _Room:
    """How many characters there is still room for."""

    def __init__(self) -> None:
        self.left = MOST_CHARS

    def take(self, text: str) -> str:
        self.left -= len(text)
        return text


def bounded(args: dict[str, Any]) -> dict[str, Any]:
    """Arguments as they are kept: names in order, long texts and lists cut, deep data left out."""
    kept: dict[str, Any] = _fitted(args, _Room(), 0)
    return kept


def cut(text: str, most: int = MOST_TEXT) -> str:
    """A text that any store can hold, with a sign at its end where there was more."""
    if len(text) <= most and text.isascii() and "\0" not in text:
        return text
    plain = text[: most + 1].encode("utf-8", "replace").decode().replace("\0", "�")
    return plain if len(plain) <= most else plain[: most - 1] + CUT


def encoded(args: dict[str, Any]) -> str:
    """Bounded arguments as JSON; the same arguments give the same text."""
    return msgspec.json.encode(args, order="deterministic").decode()


def one_line(value: Any) -> str:
    """Bounded data as JSON on one line that can be shown: nothing in it breaks the line, turns the
    reading order, cannot be seen, or ends a quotation."""
    return json_safe(msgspec.json.encode(value, order="deterministic")).decode()


def fingerprint(tool: str, call_data: str) -> str:
    """What tells one call of a tool from another, by what is kept of its arguments."""
    return sha256(f"{len(tool)}:{tool}{call_data}".encode("utf-8", "replace")).hexdigest()[:32]


def _fitted(value: Any, room: _Room, depth: int) -> Any:
    if room.left <= 0:
        return CUT
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return room.take(str(value)[:MOST_TEXT]) if abs(value) >= LARGEST else _number(value, room)
    if isinstance(value, float):
        return _number(value, room) if math.isfinite(value) else room.take(str(value))
    if isinstance(value, str):
        return room.take(cut(value))
    if depth >= DEEPEST:
        return CUT
    if isinstance(value, dict):
        return _mapping(value, room, depth)
    if isinstance(value, list | tuple):
        kept = [_fitted(item, room, depth + 1) for item in value[:MOST_ITEMS]]
        return [*kept, CUT] if len(value) > MOST_ITEMS else kept
    return CUT


def _number(value: Any, room: _Room) -> Any:
    room.left -= 8
    return value


def _mapping(value: dict[Any, Any], room: _Room, depth: int) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for name in sorted(value, key=str)[:MOST_NAMES]:
        if room.left <= 0:
            break
        kept[room.take(cut(str(name), 60))] = _fitted(value[name], room, depth + 1)
    if len(kept) < len(value):
        kept[CUT] = CUT
    return kept
