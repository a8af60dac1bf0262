"""`stanchion tutor record` leaves a manifest, and `replay` plays the same game again from it."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from typing import Any

import msgspec
import pytest

from stanchion import Refused, Shield
from stanchion.audit.manifest_check import hash_faults, read
from stanchion.audit.reader import TrailReader
from stanchion.cli.main import main
from stanchion.ops.views.runs import checked
from stanchion.tutor.bundles.canonical import digest
from stanchion.tutor.envelope.config import EnvelopeConfig
from stanchion.tutor.envelope.trace import EpisodeTrace
from stanchion.tutor.law.v2 import TutorV2
from stanchion.tutor.manifests.manifest import Model, field_hashes
from stanchion.tutor.playing.recorded import play_recorded
from stanchion.tutor.playing.recordings import read_recording
from stanchion.tutor.playing.replays import ReplayError, compared, replay
from tests.runtime.test_episodes import Stops
from tests.runtime.test_repair import OneWord, charged, journalled, recorded as recorded_calls
from tests.tutor.bundles.made import DOCUMENTED, frozen

UID = 65534 if os.getuid() == 0 else None
USER = [] if UID is None else ["--user", str(UID)]
CLAIM = {"predicate": "lines", "subject": "notes.txt", "value": 2}
GAME = {"name": "count", "goal": "find out how long the notes are", "claims": [CLAIM]}
MOVES: list[Any] = [
    {"action": "ASSERT", "claim": CLAIM},
    {"action": "PROPOSE", "command": "rm -fr /"},
    "no move at all",
    {"action": "PROPOSE", "command": "wc -l notes.txt"},
]


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with a game, the file that it is about, and the replies of a player."""
    with tempfile.TemporaryDirectory(prefix="stanchion-game-") as made:
        folder = Path(made).resolve()
        folder.chmod(0o755)
        (folder / "notes.txt").write_text("one\ntwo\n")
        (folder / "game.yaml").write_text(json.dumps(GAME))
        (folder / "moves.jsonl").write_text("".join(f"{json.dumps(move)}\n" for move in MOVES))
        (folder / "out").mkdir()
        monkeypatch.chdir(folder)
        yield folder


def recorded(*more: str) -> int:
    """Record the game."""
    words = ["record", "game.yaml", "--moves", "moves.jsonl", "--out", "run.json"]
    return main(["tutor", *words, *USER, *more])


