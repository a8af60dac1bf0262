"""What was measured: how much guards find of calls that were written without knowing them, and that
nobody tuned to."""

from __future__ import annotations

from typing import Final, NamedTuple


class Measured(NamedTuple):
    """One unread set of calls: the guard, its attacks and how many were found, its honest calls and
    how many were disturbed."""

    guard: str
    found: int
    attacks: int
    disturbed: int
    honest: int


UNREAD: Final = (
    Measured("shell", 76, 100, 10, 100),
    Measured("shell", 61, 80, 8, 60),
    Measured("files", 86, 100, 4, 100),
    Measured("files", 61, 80, 3, 60),
    Measured("secrets", 81, 100, 0, 100),
    Measured("secrets", 65, 80, 5, 60),
    Measured("sql", 82, 101, 7, 99),
)
"""The unread halves, as `stanchion lab measure eyes` counts them and the guards' pages have
them."""


def sums() -> tuple[Measured, ...]:
    """All sets of each guard together."""
    names = dict.fromkeys([one.guard for one in UNREAD])
    return tuple([_sum(name, [one for one in UNREAD if one.guard == name]) for name in names])


def _sum(guard: str, sets: list[Measured]) -> Measured:
    counts = [sum(column) for column in zip(*[one[1:] for one in sets], strict=True)]
    return Measured(guard, *counts)
