"""Transcripts answer in the order of turns, and what was said to being asked again is kept for
that."""

from __future__ import annotations

from pathlib import Path

import pytest

from stanchion.tutor.envelope.envelope import ModelQuestion, NoMoreReplies
from stanchion.tutor.playing.benchmark_runs import load_transcript, reply_to
from stanchion.tutor.playing.games import GameError, load_game

TURNS = (("one", "one again", "one at last"), ("two",))


def asked(turn: int, attempt: int = 0) -> ModelQuestion:
    """What a player is asked in a turn."""
    return ModelQuestion(turn, attempt, "your move", 0.0, None)


def test_whoever_is_not_asked_again_does_not_get_the_replies_to_that() -> None:
    assert [reply_to(TURNS, asked(turn)) for turn in (1, 2)] == ["one", "two"]


def test_whoever_is_asked_again_gets_the_next_reply_of_the_turn_and_then_its_last() -> None:
    assert [reply_to(TURNS, asked(1, attempt)) for attempt in range(5)] == [
        *TURNS[0],
        "one at last",
        "one at last",
    ]
    assert reply_to(TURNS, asked(2, 1)) == "two"


def test_behind_the_last_turn_there_is_nothing() -> None:
    assert isinstance(reply_to(TURNS, asked(3)), NoMoreReplies)


@pytest.mark.parametrize(
    ("file", "says"),
    [
        ("first: [[a]]", "weak.yaml:1:1: `second` is missing: add it"),
        (
            "first: [[a]]\nsecond: [a]",
            "weak.yaml:2:10: the text `a` was found where a list is expected",
        ),
        (
            "first: [[a]]\nsecond: [[a]]\nthird: []",
            "weak.yaml:3:1: the key `third` is not known here",
        ),
        ("first: [[a]]\nsecond: [[a], []]", "`second` has a turn without a reply"),
        ("first: []\nsecond: [[a]]", "`first` has a turn without a reply, or no turn"),
        ("first: [", "it is no YAML"),
    ],
)
def test_a_broken_transcript_says_what_is_wrong(file: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "weak.yaml").write_text(file)
    with pytest.raises(GameError, match=says):
        load_transcript(tmp_path / "weak.yaml")


CLAIMS = "claims: [{predicate: file, subject: a}]"


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (
            "claims: [{predicate: fil, subject: a}]",
            "3:22: `fil` is not a value of `predicate`: did you mean `file`?",
        ),
        (f"{CLAIMS}\nturn: 5", "4:1: the key `turn` is not known: did you mean `turns`?"),
        (f"{CLAIMS}\nturns: 0", "4:8: `0` is out of bounds: give a whole number of at least 1"),
    ],
)
def test_a_broken_game_says_where_and_what_to_write(line: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "game.yaml").write_text(f"name: a\ngoal: g\n{line}")
    with pytest.raises(GameError) as raised:
        load_game(tmp_path / "game.yaml")
    assert str(raised.value) == f"{tmp_path / 'game.yaml'}:{says}"
