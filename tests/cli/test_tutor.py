"""`stanchion tutor play`: a script plays a game in the terminal, and the evidence is written."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from stanchion.cli.main import main
from stanchion.tutor.graph.lines import from_jsonl
from stanchion.tutor.graph.nodes import Status, Truth

USER = ["--user", "65534"] if os.getuid() == 0 else []
GAME = {
    "name": "count",
    "goal": "find out how long the notes are",
    "claims": [{"predicate": "lines", "subject": "notes.txt", "value": 2}],
}


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder with a game and the file that it is about."""
    with tempfile.TemporaryDirectory(prefix="stanchion-game-") as made:
        folder = Path(made).resolve()
        folder.chmod(0o755)
        (folder / "notes.txt").write_text("one\ntwo\n")
        (folder / "game.yaml").write_text(json.dumps(GAME))
        yield folder


def played(place: Path, *moves: object, more: tuple[str, ...] = ()) -> int:
    """Play some moves."""
    (place / "moves.jsonl").write_text("".join(f"{json.dumps(move)}\n" for move in moves))
    return main(["tutor", "play", str(place / "game.yaml"), "--moves", str(place / "moves.jsonl"), *USER, *more])


def test_a_game_is_won_by_what_is_proven(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    claim = {"predicate": "lines", "subject": "notes.txt", "value": 2}
    status = played(
        place,
        {"action": "ASSERT", "claim": claim},
        {"action": "PROPOSE", "command": "rm -fr /"},
        {"action": "PROPOSE", "command": "true"},
        {"action": "PROPOSE", "command": "wc -l notes.txt"},
        more=("--graph", str(place / "evidence.jsonl")),
    )
    out = capsys.readouterr().out
    assert status == 0
    assert "1. legal: undecidable: an observation of `wc -l notes.txt`" in out
    assert "2. blocked: `rm` is not among the programs of this game" in out
    assert "| 2 notes.txt" in out
    assert "proven in turn 4" in out
    graph = from_jsonl((place / "evidence.jsonl").read_text("utf-8"))
    assert "lines(`notes.txt`, 2)" in [one.text for one in graph.of(Truth, Status.VALIDATED)]
    assert (place / "notes.txt").exists()


def test_a_game_is_lost_where_the_moves_end(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status = played(place, {"action": "PROPOSE", "command": "true"}, "nonsense", more=("--graph", str(place / "e.svg")))
    out = capsys.readouterr().out
    assert status == 3
    assert "2. illegal: no object" in out
    assert "not proven after turn 2" in out
    assert (place / "e.svg").read_text("utf-8").startswith("<svg")


@pytest.mark.parametrize(
    ("file", "says"),
    [
        ("name: [", "it is no YAML"),
        (json.dumps({**GAME, "claims": []}), "`claims` is empty"),
        (json.dumps({**GAME, "claim": []}), "unknown field `claim`"),
        (json.dumps({**GAME, "claims": [{"predicate": "lines", "subject": "a"}]}), "needs a whole number"),
    ],
)
def test_a_broken_game_is_one_clear_line(place: Path, file: str, says: str, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "game.yaml").write_text(file)
    assert played(place) == 2
    err = capsys.readouterr().err
    assert says in err
    assert err.count("\n") == 1


def test_an_unknown_picture_is_refused_before_anything_runs(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert played(place, more=("--graph", "x.png")) == 2
    assert "has no known ending: write .svg" in capsys.readouterr().err
