"""When a delivery that failed is tried again: soon, then ever later, and not for ever."""

from __future__ import annotations

from typing import Final

PAUSES_S: Final = (5, 60, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400)
"""How long after each attempt the next one follows: about three days in all."""

SPREAD: Final = 0.2
"""By how much of itself each pause is longer or shorter, so that a thousand processes do not come
back together."""


def pause_s(attempts: int, chance: float) -> float | None:
    """How long to wait after so many attempts; `None` where it is given up. `chance` is from 0 to
    1."""
    if attempts > len(PAUSES_S):
        return None
    return PAUSES_S[attempts - 1] * (1 - SPREAD + 2 * SPREAD * chance)
