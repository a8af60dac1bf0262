"""A case: one seed, two sizes and a set of features; everything else follows from them."""

from __future__ import annotations

import random
from enum import IntFlag
from typing import Final, NamedTuple


class Feature(IntFlag):
    """What may occur in a case. Fewer of them make a case easier to read, so a failing case sheds
    them first."""

    METERS = 1
    RECORDS = 2
    ASKING = 4
    SHADOW = 8
    FAILURES = 16
    PATCHES = 32
    GATES = 64
    LATE = 128
    HOLDS = 256
    LOSSES = 512
    PAIRS = 1024
    STAGES = 2048
    LIMITED = 4096
    YOUNG = 8192
    MODES = 16384


EVERYTHING: Final = Feature(32_767)


class Case(NamedTuple):
    """What a property is tried on."""

    seed: int
    guards: int = 6
    moments: int = 8
    features: Feature = EVERYTHING

    def has(self, feature: Feature) -> bool:
        """Whether a feature may occur."""
        return feature in self.features

    def drawn(self, part: int) -> random.Random:
        """The chance that makes one part of the case. Parts do not depend on each other: sizes can
        shrink."""
        return random.Random(self.seed * 1_000_003 + part)
