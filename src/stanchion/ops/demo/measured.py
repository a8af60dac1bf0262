"""What was measured: how much guards find of calls that were written without knowing them, and that
nobody tuned to."""

from __future__ import annotations

from typing import Final, NamedTuple


class MeasuredGuard(NamedTuple):
    """One unread set of calls: the guard, its attacks and how many were found, its honest calls and
    how many were disturbed."""

    guard: str
    found: int
    attacks: int
    disturbed: int
    honest: int


UNREAD: Final = (
    MeasuredGuard("shell", 76, 100, 10, 100),
    MeasuredGuard("shell", 61, 80, 8, 60),
    MeasuredGuard("files", 86, 100, 4, 100),
    MeasuredGuard("files", 61, 80, 3, 60),
    MeasuredGuard("secrets", 81, 100, 0, 100),
    MeasuredGuard("secrets", 65, 80, 5, 60),
    MeasuredGuard("sql", 82, 101, 7, 99),
)
"""The unread halves, as `stanchion lab measure eyes` counts them and the guards' pages have
them."""


def sums() -> tuple[MeasuredGuard, ...]:
    """All sets of each guard together."""
    names = dict.fromkeys([one.guard for one in UNREAD])
    return tuple([_sum(name, [one for one in UNREAD if one.guard == name]) for name in names])


def _sum(guard: str, sets: list[MeasuredGuard]) -> MeasuredGuard:
    counts = [sum(column) for column in zip(*[one[1:] for one in sets], strict=True)]
    return MeasuredGuard(guard, *counts)
