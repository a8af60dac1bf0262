"""The benchmark: what layers win for a weak player, what they leave alone for a strong one, and
that its files fit."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

import pytest

from stanchion.cli.main import main
from stanchion.readings.claims.claim import Predicate
from stanchion.tutor.envelope.schema.moves import FIRST, SECOND
from stanchion.tutor.envelope.schema.reading import read_move
from stanchion.tutor.playing.benchmark_runs import (
    FOLDER,
    LAWS,
    LAYERS,
    PLAYERS,
    RETRIES,
    WORLD,
    GameResult,
    LayerChange,
    Still,
    changes,
    load_transcript,
    names,
    readable,
    results,
)
from stanchion.tutor.playing.games import load_game
from stanchion.tutor.playing.oracle import is_true

UID = 65534 if os.getuid() == 0 else None
USER = [] if UID is None else ["--user", str(UID)]
GAMES = ["contradiction", "evidence-chain", "format-trap", "long-search", "loop", "misleading-file"]


@pytest.fixture(scope="module")
def found() -> list[GameResult]:
    """All games, played once for all tests."""
    return list(results(names(), UID))


def change(found: list[GameResult], law: str, player: str) -> LayerChange:
    """What the layers change for a player."""
    (one,) = [one for one in changes(found) if (one.law, one.player) == (law, player)]
    return one


def test_every_game_is_played_by_everybody_in_every_way(found: list[GameResult]) -> None:
    assert names() == GAMES
    ways = {(one.game, one.law, one.player, one.layers) for one in found}
    assert len(ways) == len(found) == len(GAMES) * len(LAWS) * len(PLAYERS) * len(LAYERS)


def test_schema_and_repair_win_at_least_half_of_what_a_weak_player_loses(
    found: list[GameResult],
) -> None:
    weak = change(found, "2", "weak")
    assert len(weak.lost) >= 3
    assert 2 * len(weak.won) >= len(weak.lost)
    assert weak.spoilt == ()


def test_the_second_law_proves_nothing_that_is_false(found: list[GameResult]) -> None:
    second = [one for one in found if one.law == "2"]
    assert [one.false for one in second if one.false] == []
    for one in second:
        if one.won:
            assert one.checked >= len(load_game(FOLDER / one.game / "game.yaml").claims), one


def test_the_first_law_proves_what_is_false_and_that_is_seen(found: list[GameResult]) -> None:
    weak = [one for one in found if (one.law, one.player) == ("1", "weak")]
    assert {text for one in weak for text in one.false} >= {
        "File 'migrations/0003.done' exists",
        "File 'config/nightly.yaml' exists",
        "File 'VERSION' has 5 lines",
    }


@pytest.mark.parametrize("law", LAWS)
def test_nothing_changes_for_a_strong_player(found: list[GameResult], law: str) -> None:
    strong = change(found, law, "strong")
    assert (strong.changed, strong.lost, strong.false) == (False, (), 0)


def test_a_game_can_be_lost_with_more_points_than_it_is_won_with(found: list[GameResult]) -> None:
    chain = {
        one.layers: one
        for one in found
        if one.game == "evidence-chain" and (one.law, one.player) == ("1", "weak")
    }
    lost, won = chain["off"], chain["repair"]
    assert (lost.won, won.won) == (False, True)
    assert lost.score > won.score


def test_a_model_is_asked_again_only_with_repair_and_not_too_often(found: list[GameResult]) -> None:
    for one in found:
        most = one.turns * (1 + RETRIES) if "repair" in one.layers else one.turns
        assert one.calls <= most, one


@pytest.mark.parametrize("name", GAMES)
def test_what_has_to_be_proven_is_true_of_the_files_and_nobody_is_shown_it(name: str) -> None:
    for claim in load_game(FOLDER / name / "game.yaml").claims:
        assert is_true(claim.text, FOLDER / name / WORLD) is True
        assert is_true(claim.denied().text, FOLDER / name / WORLD) is False
    shown = {one.name for one in (FOLDER / name / WORLD).rglob("*")}
    assert not shown & {"game.yaml", "strong.yaml", "weak.yaml"}


def test_the_chain_begins_with_a_log() -> None:
    first = load_game(FOLDER / "evidence-chain/game.yaml").claims[0]
    assert (first.predicate, first.subject) == (Predicate.CONTAINS, "system.log")


@pytest.mark.parametrize("name", GAMES)
def test_a_game_can_be_played_by_hand(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = load_transcript(FOLDER / name / "strong.yaml").second
    moves = tmp_path / "moves.jsonl"
    moves.write_text("".join(f"{turn[0]}\n" for turn in said))
    place = FOLDER / name
    words = [
        "tutor",
        "play",
        str(place / "game.yaml"),
        "--root",
        str(place / WORLD),
        "--moves",
        str(moves),
        *USER,
    ]
    assert main(words) == 0
    assert "proven in turn" in capsys.readouterr().out


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("player", PLAYERS)
def test_no_reply_of_a_transcript_is_two_moves_or_raises(name: str, player: str) -> None:
    said = load_transcript(FOLDER / name / f"{player}.yaml")
    for shape, turns in ((FIRST, said.first), (SECOND, said.second)):
        for reply in (reply for turn in turns for reply in turn):
            strict, lenient = read_move(reply, "strict", shape), read_move(reply, "lenient", shape)
            assert max(len(strict.moves), len(lenient.moves)) <= 1
            assert not strict.moves or reply.strip().startswith(("{", "```")), reply
            assert player == "weak" or strict.moves, reply


def test_what_only_its_owner_can_read_is_played_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "private/sub").mkdir(parents=True)
    (tmp_path / "private/sub/a.txt").write_text("one\n")
    for one, mode in (("private/sub/a.txt", 0o600), ("private/sub", 0o700), ("private", 0o700)):
        (tmp_path / one).chmod(mode)
    with readable(tmp_path / "private") as copy, Still(copy, UID) as sandbox:
        assert sandbox.run(("cat", "sub/a.txt")).stdout == b"one\n"
    assert not copy.exists()
    assert (tmp_path / "private/sub/a.txt").stat().st_mode & 0o777 == 0o600


def test_nothing_is_written_in_a_folder_that_does_not_change() -> None:
    with tempfile.TemporaryDirectory(prefix="stanchion-still-") as made:
        folder = Path(made)
        folder.chmod(0o777)
        with Still(folder, UID) as sandbox:
            assert sandbox.run(("touch", "x"), write=True).rc != 0
            (folder / "y").touch()
            assert sandbox.run(("ls",)).stdout == b"y\n"
            (folder / "y").unlink()
            assert sandbox.run(("ls",)).stdout == b"y\n"
        assert not (folder / "x").exists()


def test_json_has_one_line_for_each_game_and_how_it_was_played(
    found: list[GameResult], capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert main(["tutor", "games", "misleading-file", "--json", *USER]) == 0
    told = [json.loads(line) for line in capfdbinary.readouterr().out.splitlines()]
    played = [one for one in found if one.game == "misleading-file"]
    assert [
        (one["law"], one["player"], one["layers"], one["won"], one["false"]) for one in told
    ] == [(one.law, one.player, one.layers, one.won, list(one.false)) for one in played]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (
            ["games", "chess"],
            "`chess` is no game of the benchmark: there are contradiction, evidence-chain",
        ),
        (["games", "--root", "x"], "takes no `--root`"),
        (["play", "x.yaml", "--json"], "takes no `--json`"),
        (["play"], "`stanchion tutor play` needs a file"),
    ],
)
def test_a_wrong_word_is_one_clear_line(
    words: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tutor", *words]) == 2
    err = capsys.readouterr().err
    assert says in err
    assert err.count("\n") == 1
