"""Times as people type them: a moment, or how long ago; and how long something is to last."""

from __future__ import annotations

from argparse import ArgumentTypeError
from datetime import UTC, datetime
from typing import Final

from stanchion.cli.trouble import BadInput
from stanchion.kernel.regex import regex

UNITS_MS: Final = {"s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}
_AGO: Final = regex(r"(\d{1,9})([smhdw])")


def moment_ms(option: str, text: str, now_ms: int) -> int:
    """A moment from what was typed: ISO 8601 (in UTC unless it says otherwise), or how long ago,
    such as `2h`."""
    ago = _AGO.fullmatch(text.strip())
    if ago is not None:
        return now_ms - int(ago[1]) * UNITS_MS[ago[2]]
    try:
        at = datetime.fromisoformat(text.strip())
        at = at if at.tzinfo is not None else at.replace(tzinfo=UTC)
        return round(at.timestamp() * 1000)
    except (ValueError, OverflowError):
        forms = (
            "write `2026-01-31`, `2026-01-31T12:00:00Z`, or how long ago: `90s`, `15m`, `2h`, `7d`"
        )
        raise BadInput(f"`{option}` is `{text}`, which is not a time: {forms}") from None


def lasting_s(text: str) -> float:
    """How long something is to last, from what was typed: the type of an option."""
    said = _AGO.fullmatch(text.strip())
    if said is None or not int(said[1]):
        raise ArgumentTypeError(f"is `{text}`: give a time such as `90s`, `15m`, `2h` or `1d`")
    return int(said[1]) * UNITS_MS[said[2]] / 1000
