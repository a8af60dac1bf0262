"""Compiling with DSPy and its dummy model: what it chooses, that it does so again, and what it says
of bad models."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stanchion.cli.main import main
from stanchion.tutor.bundles.file import BundleFile
from stanchion.tutor.bundles.reading import bundle_of
from stanchion.tutor.bundles.scope import Use, unfit
from stanchion.tutor.envelope.prompts import prompt_of
from stanchion.tutor.playing.bundle_files import load_bundle
from stanchion_lab.compiling import verb
from stanchion_lab.compiling.compiling import Compiled, Plan, compiled
from stanchion_lab.compiling.drafting import SYSTEM, write_frozen
from stanchion_lab.compiling.optimizing import Judge, ModelFailed
from stanchion_lab.compiling.parts import parted, positions
from stanchion_lab.compiling.traces import load_traces
from tests.lab.compiling.recorded import folder, propose

dspy = pytest.importorskip("dspy")
DummyLM: Any = pytest.importorskip("dspy.utils.dummies").DummyLM

ROOT = Path(__file__).parents[2]
AT = "2026-01-02T10:00:00Z"
INSTRUCTION = "Count the lines first."
PROSE = "I think it has three lines."
ASKED = re.compile(r"lines\(`(\w\.txt)`")


class Playing(DummyLM):
    """The dummy model as a player. It counts lines of the right file if its prompt teaches it to,
    and else talks."""

    def __init__(self, taught: Callable[[str], bool]) -> None:
        super().__init__([], follow_examples=True)
        self.taught = taught
        self.prompts: list[str] = []

    def _use_example(self, messages: list[dict[str, Any]]) -> str:
        prompt = str(messages[-1]["content"])
        self.prompts.append(prompt)
        return propose(f"wc -l {ASKED.findall(prompt)[-1]}") if self.taught(prompt) else PROSE


def by_example(prompt: str) -> bool:
    """It follows an example that counts lines."""
    return re.search(r"Reply:\n.*wc -l", prompt) is not None


def by_instruction(prompt: str) -> bool:
    """It follows an instruction, and no example."""
    return INSTRUCTION in prompt


def made(
    place: Path, model: Any, optimizer: str = "bootstrap", at: str = AT, proposer: Any = None
) -> Compiled:
    plan = Plan(traces=(place,), model="dummy", optimizer=optimizer, candidates=4)
    return compiled(plan, lambda: model, at, proposer=proposer)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder of traces."""
    return folder(tmp_path / "traces")


def test_examples_that_help_are_chosen_and_win_a_game_that_was_held_back(place: Path) -> None:
    found = made(place, Playing(by_example))
    shown = found.draft["exemplars"]
    assert 1 <= len(shown) <= 3
    assert any("wc -l" in one["output"] for one in shown)
    assert (found.scores.wins, found.scores.baseline_wins) == (1, 0)
    assert found.scores.worth == 201
    assert found.scores.baseline_worth < 0
    held = found.scores.games[0].removeprefix("count-")
    assert not any(f"{held}.txt" in json.dumps(one) for one in shown), (
        "nothing is learnt from what is held back"
    )


def test_instructions_that_help_are_chosen(place: Path) -> None:
    proposer = DummyLM({"": {"proposed_instruction": INSTRUCTION}})
    found = made(place, Playing(by_instruction), "mipro", proposer=proposer)
    assert found.draft["prompts"]["system"] == INSTRUCTION
    assert found.scores.wins == 1
    assert found.draft["metadata"]["optimizer"] == "MIPROv2"


def test_where_nothing_helps_the_words_are_those_of_the_beginning(place: Path) -> None:
    found = made(place, Playing(lambda _: False))
    assert found.draft["prompts"]["system"] == SYSTEM
    assert found.draft["exemplars"] == []
    assert found.scores.wins == 0


@pytest.mark.parametrize("optimizer", ["bootstrap", "mipro"])
def test_the_same_traces_give_the_same_bundle(place: Path, tmp_path: Path, optimizer: str) -> None:
    written = []
    for number, at in enumerate((AT, AT, "2027-01-01T00:00:00Z")):
        proposer = DummyLM({"": {"proposed_instruction": INSTRUCTION}})
        model = Playing(lambda prompt: by_example(prompt) or by_instruction(prompt))
        write_frozen(made(place, model, optimizer, at, proposer).draft, tmp_path / f"{number}.json")
        written.append((tmp_path / f"{number}.json").read_bytes())
    assert written[0] == written[1]
    one, other = (text.split(b"\n") for text in written[1:])
    changed = [was.split(b'"')[1] for was, now in zip(one, other, strict=True) if was != now]
    assert changed == [b"bundle_hash", b"compiled_at"], "the hash is over the time, too"


