"""Reading traces, parting them, and what a reply is worth in a place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from stanchion.tutor.law.v2 import Outcome
from stanchion_lab.compiling.parts import parted, positions
from stanchion_lab.compiling.traces import NoTraces, load_traces
from stanchion_lab.compiling.world import World
from tests.lab.compiling.recorded import Files, claims, folder, game_of, propose, recorded

LOOK = propose("wc -l a.txt")


def test_a_game_is_in_one_part_with_all_its_traces(tmp_path: Path) -> None:
    parts = parted(load_traces([folder(tmp_path / "traces")]))
    learnt, held = ({one.name for one in part} for part in (parts.learnt, parts.held))
    assert (len(learnt), len(held)) == (4, 1)
    assert not learnt & held
    assert all(len(game.traces) == 2 for game in (*parts.learnt, *parts.held))


def test_parts_do_not_depend_on_names_or_order(tmp_path: Path) -> None:
    files = sorted(folder(tmp_path / "traces").iterdir())
    (tmp_path / "other").mkdir()
    for number, file in enumerate(reversed(files)):
        file.with_name("x").write_bytes(file.read_bytes())
        (tmp_path / "other" / f"{number}.recording.jsonl").write_bytes(file.read_bytes())
        file.with_name("x").unlink()
    one, other = parted(load_traces(files)), parted(load_traces([tmp_path / "other"]))
    assert [game.name for game in one.held] == [game.name for game in other.held]
    assert [place.context for place in positions(one.learnt)] == [
        place.context for place in positions(other.learnt)
    ]


def test_a_situation_is_there_once_with_its_best_reply(tmp_path: Path) -> None:
    parts = parted(load_traces([folder(tmp_path / "traces")]))
    places = positions(parts.learnt)
    assert len({(one.game.name, one.context) for one in places}) == len(places)
    first = [one for one in places if one.turn == 0]
    assert len(first) == len(parts.learnt)
    assert all("test -f" in (one.reply or "") for one in first)


def test_a_reply_is_played_behind_what_was_said_before(tmp_path: Path) -> None:
    replies = [claims("lines", "a.txt", 2), propose("true"), LOOK]
    games = [("count-a", "a.txt", replies), ("count-b", "b.txt", [propose("wc -l b.txt")])]
    files = [
        recorded(tmp_path / f"{name}.recording.jsonl", game_of(name, file), said)
        for name, file, said in games
    ]
    parts = parted(load_traces(files))
    places = [one for one in positions((*parts.learnt, *parts.held)) if one.game.name == "count-a"]
    assert [one.value(one.reply or "") for one in places] == [one.worth for one in places]
    assert places[2].value(LOOK) == 206
    assert places[0].value(LOOK) == 201
    assert places[2].value(propose("true")) == -11
    assert places[1].value(propose("wc -c a.txt")) == -1, "no trace shows what it gives"


def test_replies_of_a_repaired_game_are_those_that_were_used(tmp_path: Path) -> None:
    said = ["prose", LOOK]
    layers: dict[str, Any] = {
        "layer1_schema": "lenient",
        "layer2_repair": "bestofn",
        "repair_max_attempts": 1,
    }
    path = recorded(tmp_path / "a.recording.jsonl", game_of("count-a", "a.txt"), said, **layers)
    (trace,) = load_traces([path])
    assert trace.replies == (LOOK,)


def test_what_is_no_utf_8_is_played_as_it_was_said(tmp_path: Path) -> None:
    odd = json.dumps({"action": "RESPOND", "message": "half"}).replace("half", "\ud800")
    game = msgspec.structs.replace(game_of("count-a", "a.txt"), goal="count \ud800")
    path = recorded(tmp_path / "a.recording.jsonl", game, [odd, LOOK])
    other = recorded(
        tmp_path / "b.recording.jsonl", game_of("count-b", "b.txt"), [propose("wc -l b.txt")]
    )
    parts = parted(load_traces([path, other]))
    assert len(positions((*parts.learnt, *parts.held))) == 3


def test_traces_that_show_different_files_do_not_go_together(tmp_path: Path) -> None:
    class Others(Files):
        def run(self, argv: tuple[str, ...], _write: bool) -> Outcome:
            return Outcome(True, 0, "9 a.txt\n")

    game = game_of("count-a", "a.txt")
    files = [
        recorded(tmp_path / "1.recording.jsonl", game, [LOOK]),
        recorded(tmp_path / "2.recording.jsonl", game, [LOOK], files=Others()),
    ]
    with pytest.raises(NoTraces, match=r"`wc -l a\.txt` shows something else"):
        World(load_traces(files))


def _edited(path: Path, **fields: object) -> Path:
    first, *rest = path.read_text("utf-8").splitlines()
    path.write_text("\n".join([json.dumps({**json.loads(first), **fields}), *rest]), "utf-8")
    return path


def test_what_is_no_trace_is_named_in_one_line(tmp_path: Path) -> None:
    game = game_of("count-a", "a.txt")

    def made(name: str) -> Path:
        return recorded(tmp_path / f"{name}.recording.jsonl", game, [LOOK])

    (tmp_path / "empty").mkdir()
    broken = made("broken")
    broken.write_text(broken.read_text("utf-8")[:-40], "utf-8")
    silent = made("silent")
    silent.write_text(silent.read_text("utf-8").split("\n")[0] + "\n", "utf-8")
    other = made("other")
    other.write_text(
        other.read_text("utf-8").replace('["wc","-l","a.txt"]', '["wc","-l","b.txt"]'), "utf-8"
    )
    rows = {
        tmp_path / "empty": "has no trace",
        tmp_path / "gone.recording.jsonl": "cannot be read",
        _edited(
            made("law"), law="1"
        ): "it was played under law 1: only traces of law 2 are compiled",
        _edited(made("game"), game={"name": "x"}): "it cannot be played again",
        broken: "line 4",
        silent: "the model said nothing in it",
        other: "it cannot be played again",
    }
    for path, says in rows.items():
        with pytest.raises(NoTraces, match=says) as told:
            load_traces([path])
        assert "\n" not in str(told.value)
    with pytest.raises(NoTraces, match="there are no traces"):
        load_traces([])
    with pytest.raises(NoTraces, match="all traces are of the game `count-a`"):
        parted(load_traces([made("one"), made("two")]))


def test_games_that_write_are_not_compiled_from(tmp_path: Path) -> None:
    path = recorded(tmp_path / "a.recording.jsonl", game_of("count-a", "a.txt"), [LOOK])
    game = {**json.loads(path.read_text("utf-8").split("\n")[0])["game"], "writes": True}
    with pytest.raises(NoTraces, match="its commands may write"):
        load_traces([_edited(path, game=game)])
