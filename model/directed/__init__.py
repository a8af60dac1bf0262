"""Directed cases: combinations too rare for chance, each a small scene with one outcome."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from model.directed import (
    epochs,
    failures,
    gates,
    modes,
    patching,
    records,
    refusals,
    tallies,
    trips,
)

Directed = Callable[[], None]

CASES: Final[tuple[Directed, ...]] = tuple(
    getattr(module, name)
    for module in (epochs, failures, gates, modes, patching, records, refusals, tallies, trips)
    for name in vars(module)
    if name.startswith("case_")
)
"""Every case, by module, in the order it is written there."""
