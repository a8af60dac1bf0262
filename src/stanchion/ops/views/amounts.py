"""Amounts as people read them: money in dollars, time as a span, counts with what they count,
shares in percent."""

from __future__ import annotations

from typing import Final

from stanchion.guards.budget import phrase
from stanchion.kernel.units import Unit
from stanchion.ops.views.times import span

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
