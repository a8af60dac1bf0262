"""Whatever the second law calls proven is true of the file system, and whatever it calls refuted is false."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from random import Random

from stanchion.readings.claims.verdict import CheckVerdict
from stanchion.tutor.law.v2 import TutorV2
from stanchion.tutor.moves.typed import Propose
from tests.tutor.trees import Looks, claim, command, grow, holds

CASES = 1_000_000 if os.environ.get("STANCHION_SOAK") else 10_000
A_TREE = 250
"""How many claims are drawn about one tree."""


def test_what_is_proven_is_so_and_what_is_refuted_is_not(tmp_path: Path) -> None:
    counted: Counter[CheckVerdict] = Counter()
    for number in range(CASES // A_TREE):
        rng = Random(f"sound/{number}")
        root = tmp_path / str(number)
        root.mkdir()
        grow(root, rng)
        world = Looks(root)
        tutor = TutorV2("sound", world, "none")
        ran = [command(rng) for _ in range(16)]
        for argv in ran:
            tutor.execute_move(Propose(argv=argv))
        for _ in range(A_TREE):
            one = claim(rng, ran)
            verdict = tutor.check(one).verdict
            counted[verdict] += 1
            so = holds(root, one, world.ended) is one.polarity
            assert verdict is not CheckVerdict.PROVABLE or so, (number, one, ran)
            assert verdict is not CheckVerdict.REFUTABLE or not so, (number, one, ran)
    # It is no use to be right about nothing.
    assert counted[CheckVerdict.PROVABLE] > CASES / 20
    assert counted[CheckVerdict.REFUTABLE] > CASES / 20
