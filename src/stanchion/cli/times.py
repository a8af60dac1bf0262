"""Times as people write and read them: moments in UTC, spans in the two largest units."""

from __future__ import annotations

import re
from argparse import ArgumentTypeError
from datetime import UTC, datetime
from typing import Final

from stanchion.cli.trouble import BadInput

UNITS_MS: Final = {"s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}
_AGO: Final = re.compile(r"(\d{1,9})([smhdw])")


def moment_ms(option: str, text: str, now_ms: int) -> int:
    """A moment from what was typed: ISO 8601 (in UTC unless it says otherwise), or how long ago, such as `2h`."""
    ago = _AGO.fullmatch(text.strip())
    if ago is not None:
        return now_ms - int(ago[1]) * UNITS_MS[ago[2]]
    try:
        at = datetime.fromisoformat(text.strip())
        at = at if at.tzinfo is not None else at.replace(tzinfo=UTC)
        return round(at.timestamp() * 1000)
    except (ValueError, OverflowError):
        forms = "write `2026-01-31`, `2026-01-31T12:00:00Z`, or how long ago: `90s`, `15m`, `2h`, `7d`"
        raise BadInput(f"`{option}` is `{text}`, which is no time: {forms}") from None


def lasting_s(text: str) -> float:
    """How long something is to last, from what was typed: the type of an option."""
    said = _AGO.fullmatch(text.strip())
    if said is None or not int(said[1]):
        raise ArgumentTypeError(f"is `{text}`: give a time such as `90s`, `15m`, `2h` or `1d`")
    return int(said[1]) * UNITS_MS[said[2]] / 1000


def shown(at_ms: int) -> str:
    """A moment to the second."""
    return _at(at_ms, "%Y-%m-%d %H:%M:%S") + "Z"


def day(at_ms: int) -> str:
    """The day of a moment."""
    return _at(at_ms, "%Y-%m-%d")


def clock(at_ms: int) -> str:
    """A moment within its day, to the millisecond."""
    return f"{_at(at_ms, '%H:%M:%S')}.{at_ms % 1000:03d}"


def _at(at_ms: int, form: str) -> str:
    try:
        return datetime.fromtimestamp(at_ms / 1000, UTC).strftime(form)
    except (OverflowError, OSError, ValueError):
        return str(at_ms)


def span(ms: int) -> str:
    """How long something took or lasts: `850 ms`, `12.3 s`, `4m 05s`, `2h 05m`, `3d 04h`."""
    if ms < 1_000:
        return f"{max(0, ms)} ms"
    if ms < 60_000:
        return f"{ms / 1000:.1f} s"
    seconds = ms // 1000
    for large, small, size, unit in (("d", "h", 86_400, 3_600), ("h", "m", 3_600, 60)):
        if seconds >= size:
            return f"{seconds // size}{large} {seconds % size // unit:02d}{small}"
    return f"{seconds // 60}m {seconds % 60:02d}s"


def took(ns: int) -> str:
    """How long a decision took."""
    return f"{ns / 1000:.1f} µs" if ns < 1_000_000 else f"{ns / 1_000_000:.1f} ms"
