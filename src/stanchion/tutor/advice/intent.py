"""Whether a player comes closer to the goal: actions and goal as points in a space of letters, and
how the distance changes. The same words give the same points in every process."""

from __future__ import annotations

from collections import Counter
from enum import Enum
from hashlib import blake2b
from itertools import pairwise
from math import sqrt
from typing import Final

import msgspec

SIZE: Final = 384
WINDOW: Final = 3
THRESHOLD: Final = 0.1
FAR: Final = 0.7


class Intent(Enum):
    """Where a player is going, and how much of a score counts then."""

    CONVERGING = "converging"
    STABLE = "stable"
    WANDERING = "wandering"
    DIVERGING = "diverging"


FACTORS: Final = {
    Intent.CONVERGING: 1.0,
    Intent.STABLE: 0.7,
    Intent.WANDERING: 0.25,
    Intent.DIVERGING: 0.0,
}


class IntentCourse(msgspec.Struct, frozen=True):
    """Where a player is going: how far away, how that changes, and what it makes of a score."""

    intent: Intent
    distance: float
    trend: str
    factor: float


def embed(text: str) -> dict[int, float]:
    """A text as a point of length one: its groups of three letters, counted at places that a hash
    gives."""
    low = f"  {' '.join(text.lower().split())}  "
    counted = Counter(_place(low[at : at + 3]) for at in range(len(low) - 2))
    length = sqrt(sum(count * count for count in counted.values()))
    return {place: count / length for place, count in sorted(counted.items())} if length else {}


def _place(letters: str) -> int:
    return (
        int.from_bytes(blake2b(letters.encode("utf-8", "replace"), digest_size=4).digest(), "big")
        % SIZE
    )


def distance(one: dict[int, float], other: dict[int, float]) -> float:
    """How far two points are apart: 0 where they say the same, 1 where they share nothing."""
    return 1.0 - sum(value * other.get(place, 0.0) for place, value in one.items())


def course(goal: str, actions: tuple[str, ...]) -> IntentCourse:
    """Where a player is going who has done these actions; before there is anything to see
    everything counts."""
    aim = embed(goal)
    last = [distance(embed(action), aim) for action in actions[-WINDOW:]]
    if len(last) < 2:
        return IntentCourse(Intent.CONVERGING, last[-1] if last else 1.0, "unknown", 1.0)
    trend = _trend(last)
    intent = _intent(trend, last[-1])
    return IntentCourse(intent, last[-1], trend, FACTORS[intent])


def _trend(last: list[float]) -> str:
    steps = [after - before for before, after in pairwise(last)]
    moved = [step for step in steps if abs(step) > THRESHOLD]
    if moved and min(moved) < 0 < max(moved):
        return "erratic"
    whole = last[-1] - last[0]
    return "decreasing" if whole < -THRESHOLD else "increasing" if whole > THRESHOLD else "stable"


def _intent(trend: str, far: float) -> Intent:
    match trend:
        case "decreasing":
            return Intent.CONVERGING
        case "increasing":
            return Intent.DIVERGING
        case "erratic":
            return Intent.WANDERING
        case _:
            return Intent.WANDERING if far > FAR else Intent.STABLE
