"""Times, amounts and values as people read them: moments in UTC, spans, money, counts and sizes."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from stanchion.guards.budget import phrase
from stanchion.kernel.units import Unit

SIZES: Final = (("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1_000))
"""The units of a span that is a minute or longer, in milliseconds."""


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
    """How long something took or lasts: `850 ms`, `12.3 s`, `15 min`, `4 min 5 s`, `2 h 5 min`, `3
    d 4 h`."""
    if ms < 1_000:
        return f"{max(0, ms)} ms"
    if ms < 60_000:
        return f"{ms // 100 / 10:g} s"
    at = next(at for at, (_, size) in enumerate(SIZES) if ms >= size)
    (large, size), (small, part) = SIZES[at], SIZES[at + 1]
    rest = ms % size // part
    return f"{ms // size:,} {large} {rest} {small}" if rest else f"{ms // size:,} {large}"


def took(ns: int) -> str:
    """How long a decision took."""
    return f"{ns / 1000:.1f} µs" if ns < 1_000_000 else f"{ns / 1_000_000:.1f} ms"


MEASURES: Final = {unit: unit.name.lower() for unit in Unit}
"""What each unit is called in views: the unit is in the name."""

UNITS: Final = {name: unit for unit, name in MEASURES.items()}


def amount(measure: str, number: int) -> str:
    """A number of a measure: `7,000 tokens`, `$4.90`, `1 call`, `12.5 s`; without a known measure
    the number alone."""
    sign, number = ("-", -number) if number < 0 else ("", number)
    unit = UNITS.get(measure)
    if unit is None:
        return f"{sign}{number:,}"
    return sign + (span(number) if unit is Unit.DURATION_MS else phrase(unit, number))


def percent(share: float) -> str:
    """A share in whole percent; one that is not reached yet is not rounded up to it."""
    return f"{int(share * 100)}%"


def size(count: int) -> str:
    """A number of bytes."""
    if count < 1024:
        return f"{count} B"
    number, unit = count / 1024, "KiB"
    for larger in ("MiB", "GiB", "TiB"):
        if number < 1024:
            break
        number, unit = number / 1024, larger
    return f"{number:,.1f} {unit}"


def counted(number: int, what: str) -> str:
    """A number of things."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def framed(before: str, words: str, after: str = "") -> str:
    """Words between others; nothing where there are none."""
    return f"{before}{words}{after}" if words else ""


def flow(value: Any) -> str:
    """A value in one line: text as it is, the rest as YAML would have it in brackets."""
    match value:
        case dict():
            return "{" + ", ".join([f"{name}: {flow(item)}" for name, item in value.items()]) + "}"
        case list() | tuple():
            return "[" + ", ".join(map(flow, value)) + "]"
        case None:
            return "none"
        case str() if value:
            return value
    return msgspec.json.encode(value).decode()


def in_json(value: Any, indent: int | None = None) -> str:
    """A value in JSON as people read it, in one line unless there is an indent."""
    import json  # a check of one event prints none

    return json.dumps(value, indent=indent, ensure_ascii=False)


def in_pages(content: Any) -> str:
    """Content as people read it: text as it is, the rest as JSON with a line for each thing."""
    return "" if content is None else content if isinstance(content, str) else in_json(content, 2)
