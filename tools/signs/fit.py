"""Fitting the weights: a logistic loss of each text's most telling passage, so that a text is an
attack by one passage and honest by all of them."""

from __future__ import annotations

from typing import Final

import msgspec
import numpy as np

from stanchion.readings.hostile.likeness import LikenessSettings
from tools.signs.arrays import Arrays, Floats, Shape, most, passages, slopes

STEPS: Final = 127
"""A weight is one of so many steps up or down."""


class Training(msgspec.Struct, frozen=True):
    """How the weights are fitted."""

    rounds: int = 50
    warm: int = 20
    """So many rounds learn of all passages; later ones of the most telling of each text."""
    rate: float = 0.05
    decay: float = 1e-4
    honest: float = 2.0
    """What honest texts weigh together; attacks weigh one."""
    beside: float = 0.5
    """What the other passages of honest texts weigh beside the most telling."""


class Fit(msgspec.Struct, frozen=True):
    """Fitted weights, as steps of a size."""

    steps: Floats
    scale: float
    bias: float

    @property
    def bytes(self) -> bytes:
        """A byte a weight."""
        return self.steps.astype(np.int8).tobytes()

    def scores(self, data: Arrays) -> Floats:
        """The likeness of each text."""
        return most(data, passages(data, self.steps * self.scale, self.bias))[0]


def fit(data: Arrays, attack: Floats, counts: Floats, how: Training) -> Fit:
    """Fit weights to texts, of which each counts so much; those that count nothing are not learnt
    from."""
    weights, speed, spread = np.zeros(data.size), np.zeros(data.size + 1), np.zeros(data.size + 1)
    bias = -1.0
    many = np.diff(data.begins)[data.of]
    shares = counts[data.of] / many
    for at in range(1, how.rounds + 1):
        scores = passages(data, weights, bias)
        if at <= how.warm:
            pulls = (_chance(scores) - attack[data.of]) * shares
        else:
            best, which = most(data, scores)
            pulls = np.where(attack[data.of] == 0, _chance(scores) * shares * how.beside, 0.0)
            pulls[which] += (_chance(best) - attack) * counts
        slope = np.append(slopes(data, pulls) + how.decay * weights, pulls.sum())
        speed = 0.9 * speed + 0.1 * slope
        spread = 0.99 * spread + 0.01 * slope * slope
        step = how.rate * speed / (1 - 0.9**at) / (np.sqrt(spread / (1 - 0.99**at)) + 1e-6)
        weights -= step[:-1]
        bias -= float(step[-1])
    scale = float(np.abs(weights).max()) / STEPS
    return Fit(np.round(weights / scale), scale, bias)


def settings(
    made: Fit, shape: Shape, weak: float, strong: float, training: str = "", rows: str = ""
) -> LikenessSettings:
    """How fitted weights are read."""
    return LikenessSettings(
        **msgspec.structs.asdict(shape),
        scale=made.scale,
        bias=made.bias,
        weak=weak,
        strong=strong,
        training=training,
        rows=rows,
    )


def _chance(scores: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-np.clip(scores, -30, 30))))
