"""What meters count: every event carries its amounts as one vector, indexed by unit."""

from __future__ import annotations

from enum import IntEnum
from typing import Final

from stanchion.kernel.stages import Stage


class Unit(IntEnum):
    """An index into an amounts vector. Money is in millionths of a dollar, so that sums are
    exact."""

    ONE = 0
    TOKENS = 1
    COST_MICROUSD = 2
    API_CALLS = 3
    DURATION_MS = 4


Amounts = tuple[int, int, int, int, int]

JUST_ONE: Final[Amounts] = (1, 0, 0, 0, 0)
NOTHING: Final[Amounts] = (0, 0, 0, 0, 0)

MICRO: Final = 1_000_000
LARGEST: Final = 10**15
"""What one action can use at the most: sums of it stay exact in every store."""
LONGEST_S: Final = LARGEST // 1000
MOST_USD: Final = LARGEST // MICRO
"""The same in seconds and in dollars."""


def amounts(
    tokens: int = 0, cost_usd: float = 0.0, api_calls: int = 0, duration_ms: int = 0
) -> Amounts:
    """A vector for one action; costs are rounded up to the next millionth so that an estimate is
    never low."""
    for name, value in (("tokens", tokens), ("api_calls", api_calls), ("duration_ms", duration_ms)):
        if type(value) is not int or not 0 <= value < LARGEST:
            raise ValueError(
                f"{name} is `{value}`: give a whole number that is not negative and below 10^15"
            )
    if type(cost_usd) not in (int, float) or not 0 <= cost_usd < MOST_USD:
        raise ValueError(
            f"cost_usd is `{cost_usd}`: give a finite amount of dollars that is not negative and "
            f"below 10^9"
        )
    return (1, tokens, ceil_micro(cost_usd) if cost_usd else 0, api_calls, duration_ms)


def ceil_micro(cost_usd: float) -> int:
    """Dollars as whole millionths, rounded up; float noise below a billionth does not count as a
    millionth."""
    return -int(-round(cost_usd * MICRO, 3) // 1)


def bounded(measures: frozenset[int], allotment: Amounts | None) -> frozenset[int]:
    """What the budgets of a run bound: what its policy measures, and what was carved out for it."""
    return (
        measures
        if allotment is None
        else measures | {unit for unit, left in enumerate(allotment) if left >= 0}
    )


def costs(stage: Stage, spent: Amounts) -> bool:
    """Whether what an action amounts to is charged beside it: a charge is its own, and a request
    that leaves has one only where it costs tokens or money."""
    return stage is not Stage.CHARGE and (stage is not Stage.EGRESS or spent[1] > 0 or spent[2] > 0)
