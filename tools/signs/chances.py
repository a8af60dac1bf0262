"""The weights of `readings/hostile/likeness.py`: a logistic regression on one half of the texts,
shown on both."""

from __future__ import annotations

from hashlib import sha256
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tools.signs.folds import Judged

Floats = NDArray[np.float64]
MOST: Final = 4
"""How much weight of signs counts."""
LIMITS: Final = (0.5, 0.7, 0.8, 0.9, 0.95, 0.98)
ROUNDS, PACE, DECAY = 4_000, 0.5, 1e-3


def show(judged: Judged) -> None:
    """Print the weights, and what is found at each chance: on the half they were fitted on, and on
    the other."""
    known = ~np.isnan(judged.scores)
    places = np.flatnonzero(known)
    features = np.array([_features(judged, int(place)) for place in places])
    attack = np.array([float(judged.texts[place].attack) for place in places])
    read = np.array([int(sha256(str(place).encode()).hexdigest(), 16) % 2 == 0 for place in places])
    weights = _fitted(features[read], attack[read])
    print(
        f"steps {weights[:MOST].round(3)}, likeness {weights[MOST]:.3f}, bias "
        f"{weights[MOST + 1]:.3f}\n"
    )
    chances = 1 / (1 + np.exp(-features @ weights))
    print(
        "| half | chance | attacks | honest texts | attacks among those told of "
        "|\n|---|---|---|---|---|"
    )
    for name, here in (("fitted on", read), ("other", ~read)):
        for limit in LIMITS:
            told = chances >= limit
            found, alarms = told[here & (attack == 1)].mean(), told[here & (attack == 0)].mean()
            print(
                f"| {name} | {limit} | {found:.1%} | {alarms:.2%} | "
                f"{attack[here & told].mean():.1%} |"
            )


def _features(judged: Judged, place: int) -> list[float]:
    weights: dict[str, int] = {}
    for sign in judged.signs[place]:
        weights[sign.kind] = max(sign.weight, weights.get(sign.kind, 0))
    total = sum(weights.values())
    return [*[float(total > step) for step in range(MOST)], float(judged.scores[place]), 1.0]


def _fitted(features: Floats, attack: Floats) -> Floats:
    weights = np.zeros(features.shape[1])
    for _ in range(ROUNDS):
        chances = 1 / (1 + np.exp(-features @ weights))
        weights -= PACE * (features.T @ (chances - attack) / len(attack) + DECAY * weights)
    return weights
