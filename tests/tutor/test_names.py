"""The names that the Tutor is known by."""

from __future__ import annotations

import stanchion.tutor as public
from stanchion.tutor import CheckVerdict, MoveVerdict, Tutor, TutorV1, TutorV2, parse_move


def test_the_first_law_has_two_names_and_a_version() -> None:
    assert Tutor is TutorV1
    assert TutorV2.__name__ == "TutorV2"
    assert public.TUTOR_API_VERSION == "1.0.0"


def test_every_name_that_is_listed_is_there() -> None:
    assert [name for name in public.__all__ if not hasattr(public, name)] == []


def test_verdicts_have_the_published_values() -> None:
    assert {one.name: one.value for one in CheckVerdict} == {
        "PROVABLE": "provable",
        "REFUTABLE": "refutable",
        "UNDECIDABLE": "undecidable",
        "ILL_TYPED": "ill-typed",
    }
    assert {one.name: one.value for one in MoveVerdict} == {
        "LEGAL": "legal",
        "ILLEGAL": "illegal",
        "BLOCKED": "blocked",
    }


def test_scores_are_the_published_ones() -> None:
    scores = {name: getattr(public, name) for name in public.__all__ if name.startswith("SCORE_")}
    assert scores == {
        "SCORE_TRUTH_DIRECT": 3,
        "SCORE_TRUTH_RULE": 2,
        "SCORE_QUESTION_RESOLVED": 2,
        "SCORE_GOOD_REFORMULATION": 1,
        "SCORE_ILLEGAL_MOVE": -3,
        "SCORE_POLICY_VIOLATION": -5,
    }


def test_a_reply_is_read_by_the_published_reader() -> None:
    assert [move.move_type.value for move in parse_move('{"action": "ASK", "text": "why?"}')] == [
        "ASK"
    ]
