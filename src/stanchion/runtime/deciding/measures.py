"""Measures: the names by which operators are shown amounts, and by which they give them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from stanchion.kernel.units import MICRO, Unit

WHOLE: Final[dict[str, tuple[str, int]]] = {
    Unit.ONE.name.lower(): ("calls", 1),
    Unit.COST_MICROUSD.name.lower(): ("cost_usd", MICRO),
    Unit.DURATION_MS.name.lower(): ("duration_s", 1000),
}
"""Measures as stores count them, in whole units: what each is called otherwise, and how many of it
make one of that."""

FRACTIONS: Final = frozenset(name for name, many in WHOLE.values() if many > 1)
"""Measures of which a part of one can be given."""


def as_given(amounts: Mapping[str, Any], known: Iterable[str]) -> dict[str, Any]:
    """Amounts by the names of `known` measures, where some have the names of the store;
    `ValueError` where a measure is unknown, is given twice, or is not whole."""
    taken = {name: name for name in known}
    taken |= {whole: name for whole, (name, _) in WHOLE.items() if name in taken}
    found: dict[str, Any] = {}
    for said, value in amounts.items():
        name = taken.get(said)
        if name is None:
            raise ValueError(f"`{said}` is not a measure: give some of {', '.join(taken)}")
        if name in found:
            raise ValueError(
                f"`{said}` is given twice: once is enough, as `{name}` or by its other name"
            )
        if said in WHOLE:
            if type(value) is not int:
                raise ValueError(f"{said} is `{value}`: give a whole number")
            many = WHOLE[said][1]
            value = value if many == 1 else value / many
        found[name] = value
    return found
