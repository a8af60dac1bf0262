"""What is frozen: the bundle that was tried, what it was made by, and nothing that another run
would change."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from stanchion.tutor.bundles.file import BundleFile, BundleRefused
from stanchion.tutor.bundles.reading import bundle_of
from stanchion.tutor.bundles.scope import Use, unfit
from stanchion.tutor.playing.bundle_files import load_bundle
from stanchion_lab.compiling.compiling import held_back
from stanchion_lab.compiling.drafting import Made, Scores, candidate, draft, write_frozen
from stanchion_lab.compiling.metric import PAID
from stanchion_lab.compiling.parts import parted
from stanchion_lab.compiling.traces import load_traces
from tests.lab.compiling.recorded import folder, propose

MADE = Made(
    model="small[3b]",
    optimizer="MIPROv2",
    candidates=10,
    dspy_version="3.4.1",
    lab_version="0.1.0",
    games=("count-*", "log"),
    traces=7,
)
SCORES = Scores(("log",), 1, 201.0, 0, -186.0)
TRIED = candidate("Look first.", [("=== GAME ===", propose("wc -l a.txt"))])


def test_what_was_tried_is_what_is_frozen(tmp_path: Path) -> None:
    digest = write_frozen(draft(TRIED, MADE, SCORES, "2026-01-02T10:00:00Z"), tmp_path / "b.json")
    file = load_bundle(tmp_path / "b.json")
    assert isinstance(file, BundleFile)
    used = bundle_of(file)
    assert (used.prompts, used.exemplars, used.model_params) == (
        TRIED.prompts,
        TRIED.exemplars,
        TRIED.model_params,
    )
    assert used.hash == digest
    assert file.metadata is not None
    assert (file.metadata.training_traces, file.metadata.validation_score) == (7, 201.0)
    assert file.metadata.description == (
        "held back: log: won 1 of 1, worth 201 on average; without the bundle 0, worth -186"
    )
    assert file.metric_config is not None
    assert msgspec.to_builtins(file.metric_config.weights) == msgspec.structs.asdict(PAID)
    assert file.metric_config.repetition_window == 3


def test_names_are_meant_as_they_are(tmp_path: Path) -> None:
    write_frozen(draft(TRIED, MADE, SCORES, ""), tmp_path / "b.json")
    file = load_bundle(tmp_path / "b.json")
    assert isinstance(file, BundleFile)
    assert unfit(file, Use(game="count-*", model="small[3b]", law="2")) is None
    assert unfit(file, Use(game="count-a", model="small[3b]", law="2")) is not None
    assert unfit(file, Use(game="log", model="small3", law="2")) is not None
    assert unfit(file, Use(game="log", model="small[3b]", law="1")) is not None


def test_only_the_time_and_the_hash_depend_on_the_time() -> None:
    one, other = (draft(TRIED, MADE, SCORES, at) for at in ("2026", "2027"))
    assert one["bundle_id"] == other["bundle_id"]
    assert one.pop("metadata") == {**other.pop("metadata"), "compiled_at": "2026"}
    assert json.dumps(one) == json.dumps(other)


def test_nothing_is_written_over_or_frozen_that_cannot_be_read(tmp_path: Path) -> None:
    made = draft(TRIED, MADE, SCORES, "")
    write_frozen(made, tmp_path / "b.json")
    with pytest.raises(FileExistsError):
        write_frozen(made, tmp_path / "b.json")
    with pytest.raises(BundleRefused):
        write_frozen({**made, "more": 1}, tmp_path / "c.json")
    assert not (tmp_path / "c.json").exists()


def test_whole_games_are_played_by_the_bundle_and_without_it(tmp_path: Path) -> None:
    parts = parted(load_traces([folder(tmp_path / "traces")]))
    file = parts.held[0].name.removeprefix("count-")
    prompts = []

    def answer(prompt: str) -> str:
        prompts.append(prompt)
        return propose(f"wc -l {file}.txt") if "Look first." in prompt else "prose"

    found = held_back(parts.held, TRIED, answer)
    assert found == Scores((parts.held[0].name,), 1, 201, 0, -31 * 6)
    assert len(prompts) == 1 + 6
