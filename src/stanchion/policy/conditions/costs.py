"""What one evaluation has spent, so that it can be stopped."""

from __future__ import annotations

from typing import Any

from stanchion.policy.conditions.errors import TooCostly
from stanchion.policy.conditions.limits import STEPS

Purse = list[int]
"""The steps that an evaluation has left, in a list so that all its code shares them."""


def spend(purse: Purse, steps: int) -> None:
    """Take steps; raises `TooCostly` where there are not enough."""
    left = purse[0] - steps
    purse[0] = left
    if left < 0:
        raise TooCostly(
            f"the condition needs more than {STEPS:,} steps: use shorter lists and texts"
        )


def weigh(purse: Purse, value: Any, weight: int) -> Any:
    """Pay for looking through a text: `weight` steps for every 1,024 characters."""
    if type(value) is str or type(value) is bytes:
        spend(purse, len(value) * weight >> 10)
    return value
