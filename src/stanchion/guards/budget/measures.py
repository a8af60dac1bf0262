"""Measures of a budget: what its options count, and amounts as people read them."""

from __future__ import annotations

from typing import Final

from stanchion.kernel.units import MICRO, Unit

ACTS: Final = (Unit.ONE, Unit.DURATION_MS)
"""What only an action uses up; a charge is none."""

MEASURES: Final = {
    Unit.ONE: "calls",
    Unit.TOKENS: "tokens",
    Unit.COST_MICROUSD: "cost_usd",
    Unit.API_CALLS: "api_calls",
    Unit.DURATION_MS: "duration_s",
}
"""The options that bound, by what they count."""

UNITS: Final = {name: unit for unit, name in MEASURES.items()}
"""What each of them counts."""

WORDS: Final = {
    Unit.ONE: ("call", "calls"),
    Unit.TOKENS: ("token", "tokens"),
    Unit.API_CALLS: ("API call", "API calls"),
    Unit.DURATION_MS: ("second of work", "seconds of work"),
}


def phrase(unit: Unit, number: int) -> str:
    """A number of a unit in words that people read."""
    if unit is Unit.COST_MICROUSD:
        return shown(unit, number)
    one, many = WORDS[unit]
    said = shown(unit, number)
    return f"{said} {one if said == '1' else many}"


def shown(unit: Unit, number: int) -> str:
    """The number alone, exactly: dollars with their cents at least, seconds with the parts they
    have."""
    if unit is Unit.COST_MICROUSD:
        dollars, parts = divmod(number, MICRO)
        return f"${dollars:,}." + f"{parts:06d}".rstrip("0").ljust(2, "0")
    if unit is Unit.DURATION_MS:
        seconds, parts = divmod(number, 1_000)
        return f"{seconds:,}.{parts:03d}".rstrip("0").rstrip(".")
    return f"{number:,}"
