"""Windows: as much of data as has to be looked at to keep a little of it, however large it is.

A window may end in the middle of a secret, which then is not known for one. So it ends with a mark,
and when all else is hidden, the mark leaves together with as much before it as a secret can be
long.
"""

from __future__ import annotations

from typing import Any, Final

from stanchion.experience.bounded import CUT, DEEPEST

WIDEST: Final = 8_000
"""How much of one text is looked at."""
SECRET: Final = 4_000
"""How long a secret can be; the end of a window is not kept."""
MOST: Final = 128_000
"""How many characters of one call are looked at in all."""
DEEP: Final = 2 * DEEPEST
MARK: Final = "\n\ufdd0"
"""What stands at the end of a window: a line break, which ends most secrets, and what is no
character."""


class _Room:
    __slots__ = ("left",)

    def __init__(self) -> None:
        self.left = MOST


def window(text: str) -> str:
    """The beginning of a text."""
    return text if len(text) <= WIDEST else text[:WIDEST] + MARK


def windowed(args: dict[str, Any]) -> dict[str, Any]:
    """Arguments of which every text is a window, and no more of them than there is room for."""
    seen: dict[str, Any] = _seen(args, _Room(), 0)
    return seen


def closed(value: Any) -> Any:
    """Data without the marks, and without what could be half a secret before them."""
    if isinstance(value, str):
        return value[: -SECRET - len(MARK)] + CUT if value.endswith(MARK) else value
    if isinstance(value, dict):
        return {closed(name): closed(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [closed(item) for item in value]
    return value


def _seen(value: Any, room: _Room, depth: int) -> Any:
    if room.left <= 0:
        return CUT
    room.left -= 8
    if isinstance(value, str):
        room.left -= min(len(value), WIDEST)
        return window(value)
    if isinstance(value, bytes | bytearray):
        return value if len(value) <= WIDEST else CUT
    if not isinstance(value, dict | list | tuple):
        return value
    if depth >= DEEP:
        return CUT
    if isinstance(value, dict):
        return _mapping(value, room, depth)
    kept: list[Any] = []
    for item in value:
        if room.left <= 0:
            return [*kept, CUT]
        kept.append(_seen(item, room, depth + 1))
    return kept


def _mapping(value: dict[Any, Any], room: _Room, depth: int) -> dict[Any, Any]:
    """The names in the order in which they are kept, so that what is left out is what would be."""
    kept: dict[Any, Any] = {}
    for name in sorted(value, key=str):
        if room.left <= 0:
            kept[CUT] = CUT
            break
        shown = _seen(name, room, depth) if isinstance(name, str) else name
        kept[shown] = _seen(value[name], room, depth + 1)
    return kept