def test_the_command_line_does_not_load_dspy_before_it_compiles() -> None:
    script = (
        "import sys, stanchion_lab.command, stanchion_lab.compiling.verb; assert 'dspy' not "
        "in sys.modules"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    subprocess.run([sys.executable, "-c", script], cwd=ROOT, env=env, check=True)


SCRIPT = """
import sys
from pathlib import Path
from stanchion_lab.compiling.drafting import write_frozen
from tests.dspy.test_compile import Playing, by_example, made
write_frozen(made(Path(sys.argv[1]), Playing(by_example)).draft, Path(sys.argv[2]))
"""


def test_another_process_gives_the_same_bundle(place: Path, tmp_path: Path) -> None:
    written = []
    for seed in ("1", "2"):
        to = tmp_path / f"{seed}.json"
        env = {
            **os.environ,
            "PYTHONHASHSEED": seed,
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        }
        subprocess.run(
            [sys.executable, "-W", "ignore", "-c", SCRIPT, place, to], cwd=ROOT, env=env, check=True
        )
        written.append(to.read_bytes())
    assert written[0] == written[1]


def test_the_frozen_bundle_is_read_and_asks_in_the_words_that_were_tried(
    place: Path, tmp_path: Path
) -> None:
    model = Playing(by_example)
    found = made(place, model)
    write_frozen(found.draft, tmp_path / "b.json")
    file = load_bundle(tmp_path / "b.json")
    assert isinstance(file, BundleFile)
    assert unfit(file, Use(game=found.scores.games[0], model="dummy", law="2")) is None
    assert unfit(file, Use(game="chess", model="dummy", law="2")) is not None
    assert file.metadata is not None
    assert file.metadata.dspy_version == dspy.__version__
    assert (file.metadata.training_traces, file.metadata.validation_score) == (
        8,
        found.scores.worth,
    )
    places = positions(parted(load_traces([place])).learnt)
    tried = set(model.prompts)
    unseen = [
        one
        for one in places
        if one.context not in {shown.input for shown in bundle_of(file).exemplars}
    ]
    assert unseen
    assert all(prompt_of(bundle_of(file), "", one.context) in tried for one in unseen)


def test_examples_have_brought_something_and_do_not_answer_the_situation_that_they_are_from(
    place: Path,
) -> None:
    model = Playing(by_example)
    made(place, model)
    shown = [prompt for prompt in model.prompts if "Example:\n" in prompt]
    assert shown
    assert not any('"command": "true"' in prompt for prompt in shown), (
        "it brought nothing, and is no example"
    )
    for prompt in shown:
        *examples, asked = prompt.split("=== GAME ===")
        assert not any(one.split("\nReply:\n")[0] == asked for one in examples)


def test_what_the_optimiser_has_traced_changes_nothing(place: Path) -> None:
    places = positions(parted(load_traces([place])).learnt)
    judge = Judge(places, lambda: None)
    good, bad = (dspy.Prediction(reply=text) for text in (places[0].reply, PROSE))
    example = dspy.Example(place=0)
    lies: list[Any] = [[], [("predictor", {}, dspy.Prediction(reply="won", goal=True))], object()]
    assert [judge(example, good, one) for one in lies] == [True] * 3
    assert [judge(example, bad, one) for one in lies] == [False] * 3
    assert (judge(example, good), judge(example, bad)) == (places[0].worth, -31)


@pytest.mark.parametrize("optimizer", ["bootstrap", "mipro"])
def test_it_tells_how_far_it_is(place: Path, optimizer: str) -> None:
    heard: list[tuple[int, int]] = []
    plan = Plan(traces=(place,), model="dummy", optimizer=optimizer, candidates=3)
    proposer = DummyLM({"": {"proposed_instruction": INSTRUCTION}})
    compiled(
        plan,
        lambda: Playing(lambda _: False),
        AT,
        lambda done, most: heard.append((done, most)),
        proposer,
    )
    assert [done for done, _ in heard] == list(range(1, len(heard) + 1))
    assert {most for _, most in heard} == {len(heard)}, (
        "a model that never wins is asked as often as can be"
    )


def test_an_empty_reply_is_a_bad_move_and_a_broken_model_ends_it(place: Path) -> None:
    class Silent(Playing):
        def _use_example(self, messages: list[dict[str, Any]]) -> str:
            return ""

    class Broken(Playing):
        def _use_example(self, messages: list[dict[str, Any]]) -> str:
            raise ConnectionError("nobody listens\nat this port")

    assert made(place, Silent(by_example)).scores.worth < 0
    with pytest.raises(ModelFailed, match=r"could not be asked: .*nobody listens at this port"):
        made(place, Broken(by_example))


def test_the_command_writes_a_bundle_and_says_what_it_is_worth(
    place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verb, "language_model", lambda _name: Playing(by_example))
    to = tmp_path / "bundle.json"
    words = [
        "lab",
        "compile",
        str(place),
        "--model",
        "dummy",
        "--out",
        str(to),
        "--candidates",
        "2",
    ]
    assert main(words) == 0
    told = capsys.readouterr()
    assert told.err == ""
    assert told.out.splitlines()[0] == "learnt from 4 games, 16 situations"
    assert told.out.splitlines()[1].startswith(
        "held back: 1 game: won 1 of 1, worth 201 on average; without the bundle 0"
    )
    assert told.out.splitlines()[-1].startswith(f"wrote {to}: sha256:")
    assert isinstance(load_bundle(to), BundleFile)
    assert main(words) == 2
    assert capsys.readouterr().err == f"stanchion: `{to}` already exists: use another file\n"
