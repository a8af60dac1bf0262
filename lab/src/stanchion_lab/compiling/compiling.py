"""From traces to a frozen bundle: part, optimise, play what was held back, write."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import msgspec

from stanchion import __version__
from stanchion.cli.printing import Told
from stanchion.tutor.bundles.file import Bundle
from stanchion_lab.compiling.drafting import Made, Scores, draft
from stanchion_lab.compiling.metric import total
from stanchion_lab.compiling.optimizing import OPTIMIZERS, ask, optimized, rounds
from stanchion_lab.compiling.package import dspy
from stanchion_lab.compiling.parts import Known, parted, positions
from stanchion_lab.compiling.replaying import Watched, play
from stanchion_lab.compiling.traces import NoTraces, load_traces


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What is compiled, for which model, and how."""

    traces: tuple[str | Path, ...]
    model: str
    optimizer: str
    candidates: int


class Counter:
    """Tells how many replies there were, of how many there can be at most."""

    def __init__(self, told: Told | None, most: int) -> None:
        self._told, self._most, self._done = told, most, 0

    def __call__(self) -> None:
        """Count one more."""
        self._done += 1
        if self._told is not None:
            self._told(min(self._done, self._most), self._most)


class Compiled(msgspec.Struct, frozen=True):
    """A bundle that is not frozen yet, and what it is worth."""

    draft: dict[str, Any]
    scores: Scores
    learnt: int
    positions: int


def compiled(
    plan: Plan,
    model: Callable[[], Any],
    compiled_at: str,
    told: Told | None = None,
    proposer: Any = None,
) -> Compiled:
    """Compile a bundle. `model` makes the model, once it is certain that there is something to
    compile. Raises `NoTraces`, `NoDSPy` and `ModelFailed`."""
    traces = load_traces(plan.traces)
    parts = parted(traces)
    places = positions(parts.learnt)
    if not any(one.worth > 0 for one in places):
        raise NoTraces(
            "no move in the games to learn from brings a fact: record some that somebody plays well"
        )
    package, asked = dspy(), model()
    whole = sum(2 * game.traces[0].game.turns for game in parts.held)
    counter = Counter(told, rounds(plan.optimizer, plan.candidates) * len(places) + whole)
    bundle = optimized(places, asked, plan.optimizer, plan.candidates, counter, proposer)

    def answer(prompt: str) -> str:
        counter()
        return ask(asked, prompt)

    scores = held_back(parts.held, bundle, answer)
    made = Made(
        model=plan.model,
        optimizer=OPTIMIZERS[plan.optimizer],
        candidates=plan.candidates,
        dspy_version=package.__version__,
        lab_version=__version__,
        games=tuple(sorted({one.game.name for one in traces})),
        traces=sum(len(game.traces) for game in parts.learnt),
    )
    return Compiled(
        draft(bundle, made, scores, compiled_at), scores, len(parts.learnt), len(places)
    )


def held_back(games: Sequence[Known], bundle: Bundle, answer: Callable[[str], str]) -> Scores:
    """Play whole games that nothing was learnt from, by the bundle and without it."""

    def played(by: Bundle | None) -> list[Watched]:
        return [
            play(game.traces[0], game.world, by, lambda asked: answer(asked.prompt))
            for game in games
        ]

    by, without = played(bundle), played(None)
    return Scores(
        tuple(game.name for game in games),
        sum(one.won for one in by),
        fmean(total(one) for one in by),
        sum(one.won for one in without),
        fmean(total(one) for one in without),
    )
