"""Whatever the second law calls proven is true of the file system, and whatever it calls refuted is
false."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

from stanchion.readings.claims.claim import CheckVerdict
from stanchion.tutor.graph import Status, Truth
from stanchion.tutor.law.v2 import TutorV2
from stanchion.tutor.moves.typed import Propose, WriteRule
from stanchion.tutor.rules.typed import Spoken, TypedRule
from tests.tutor.trees import Looks, claim, command, grow, holds

CASES = 1_000_000 if os.environ.get("STANCHION_SOAK") else 5_000
A_TREE = 250
"""How many claims are drawn about one tree."""


def written(rng: Random, ran: list[tuple[str, ...]]) -> list[TypedRule]:
    """Rules that fit some of the commands and say of them what is so or not; all say that they are
    sound."""
    rules = []
    for number, argv in enumerate(rng.sample(ran, 8)):
        said = claim(rng, ran)
        spoken = Spoken(said.predicate, said.subject, said.value, said.polarity)
        rules.append(TypedRule(str(number), argv, spoken, (0, 1, 2), soundness="sound"))
    return rules


def stands(tutor: TutorV2, root: Path, world: Looks) -> Iterator[Status]:
    """Where each claim of the graph stands; what is validated in it is so, whoever has written
    rules."""
    for truth in tutor.pcg.of(Truth):
        status, one = tutor.pcg.status(truth.id), tutor._ledger.claim(truth.id)
        assert status is not None
        assert one is not None
        if status is Status.VALIDATED:
            assert holds(root, one, world.ended) is one.polarity, one
        yield status


def test_what_is_proven_is_so_and_what_is_refuted_is_not(tmp_path: Path) -> None:
    counted: Counter[CheckVerdict] = Counter()
    counted_rules: Counter[Status] = Counter()
    for number in range(CASES // A_TREE):
        rng = Random(f"sound/{number}")
        root = tmp_path / str(number)
        root.mkdir()
        grow(root, rng)
        world = Looks(root)
        ran = [command(rng) for _ in range(16)]
        rules = written(Random(f"rules/{number}"), ran)
        tutor = TutorV2("sound", world, "none", rules=rules[::2])
        for rule in rules[1::2]:
            tutor.execute_move(WriteRule(rule))
        for argv in ran:
            tutor.execute_move(Propose(argv=argv))
        counted_rules.update(stands(tutor, root, world))
        for _ in range(A_TREE):
            one = claim(rng, ran)
            verdict = tutor.check(one).verdict
            counted[verdict] += 1
            so = holds(root, one, world.ended) is one.polarity
            assert verdict is not CheckVerdict.PROVABLE or so, (number, one, ran)
            assert verdict is not CheckVerdict.REFUTABLE or not so, (number, one, ran)
    # It is no use to be right about nothing.
    assert counted_rules[Status.HINTED] > CASES / 250
    assert counted_rules[Status.VALIDATED] > CASES / 50
    assert counted[CheckVerdict.PROVABLE] > CASES / 20
    assert counted[CheckVerdict.REFUTABLE] > CASES / 20
