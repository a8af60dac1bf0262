"""Whatever the guard calls proven of files that were looked at is so, and whatever it calls refuted
is not."""

from __future__ import annotations

import shlex
from collections import Counter
from pathlib import Path
from random import Random

import msgspec

from stanchion.guards.evidence.observed import Observing, learnt_from
from stanchion.guards.evidence.seen import SeenState
from stanchion.guards.evidence.steps import KnownSteps
from stanchion.kernel.events import RunInfo, ToolResult
from stanchion.readings import Reader
from stanchion.readings.claims.claim import CheckVerdict, Claim
from tests.sampling import SOAK
from tests.tutor.trees import Looks, claim, command, grow, holds

NAMES = ("c d", "-e", "é", "x'y", "nope", "link", "./c d", "sub/b.txt", "./link")
"""Names that are no end of another: which file a short name means is not for this test."""
TREES, CLAIMS = (100 if SOAK else 25), 100


def look(seen: SeenState, world: Looks, argv: tuple[str, ...], rng: Random) -> SeenState:
    """Run a command, as a text of its own or behind another, and learn from it as the guard
    does."""
    came = world.run(argv, False)
    text = shlex.join(argv)
    shown = f"{text} && true" if rng.random() < 0.2 else text
    # Some tools leave out the ends of lines at the end.
    stdout = came.stdout.rstrip("\n") if rng.random() < 0.3 else came.stdout
    result = {"exit_code": came.rc, "stdout": stdout, "stderr": came.stderr}
    event = ToolResult(
        id="r", at=0, run=RunInfo("run"), tool="bash", args={"command": shown}, result=result
    )
    reading = Reader().read(event)
    return seen.ended("", Observing(KnownSteps())(reading).changes, learnt_from(event, reading))


def drawn(rng: Random, ran: list[tuple[str, ...]]) -> Claim:
    one = claim(rng, ran)
    return (
        one
        if one.subject in world_names(ran)
        else msgspec.structs.replace(one, subject=rng.choice(NAMES))
    )


def world_names(ran: list[tuple[str, ...]]) -> set[str]:
    return {*NAMES, *[shlex.join(argv) for argv in ran]}


def test_what_is_proven_is_so_and_what_is_refuted_is_not(tmp_path: Path) -> None:
    counted: Counter[CheckVerdict] = Counter()
    for number in range(TREES):
        rng, root, seen = Random(f"evidence/{number}"), tmp_path / str(number), SeenState()
        root.mkdir()
        grow(root, rng)
        world = Looks(root)
        ran = [command(rng) for _ in range(24)]
        for argv in ran:
            seen = look(seen, world, argv, rng)
        for _ in range(CLAIMS):
            one = drawn(rng, ran)
            verdict = seen.judge(one).verdict
            counted[verdict] += 1
            so = holds(root, one, world.ended) is one.polarity
            assert verdict is not CheckVerdict.PROVABLE or so, (number, one, ran)
            assert verdict is not CheckVerdict.REFUTABLE or not so, (number, one, ran)
    assert counted[CheckVerdict.PROVABLE] > TREES
    assert counted[CheckVerdict.REFUTABLE] > TREES
