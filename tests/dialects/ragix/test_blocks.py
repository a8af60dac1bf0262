"""The blocks of the document as they stand: run with the dialect, or held against its code."""

from __future__ import annotations

import ast
import dataclasses
import json
import re
import sys
import types
from enum import Enum
from pathlib import Path
from typing import Any

import pytest

import stanchion.dialects.ragix as dialect
from stanchion.dialects.ragix import CheckVerdict, EnvelopeConfig, MoveVerdict, Tutor, TutorEnvelope
from stanchion.tutor.graph import Graph, Truth
from tests.dialects.listed import text
from tests.dialects.ragix.hands import Hands
from tests.sources import nodes, tree_of

ROOT = Path(__file__).resolve().parents[3]
OPEN = '{"action": "ASSERT", "text": "File \'a.txt\' exists", "kind": "existence"}'
LOOK = '{"action": "PROPOSE", "command": "test -f a.txt"}'


def block(line: int, **given: Any) -> dict[str, Any]:
    """The names of a block after it was run as it stands."""
    names: dict[str, Any] = {"__name__": __name__, **given}
    code = compile(text("ragix", line), f"block {line}", "exec", dont_inherit=True)
    exec(code, names)  # noqa: S102 - the document's own words
    return names


def made(**more: Any) -> Tutor:
    """A game at its beginning."""
    tutor = Tutor("g", executor=Hands(), **more)
    tutor.setup_game("find out whether a.txt exists")
    return tutor


def tutor_move(reply: str) -> Any:
    """The one move of a reply."""
    (move,) = dialect.parse_move(reply)
    return move


def test_the_picture_of_law_and_lawyer() -> None:
    drawn = " ".join(re.sub("[^\x20-\x7e]", " ", text("ragix", 22)).split())
    layers = re.findall("Layer (\\d)", drawn)
    words = re.findall("Schema|Repair|Policy(?= Bundle Execution)", drawn)
    fields = [f"layer{number}_{word.lower()}" for number, word in zip(layers, words, strict=True)]
    assert [one for one in EnvelopeConfig.__struct_fields__ if one.startswith("layer")] == fields
    check = re.search("CheckVerdict: ([A-Z_/ ]+)", drawn)
    move = re.search("MoveVerdict: ([A-Z/]+)", drawn)
    assert check is not None
    assert move is not None
    assert re.findall("[A-Z_]+", check[1]) == [one.name for one in CheckVerdict]
    assert move[1].split("/") == [one.name for one in MoveVerdict]
    scores = re.findall("SCORE_[A-Z]+_[A-Z]+", drawn)
    assert scores
    assert all(hasattr(dialect, one) for one in scores)
    tutor = made()
    assert isinstance(tutor.pcg, Graph)
    assert {"ShellExecutor", "Tutor", "TutorEnvelope"} <= {*re.findall("[A-Z]\\w+", drawn)} & {
        *dialect.__all__
    }


def test_the_verdicts() -> None:
    names = block(78, Enum=Enum)
    for ours in (CheckVerdict, MoveVerdict):
        theirs = names[ours.__name__]
        assert [(one.name, one.value) for one in theirs] == [(one.name, one.value) for one in ours]


class Told:
    """A model that gives replies, and writes down when it is asked."""

    def __init__(self, log: list[str], *replies: str) -> None:
        self._log, self._left = log, iter(replies)

    def __call__(self, _prompt: str, _temperature: float, _seed: int | None, /) -> str:
        self._log.append("generate")
        return next(self._left)


class Checks(Tutor):
    """Writes down when a claim is checked, and when a move is made."""

    def __init__(self, log: list[str]) -> None:
        super().__init__("g", executor=Hands(log))
        self._log = log
        self.setup_game("find out whether a.txt exists")

    def check(self, truth: Any, commit: bool = False) -> Any:
        before = (len(self.pcg.nodes), len(self.pcg.edges), len(self.pcg.events), self.state.score)
        found = super().check(truth, commit)
        same = before == (
            len(self.pcg.nodes),
            len(self.pcg.edges),
            len(self.pcg.events),
            self.state.score,
        )
        self._log.append(f"check {found.verdict.name}{'' if same else ', committed'}")
        return found

    def execute_move(self, move: Any) -> Any:
        self._log.append("execute")
        return super().execute_move(move)


def test_the_algorithm_of_repair() -> None:
    steps = re.findall(r"^\d\. (\w+)", text("ragix", 121), re.MULTILINE)
    assert steps == ["Generate", "Run", "If", "Select", "Execute"]
    log: list[str] = []
    envelope = TutorEnvelope(
        Checks(log),
        layer1_schema="strict",
        layer2_repair="bestofn",
        repair_max_attempts=2,
        manifest_enabled=False,
    )
    envelope.run_episode(Told(log, OPEN, OPEN, LOOK), 1)
    assert log == [
        "generate", "check UNDECIDABLE", "generate", "check UNDECIDABLE", "generate", "execute",
        "shell test -f a.txt",
    ]  # fmt: skip
    log.clear()
    envelope.run_episode(Told(log, OPEN), 1)
    assert log[:3] == ["generate", "check PROVABLE", "execute"]


