"""Leaving families out: each text is judged by a model that was trained without its family, and
without what is nearly the same in others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from stanchion.guards.injection.guard import passages
from stanchion.readings.hostile.likeness import LikenessModel, alike
from stanchion.readings.hostile.signs import Sign, signs
from tools.signs.arrays import Floats, Shape, arrays
from tools.signs.fit import Fit, Training, fit, settings
from tools.signs.texts import BESIDE, GENRES, WRITTEN, Text, near

ALARMS: Final = 0.003
"""The part of honest texts that may be flagged by likeness."""
FOUND: Final = 2
"""The score from which on phrases alone flag a text."""


class Judged(msgspec.Struct, frozen=True):
    """Texts with what the phrases say of them, and their likeness by a model that does not know
    their family."""

    texts: list[Text]
    signs: list[list[Sign]]
    scores: Floats
    fits: dict[int, Fit]
    """The model that judged each text."""
    shape: Shape

    @property
    def phrases(self) -> Floats:
        """Two for each text that phrases flag, one if they are a hint, zero if there are none."""
        both = zip(self.texts, self.signs, strict=True)
        return np.array(
            [float(FOUND if passages(one.raw, seen) else bool(seen)) for one, seen in both]
        )

    def flagged(self, limit: Limits) -> NDArray[np.bool_]:
        """Which texts the guard flags with models that do not know their families."""
        models = {
            id(made): LikenessModel(
                settings(made, self.shape, limit.weak, limit.strong), made.bytes
            )
            for made in self.fits.values()
        }
        found = np.zeros(len(self.texts), np.bool_)
        for place, made in self.fits.items():
            raw = self.texts[place].raw
            likes = alike(raw, models[id(made)])
            found[place] = bool(passages(raw, sorted([*self.signs[place], *likes])))
        return found


class Limits(msgspec.Struct, frozen=True):
    """From which likeness on a text with a hint is flagged, from which any, and from which if there
    were no phrases."""

    weak: float
    strong: float
    alone: float


class Line(msgspec.Struct, frozen=True):
    """A family: how many attacks there are, and which part of them is flagged."""

    family: str
    attacks: int
    phrases: float
    likeness: float
    both: float


def counts(some: list[Text], how: Training) -> Floats:
    """What each text counts: a large family counts more than a small one, but not as much more as
    it is larger."""
    sizes = Counter([(one.attack, one.family) for one in some])
    found = np.array([sizes[one.attack, one.family] ** -0.5 for one in some])
    attack = np.array([one.attack for one in some])
    found[attack] /= found[attack].sum()
    found[~attack] *= how.honest / found[~attack].sum()
    return found


def folded(some: list[Text]) -> dict[str, list[int]]:
    """The texts that are left out together, by the family of attacks; written sentences are never
    left out."""
    families = sorted({one.family for one in some if one.attack and one.family != WRITTEN})
    honest = sorted({one.family for one in some if not one.attack and one.family != WRITTEN})
    dealt = {
        name: name if name in families else families[at % len(families)]
        for at, name in enumerate(honest)
    }
    beside = {
        name: GENRES.get(with_, with_) if with_ not in families else with_
        for name, with_ in BESIDE.items()
    }
    dealt |= {name: beside[name] for name in honest if beside.get(name) in families}
    found: dict[str, list[int]] = {name: [] for name in families}
    for place, one in enumerate(some):
        if one.family != WRITTEN:
            found[one.family if one.attack else dealt[one.family]].append(place)
    return found


def left_out(some: list[Text], shape: Shape, how: Training, told: Callable[[str], None]) -> Judged:
    """Judge every text by a model that was trained without its family."""
    data = arrays(some, shape)
    attack = np.array([float(one.attack) for one in some])
    each, alike_ones = counts(some, how), near(some)
    scores = np.full(len(some), np.nan)
    fits: dict[int, Fit] = {}
    for family, places in folded(some).items():
        told(family)
        known = each.copy()
        known[places] = 0
        known[sorted({other for place in places for other in alike_ones.get(place, ())})] = 0
        made = fit(data, attack, known, how)
        scores[places] = made.scores(data)[places]
        fits |= dict.fromkeys(places, made)
    return Judged(some, [signs(one.raw) for one in some], scores, fits, shape)


def limits(judged: Judged) -> Limits:
    """The limits at which likeness flags so many honest texts: half of them with a hint, half
    without."""
    phrases = judged.phrases
    honest = (
        np.array([not one.attack for one in judged.texts])
        & ~np.isnan(judged.scores)
        & (phrases < FOUND)
    )
    scores, hinted = _down(judged.scores[honest]), _down(judged.scores[honest & (phrases > 0)])
    half = max(1, int(len(scores) * ALARMS / 2))
    strong = scores[half]
    weak = min(hinted[min(half, len(hinted) - 1)], strong)
    return Limits(_above(weak), _above(strong), _above(scores[2 * half]))


def lines(judged: Judged, limit: Limits) -> list[Line]:
    """What is found of each family that no model has seen."""
    flags = (judged.phrases >= FOUND, judged.scores >= limit.alone, judged.flagged(limit))
    found = []
    for family in sorted(
        {one.family for one in judged.texts if one.attack and one.family != WRITTEN}
    ):
        here = np.array([one.attack and one.family == family for one in judged.texts])
        found.append(Line(family, int(here.sum()), *[float(flag[here].mean()) for flag in flags]))
    return found


def alarms(judged: Judged, limit: Limits) -> dict[str, tuple[int, int, int]]:
    """How many honest texts there are of each family, how many phrases flag, and how many likeness
    flags besides."""
    found: dict[str, tuple[int, int, int]] = {}
    for one, phrases, flagged in zip(
        judged.texts, judged.phrases, judged.flagged(limit), strict=True
    ):
        if not one.attack and one.family != WRITTEN:
            rows, told, more = found.get(one.family, (0, 0, 0))
            found[one.family] = (
                rows + 1,
                told + int(phrases >= FOUND),
                more + int(flagged and phrases < FOUND),
            )
    return found


def _down(scores: Floats) -> Floats:
    return np.sort(scores)[::-1]


def _above(score: float) -> float:
    return float(np.ceil(score * 100 + 1) / 100)
