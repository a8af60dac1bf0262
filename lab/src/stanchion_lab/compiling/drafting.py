"""A bundle from what was chosen: its prompts and examples as the envelope will use them, frozen
with its scores."""

from __future__ import annotations

import json
from collections.abc import Sequence
from glob import escape
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import msgspec

from stanchion.tutor.bundles.canonical import canonical
from stanchion.tutor.bundles.file import (
    HASH,
    Bundle,
    BundleRefusal,
    BundleRefused,
    Exemplar,
    ModelParams,
)
from stanchion.tutor.bundles.reading import freeze
from stanchion_lab.compiling.metric import metric_config
from stanchion_lab.compiling.traces import LAW

SYSTEM: Final = (
    "You find out what is so, and prove it. Only what a command has shown counts as proven, so "
    "look before you claim. "
    "Reply with exactly one move, as one JSON object and nothing else."
)
"""What a player is told before anything is optimised."""
MENU: Final = """\
Moves:
{"action": "PROPOSE", "command": "wc -l a.txt"} runs one command
{"action": "ASSERT", "claim": {"predicate": "lines", "subject": "a.txt", "value": 3}} claims something
{"action": "REFORMULATE", "original": "T1", "claim": {...}} puts another claim in the place of an open one
{"action": "ASK", "text": "..."} asks, and {"action": "RESOLVE", "question": "Q1", "claim": {...}} answers"""  # noqa: E501
PARAMS: Final = ModelParams(temperature=0.0, top_p=1.0, max_tokens=2_048)


class Scores(msgspec.Struct, frozen=True):
    """What came of the games that were held back: how many were won, and what they were worth."""

    games: tuple[str, ...]
    wins: int
    worth: float
    """The mean over the games."""
    baseline_wins: int
    baseline_worth: float

    @property
    def words(self) -> str:
        """The scores in a line."""
        won = f"won {self.wins} of {len(self.games)}, worth {self.worth:g}"
        return (
            f"{won} on average; without the bundle {self.baseline_wins}, worth "
            f"{self.baseline_worth:g}"
        )


class Made(msgspec.Struct, frozen=True, kw_only=True):
    """By what a bundle was made, and from what."""

    model: str
    optimizer: str
    candidates: int
    dspy_version: str
    lab_version: str
    games: tuple[str, ...]
    traces: int


def candidate(system: str, examples: Sequence[tuple[str, str]]) -> Bundle:
    """The bundle that a player is tried with."""
    shown = tuple(Exemplar(given, reply) for given, reply in examples)
    return Bundle({"system": system, "action_menu": MENU}, shown, PARAMS)


def draft(bundle: Bundle, made: Made, scores: Scores, compiled_at: str) -> dict[str, Any]:
    """A bundle's file, not frozen yet. But for `compiled_at` it has nothing that another run would
    change."""
    told = {
        "prompts": dict(bundle.prompts),
        "exemplars": [{"input": one.input, "output": one.output} for one in bundle.exemplars],
    }
    return {
        "bundle_version": "1.0.0",
        "bundle_id": f"compiled-{sha256(canonical(told)).hexdigest()[:12]}",
        "scope": {
            "games": [escape(one) for one in made.games],
            "models": [escape(made.model)],
            "laws": [LAW],
        },
        "metadata": {
            "compiled_at": compiled_at,
            "compiled_by": f"stanchion-lab {made.lab_version}",
            "dspy_version": made.dspy_version,
            "optimizer": made.optimizer,
            "optimizer_config": {"num_candidates": made.candidates, "num_threads": 1},
            "training_traces": made.traces,
            "validation_score": scores.worth,
            "description": f"held back: {', '.join(scores.games)}: {scores.words}",
        },
        **told,
        "model_params": {
            "temperature": PARAMS.temperature,
            "top_p": PARAMS.top_p,
            "max_tokens": PARAMS.max_tokens,
        },
        "metric_config": msgspec.to_builtins(metric_config()),
    }


def write_frozen(data: dict[str, Any], to: Path) -> str:
    """Freeze a draft into a file that is not there yet, and give its hash. Raises `BundleRefused`
    and `OSError`."""
    frozen = freeze(data)
    if isinstance(frozen, BundleRefusal):
        raise BundleRefused(frozen)
    with to.open("x", encoding="utf-8") as file:
        file.write(json.dumps(frozen, indent=2, ensure_ascii=False) + "\n")
    return str(frozen[HASH])
