"""The chance that a text tries to command an agent: its signs and its likeness to such texts,
weighed together.

The weights are those of a logistic regression on labelled texts, each with the likeness that a
model gives which does not know the text's family.
"""

from __future__ import annotations

from math import exp
from typing import Final

from stanchion.readings.hostile.likeness import model
from stanchion.readings.hostile.signs import signs
from stanchion.readings.hostile.views import first_view

VERSION: Final = "1"
"""The version of the weights below."""
BIAS: Final = -0.533
LIKENESS: Final = 0.619
STEPS: Final = (2.324, 2.016, 0.614, 0.416)
"""What each further point of weight adds that the signs of a text have together, each kind by its
heaviest; more than four add nothing."""
LONGEST: Final = 100_000
"""How many characters of a text are read."""


def chance(text: str) -> float:
    """The chance, from 0 to 1, that a text tries to command an agent that reads it."""
    text = text[:LONGEST]
    weights: dict[str, int] = {}
    for sign in signs(text):
        weights[sign.kind] = max(sign.weight, weights.get(sign.kind, 0))
    likeness = model().most(first_view(text).text)
    return chance_of(sum(weights.values()), likeness)


def chance_of(weight: int, likeness: float) -> float:
    """The chance by the weight of the signs together, and by the likeness."""
    score = BIAS + LIKENESS * likeness + sum(STEPS[: max(0, weight)])
    return round(1 / (1 + exp(-max(-50.0, min(50.0, score)))), 4)
