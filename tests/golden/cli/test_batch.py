"""Batches answer byte for byte as their files say; every stage has a line among them."""

import json
from pathlib import Path
from typing import Any

import pytest

from stanchion import Stage
from tests.golden.cli.play import play, same

FOLDER = Path(__file__).parent / "batch"
BATCHES = sorted(
    file for file in FOLDER.glob("*.jsonl") if not file.name.endswith(".answers.jsonl")
)


def answers_of(batch: Path) -> Path:
    """Where the answers to a batch are kept."""
    return batch.with_suffix(".answers.jsonl")


def command_for(batch: Path) -> list[str]:
    """The command that judges a batch: by the policy of its name, by the default pack where there
    is none."""
    policy = batch.with_suffix(".yaml")
    return [
        "check",
        "--batch",
        str(batch),
        *(["--policy", str(policy)] if policy.is_file() else []),
    ]


def lines(file: Path) -> list[dict[str, Any]]:
    """The lines of a file of JSON objects."""
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("batch", BATCHES, ids=lambda batch: batch.stem)
def test_answers(batch: Path) -> None:
    played = play(command_for(batch))
    same(answers_of(batch), played.out)
    answers = [json.loads(line) for line in played.out.splitlines()]
    bad = [answer for answer in answers if "error" in answer]
    assert len(answers) == len(batch.read_bytes().splitlines())
    assert played.status == (2 if bad else 0)
    assert played.err == (
        (
            f"stanchion: {len(bad)} of {len(answers)} lines are not events: correct those answered "
            f"with `error`\n"
        )
        if bad
        else ""
    )


@pytest.mark.parametrize("batch", BATCHES, ids=lambda batch: batch.stem)
def test_standard_input_is_answered_alike(batch: Path) -> None:
    words = ["-" if word == str(batch) else word for word in command_for(batch)]
    assert play(words, batch.read_bytes()) == play(command_for(batch))


def test_every_stage_has_a_line_in_order() -> None:
    batch = FOLDER / "every_stage.jsonl"
    assert [line["stage"] for line in lines(batch)] == [stage.value for stage in Stage]
    assert all(answer["proceeds"] is True for answer in lines(answers_of(batch)))


def test_every_stage_with_content_has_a_patched_line() -> None:
    # A guard that asks cannot stand at `model_chunk`, and a finished handoff cannot be redacted any
    # more.
    patched = {
        event["stage"]
        for event, answer in zip(
            lines(FOLDER / "patched.jsonl"), lines(FOLDER / "patched.answers.jsonl"), strict=True
        )
        if "sk-" in json.dumps(event) and "[key]" in json.dumps(answer["content"])
    }
    assert patched == set(Stage) - {Stage.CHARGE, Stage.MODEL_CHUNK, Stage.HANDOFF_DONE}


def test_nothing_that_was_cut_out_is_answered() -> None:
    assert "sk-" in (FOLDER / "patched.jsonl").read_text(encoding="utf-8")
    assert "sk-" not in (FOLDER / "patched.answers.jsonl").read_text(encoding="utf-8")


def test_no_line_that_is_no_event_is_allowed() -> None:
    answers = lines(FOLDER / "malformed.answers.jsonl")
    errors = [answer for answer in answers if "error" in answer]
    assert all(set(answer) == {"line", "error"} for answer in errors)
    assert [answer["line"] for answer in errors] == list(range(2, len(answers)))
    assert [answer["action"] for answer in (answers[0], answers[-1])] == ["ALLOW", "BLOCK"]