def test_what_was_recorded_is_played_again_without_a_command(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert recorded() == 0
    out = capsys.readouterr().out
    assert "1. ASSERT: legal, undecidable, +0" in out
    assert "2. PROPOSE: blocked, -5" in out
    assert "proven after turn 4" in out
    data = read("run.json")
    assert hash_faults(data) == []
    assert data["result"] == {
        "turns": 4,
        "model_calls": 4,
        "score": -5,
        "won": True,
        "stopped": None,
    }
    (place / "notes.txt").unlink()
    assert main(["tutor", "replay", "run.json"]) == 0
    assert capsys.readouterr().out == "the same: 4 turns\n"


def test_with_a_folder_the_commands_run_again(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert recorded() == 0
    capsys.readouterr()
    assert main(["tutor", "replay", "run.json", "--root", ".", *USER]) == 0
    assert capsys.readouterr().out == "the same: 4 turns\n"
    (place / "notes.txt").write_text("one\n")
    assert main(["tutor", "replay", "run.json", "--root", ".", *USER]) == 1
    said = capsys.readouterr().out
    assert "turn 4: state_hash: " in said
    assert "turn 4: result.won: it was true, and is false" in said
    assert "the files in `.` are not those" in said
    assert said.endswith("it differs from turn 4 on; 3 turns before that went the same\n")


def test_another_law_is_seen_in_the_turn_where_it_decides_otherwise(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert recorded() == 0
    monkeypatch.setattr("stanchion.tutor.law.v2.SCORE_POLICY_VIOLATION", -7)
    capsys.readouterr()
    assert main(["tutor", "replay", "run.json"]) == 1
    said = capsys.readouterr().out
    assert said.startswith("turn 2: score_delta: it was -5, and is -7\n")
    assert "turn 1:" not in said


def test_a_game_that_goes_another_way_stops_where_it_does(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert recorded() == 0
    monkeypatch.setattr(TutorV2, "check_goal_satisfaction", lambda _self: False)
    capsys.readouterr()
    assert main(["tutor", "replay", "run.json"]) == 1
    assert "result.won: it was true, and is false" in capsys.readouterr().out
    played, lines = read_recording("run.recording.jsonl")
    assert len(lines) == 7
    monkeypatch.setattr(
        "stanchion.tutor.playing.replays.read_recording", lambda _path: (played, lines[:-1])
    )
    found = replay("run.json")
    assert [(one.turn, one.field) for one in found.differences] == [(4, "recording")]
    assert "once more" in found.differences[0].now
    assert found.turns == 3


@pytest.mark.parametrize("name", ["run.json", "run.trace.jsonl", "run.recording.jsonl"])
def test_what_was_changed_is_not_played(
    place: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert recorded() == 0
    path = place / name
    path.write_text(path.read_text().replace("count", "coun7").replace("legal", "illegal"))
    capsys.readouterr()
    assert main(["tutor", "replay", "run.json"]) == 2
    err = capsys.readouterr().err
    assert "was changed" in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("law", ["1", "2"])
@pytest.mark.parametrize(
    "layers",
    [
        {},
        {"layer1_schema": "lenient"},
        {
            "layer1_schema": "lenient",
            "layer2_repair": "bestofn",
            "repair_max_attempts": 2,
            "repair_seed": 5,
        },
    ],
    ids=["off", "schema", "repair"],
)
def test_every_law_and_layer_is_played_again_the_same(
    place: Path, law: str, layers: dict[str, Any]
) -> None:
    said = iter([json.dumps(one) for one in (*MOVES, *MOVES, *MOVES)])
    config = EnvelopeConfig(manifest_path="out/m.json", **layers)
    left = play_recorded(
        "game.yaml",
        lambda *_: next(said),
        config,
        Model(temperature=0.0, model_id="m"),
        law=law,
        turns=4,
        user=UID,
    )
    assert left.manifest is not None
    assert left.manifest["result"]["model_calls"] == left.episode.calls == left.episode.trace.calls
    stats = left.manifest["repair_stats"]
    assert (stats is None) is (layers.get("layer2_repair") is None)
    if stats is not None:
        assert stats["total_retries"] == left.episode.calls - left.episode.turns
    found = replay("out/m.json")
    assert (found.differences, found.turns, found.notes) == ((), left.episode.turns, ())


def test_a_bundle_is_played_by_and_played_again(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (place / "b.json").write_text(json.dumps(frozen(DOCUMENTED)))
    assert recorded("--bundle", "b.json") == 0
    policy = read("run.json")["policy"]
    assert policy["bundle_enabled"]
    assert policy["bundle_hash"] == frozen(DOCUMENTED)["bundle_hash"]
    assert policy["compiled_by"] == "a compiler"
    (place / "b.json").unlink()
    capsys.readouterr()
    assert main(["tutor", "replay", "run.json"]) == 0
    _, lines = read_recording("run.recording.jsonl")
    assert "Play by evidence." in str(lines)


def test_a_bundle_that_is_refused_stops_the_run_or_leaves_it_at_baseline(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (place / "b.json").write_text(json.dumps({**frozen(DOCUMENTED), "bundle_id": "other"}))
    assert recorded("--bundle", "b.json") == 2
    assert "was changed after it was frozen" in capsys.readouterr().err
    assert not (place / "run.json").exists()
    assert recorded("--bundle", "b.json", "--baseline") == 0
    assert "note: the bundle is refused" in capsys.readouterr().out
    with_it, without = read("run.json"), (place / "run.trace.jsonl").read_text()
    assert with_it["policy"]["bundle_refused"].startswith("wrong-hash: ")
    assert not with_it["policy"]["bundle_enabled"]
    for file in place.glob("run.*"):
        file.unlink()
    assert recorded() == 0
    assert (place / "run.trace.jsonl").read_text() == without


def test_the_trail_of_a_shield_knows_the_manifest_and_judges_the_commands(place: Path) -> None:
    said = iter([json.dumps(one) for one in MOVES])
    config = EnvelopeConfig(manifest_path="out/m.json")
    with (
        Shield.load("default", store="memory:", journal=place / "out" / "trail") as shield,
        shield.run("ann") as run,
    ):
        play_recorded(
            "game.yaml",
            lambda *_: next(said),
            config,
            Model(temperature=0.0),
            turns=4,
            run=run,
            user=UID,
        )
    reader = TrailReader(place / "out" / "trail")
    data = read("out/m.json")
    assert checked(data, reader, Path("out")).wrong == ()
    assert "shell" in [one.stub.tool for one in reader.backwards()]
    data["result"]["score"] = 1_000
    data["field_hashes"] = field_hashes(
        {k: v for k, v in data.items() if k not in ("field_hashes", "manifest_hash")}
    )
    data["manifest_hash"] = digest(data["field_hashes"])
    assert [one.field for one in checked(data, reader, Path("out")).wrong] == [
        "result.score",
        "manifest_hash",
    ]


REPAIRED: dict[str, Any] = {
    "layer1_schema": "lenient",
    "layer2_repair": "bestofn",
    "repair_max_attempts": 2,
}


@pytest.mark.parametrize("most", [2, 3, 100], ids=lambda most: f"{most} calls")
@pytest.mark.parametrize("guards", [(), (OneWord(),)], ids=["all taken", "some withheld"])
def test_manifest_trail_and_budget_agree_and_what_guards_did_is_played_again(
    place: Path, most: int, guards: tuple[Any, ...]
) -> None:
    made = journalled(most, *guards)
    said = cycle([json.dumps(one) for one in (*MOVES[:3], "two words")])
    config = EnvelopeConfig(manifest_path="out/m.json", **REPAIRED)
    with made.run() as run:
        left = play_recorded(
            "game.yaml",
            lambda *_: next(said),
            config,
            Model(temperature=0.0),
            turns=3,
            run=run,
            user=UID,
        )
    assert left.manifest is not None
    assert (
        left.manifest["result"]["model_calls"]
        == recorded_calls(made)
        == charged(made)
        == left.episode.calls
    )
    assert left.manifest["repair_stats"]["total_retries"] <= 2 * 3
    assert bool(left.episode.stopped) is (most < left.episode.calls + 1)
    assert replay("out/m.json").differences == ()


@pytest.mark.parametrize("layers", [{}, REPAIRED], ids=["off", "repair"])
@pytest.mark.parametrize(
    ("limit", "replies"),
    [
        (2, ("hm", "hm", "hm")),
        (9, ("two words", "stop")),
        (9, ("hm", "stop")),
        (1, ("two words",)),
        (9, ("stop",)),
    ],
)
def test_a_run_that_is_ended_leaves_what_is_played_again(
    place: Path, layers: dict[str, Any], limit: int, replies: tuple[str, ...]
) -> None:
    said, made = iter((*replies, *replies)), journalled(limit, OneWord(), Stops(), action="halt")
    config = EnvelopeConfig(manifest_path="out/m.json", **layers)
    with made.run() as run, pytest.raises(Refused) as refused:
        play_recorded(
            "game.yaml",
            lambda *_: next(said),
            config,
            Model(temperature=0.0),
            turns=3,
            run=run,
            user=UID,
        )
    data = read("out/m.json")
    assert data["result"]["stopped"] == refused.value.partial[-1].stopped != ""
    assert data["result"]["model_calls"] == recorded_calls(made) == charged(made)
    found = replay("out/m.json")
    assert (found.differences, found.notes) == ((), ())


def test_no_manifest_is_written_where_none_is_wanted(place: Path) -> None:
    said = iter([json.dumps(one) for one in MOVES])
    config = EnvelopeConfig(manifest_enabled=False, manifest_path="out/m.json")
    left = play_recorded(
        "game.yaml", lambda *_: next(said), config, Model(temperature=0.0), turns=4, user=UID
    )
    assert left.episode.won
    assert left.manifest is None
    assert not list((place / "out").iterdir())


def test_every_field_of_a_trace_is_compared() -> None:
    text = (
        '{"turn":1,"prompt_hash":"p","output_hash":"o","move_type":"ASK","parsed_move":{},"check_verdict":null,'
        '"move_verdict":"legal","score_delta":0,"state_hash":"s","attempts":1,"routing":"read"}\n'
    )
    known = EpisodeTrace.from_jsonl(text)
    (one,) = known.turns
    for name in one.__struct_fields__:
        other = EpisodeTrace(
            (msgspec.structs.replace(one, **{name: "x" if name != "turn" else 2}),)
        )
        assert [found.field for found in compared(known, other)] == [name]
    assert [(found.turn, found.was, found.now) for found in compared(known, EpisodeTrace())] == [
        (1, "a move", "nothing")
    ]
    assert [(found.turn, found.was) for found in compared(EpisodeTrace(), known)] == [
        (1, "nothing")
    ]


def test_a_model_that_raises_leaves_a_manifest(place: Path) -> None:
    def model(_prompt: str, _temperature: float, _seed: int | None) -> str:
        raise ConnectionError("nobody answers")

    config = EnvelopeConfig(manifest_path=str(place / "run.json"))
    with pytest.raises(ConnectionError, match="nobody answers"):
        play_recorded("game.yaml", model, config, Model(temperature=0.0, model_id="m"), user=UID)
    assert read("run.json")["result"]["stopped"] == "the model raised `ConnectionError`"
    assert replay("run.json").differences == ()


def test_a_manifest_of_a_run_has_nothing_to_play(place: Path) -> None:
    with Shield.load("default", store="memory:", journal=place / "trail") as shield:
        shield.run("ann", id="r").check("ls", {})
    assert main(["runs", "manifest", "r", "--trail", "trail", "--out", "r.json"]) == 0
    with pytest.raises(ReplayError, match="the Tutor did not write it"):
        replay("r.json")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("record", "game.yaml"), "give the replies"),
        (("record", "game.yaml", "--moves", "missing", "--out", "x"), "`missing`: No such file"),
        (("record", "missing.yaml", "--moves", "moves.jsonl", "--out", "x"), "missing.yaml"),
        (("replay", "missing.json"), "cannot be read"),
        (("replay", "game.yaml"), "field_hashes"),
        (("replay", "game.yaml", "--moves", "x"), "takes no `--moves`"),
        (("bundle", "missing.json"), "is refused (unreadable)"),
        (("bundle", "game.yaml"), "is refused (bad-value)"),
        (("bundle", "game.yaml", "--freeze", "x.json"), "is not frozen"),
        (("play", "game.yaml", "--out", "missing/x"), "there is no folder `missing`"),
        (("play", "game.yaml", "--model", "x"), "takes no `--model`"),
        (("repaly", "run.json"), "did you mean `replay`?"),
    ],
)
def test_mistakes_are_one_line(
    place: Path, words: tuple[str, ...], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tutor", *words]) == 2
    err = capsys.readouterr().err
    assert says in err
    assert err.count("\n") == 1


def test_a_bundle_is_frozen_and_shown(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "draft.json").write_text(json.dumps(DOCUMENTED))
    assert main(["tutor", "bundle", "draft.json"]) == 2
    assert "(no-hash)" in capsys.readouterr().err
    assert main(["tutor", "bundle", "draft.json", "--freeze", "b.json"]) == 0
    assert capsys.readouterr().out == f"wrote b.json: {frozen(DOCUMENTED)['bundle_hash']}\n"
    assert main(["tutor", "bundle", "b.json"]) == 0
    assert "games        count, log-*\n" in capsys.readouterr().out


@pytest.mark.parametrize("moves", [MOVES, MOVES[:3]], ids=["proven", "not proven"])
def test_a_game_played_by_hand_leaves_what_a_recorded_one_does(
    place: Path, moves: list[Any], capsys: pytest.CaptureFixture[str]
) -> None:
    (place / "moves.jsonl").write_text("".join(f"{json.dumps(move)}\n" for move in moves))
    words = ["play", "game.yaml", "--moves", "moves.jsonl", "--out", "out/run.json"]
    won = len(moves) == len(MOVES)
    assert main(["tutor", *words, *USER]) == (0 if won else 3)
    assert "wrote out/run.json\n" in capsys.readouterr().out
    data = read("out/run.json")
    assert hash_faults(data) == []
    assert (data["result"]["model_calls"], data["result"]["won"], data["model"]["model_id"]) == (
        len(moves), won, "player",
    )  # fmt: skip
    found = replay("out/run.json")
    assert (found.differences, found.notes) == ((), ())
    assert recorded() == (0 if won else 3)
    played, kept = (
        EpisodeTrace.from_jsonl(Path(one).read_text())
        for one in ("out/run.trace.jsonl", "run.trace.jsonl")
    )
    assert [(one.move_verdict, one.score_delta, one.state_hash) for one in played.turns] == [
        (one.move_verdict, one.score_delta, one.state_hash) for one in kept.turns
    ]


def test_the_layers_are_options_of_a_recording(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    replies = ["hm", f"Let me look: {json.dumps(MOVES[3])}"]
    (place / "moves.jsonl").write_text("\n".join(replies))
    assert recorded("--schema", "strict", "--repair", "1") == 3
    assert "1. no move: not read, +0" in capsys.readouterr().out
    for file in place.glob("run.*"):
        file.unlink()
    assert recorded("--schema", "lenient", "--repair", "1") == 0
    data = read("run.json")
    assert (data["result"]["turns"], data["result"]["model_calls"], data["result"]["won"]) == (
        1,
        2,
        True,
    )
    assert data["tutor"]["envelope_config"]["layer1_schema"] == "lenient"
    assert replay("run.json").differences == ()


def test_replies_that_end_within_a_turn_end_the_game(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (place / "moves.jsonl").write_text("hm\nhm\nhm\n")
    assert recorded("--repair", "1") == 3
    assert "ended early: there are no more replies\nnot proven" in capsys.readouterr().out
    data = read("run.json")
    assert data["result"]["model_calls"] == 3
    assert data["repair_stats"]["retries_per_turn"] == [1, 0]
    assert replay("run.json").differences == ()


@pytest.mark.parametrize(
    ("words", "says"),
    [(("--schema", "loose"), "`layer1_schema`"), (("--repair", "1000"), "`repair_max_attempts`")],
)
def test_a_wrong_layer_is_one_line(
    place: Path, words: tuple[str, ...], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert recorded(*words) == 2
    err = capsys.readouterr().err
    assert says in err
    assert err.count("\n") == 1