def test_an_envelope_with_every_layer_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STANCHION_STATE_DIR", str(tmp_path))
    plain, tutor = made(), made()
    names = block(161, TutorEnvelope=TutorEnvelope, tutor=tutor)
    script = (OPEN, LOOK, "I propose: ls", OPEN)
    episode = names["envelope"].run_episode(Told([], *script), len(script))
    for reply in script:
        plain.next_turn()
        for move in dialect.parse_move(reply):
            plain.execute_move(move)
        if plain.check_goal_satisfaction():
            break
    assert (tutor.state, episode.calls) == (plain.state, plain.state.turn)
    assert [node.id for node in tutor.pcg.nodes.values()] == [
        node.id for node in plain.pcg.nodes.values()
    ]
    [left] = tmp_path.rglob("manifest.json")
    assert json.loads(left.read_text())["tutor"]["envelope_enabled"] is False


def test_dspy_is_imported_in_functions_of_the_compiler_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "dspy", types.ModuleType("dspy"))
    names = block(202)
    assert names["dspy"].__name__ == "dspy"
    assert names["compile_policy"]() is None
    assert imports_of_dspy(text("ragix", 202)) == [False, True]
    for file in [*(ROOT / "src").rglob("*.py")]:
        assert imports_of_dspy(file.read_text(encoding="utf-8")) == [], file
    lab = {
        str(file): imports_of_dspy(file.read_text(encoding="utf-8"))
        for file in (ROOT / "lab/src").rglob("*.py")
    }
    [(name, found)] = [(name, found) for name, found in lab.items() if found]
    assert (name.endswith("compiling/package.py"), found) == (True, [False])


def imports_of_dspy(source: str) -> list[bool]:
    """For each import of DSPy in a module, whether it stands outside of every function; names in
    texts count as one."""
    if "dspy" not in source:
        return []
    tree = tree_of(source)
    inside = {
        id(one)
        for function in (*nodes(tree, ast.FunctionDef), *nodes(tree, ast.AsyncFunctionDef))
        for one in ast.walk(function)
    }
    found = []
    for one in ast.walk(tree):
        named = isinstance(one, ast.Import) and any(
            name.name.split(".")[0] == "dspy" for name in one.names
        )
        from_it = (
            isinstance(one, ast.ImportFrom)
            and (one.module or "").split(".")[0] == "dspy"
            and not one.level
        )
        called = (
            isinstance(one, ast.Call)
            and getattr(one.func, "id", getattr(one.func, "attr", ""))
            in ("import_module", "__import__")
            and any(isinstance(arg, ast.Constant) and arg.value == "dspy" for arg in one.args)
        )
        if named or from_it or called:
            found.append(id(one) not in inside)
    return sorted(found)


def test_what_stands_in_what() -> None:
    names = re.findall("[A-Z]\\w+", re.sub("Layer \\d|\\(Layer 0\\)", "", text("ragix", 220)))
    assert names == [
        "TutorEnvelope", "Schema", "Repair", "Policy", "Tutor", "StrategicAdvisor",
        "FailureDetector", "MetaCardSelector", "ContradictionDetector",
    ]  # fmt: skip
    envelope = TutorEnvelope(made(), manifest_enabled=False)
    advisor = envelope.base_tutor.strategic_advisor  # type: ignore[union-attr]  # it is the dialect's own
    nested = [envelope, envelope.base_tutor, advisor, *(
        getattr(advisor, re.sub("(?<!^)(?=[A-Z])", "_", name).lower()) for name in names[6:]
    )]  # fmt: skip
    assert [type(one).__name__ for one in nested] == [names[0], *names[4:]]
    assert not any(
        name.startswith(("strategic", "failure", "meta", "contradiction"))
        for name in vars(envelope)
    )


def test_a_claim_is_checked_by_its_words_and_only_what_is_committed_is_in_the_graph() -> None:
    tutor = made()
    assert tutor.check("").verdict is CheckVerdict.ILL_TYPED
    assert tutor.check("File 'a.txt' exists").verdict is CheckVerdict.UNDECIDABLE
    assert not tutor.pcg.of(Truth)
    tutor.execute_move(tutor_move(LOOK))
    assert tutor.check("File 'a.txt' exists").verdict is CheckVerdict.PROVABLE
    assert tutor.check("File 'a.txt' exists", commit=True).verdict is CheckVerdict.PROVABLE
    assert any(one.text == "File 'a.txt' exists" for one in tutor.pcg.of(Truth))


def test_the_schema_of_the_configuration() -> None:
    theirs = block(253)["EnvelopeConfig"]
    fields = {one.name: one.default for one in dataclasses.fields(theirs)}
    ours = EnvelopeConfig()
    assert fields == {name: getattr(ours, name) for name in EnvelopeConfig.__struct_fields__}
    assert [*fields] == [*EnvelopeConfig.__struct_fields__]
    given = theirs(layer1_schema="lenient", layer2_repair="bestofn", repair_max_attempts=3)
    envelope = TutorEnvelope(made(), config=given)
    assert envelope.config == EnvelopeConfig(
        layer1_schema="lenient", layer2_repair="bestofn", repair_max_attempts=3
    )
