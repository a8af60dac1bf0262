"""What an episode is worth: the Tutor's word counts, and junk brings nothing."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from stanchion.tutor.law.v2 import CommandRunner
from stanchion_lab.compiling.metric import PAID, metric_config, total, worth
from stanchion_lab.compiling.replaying import Watched, replay
from stanchion_lab.compiling.traces import Trace, load_traces
from tests.lab.compiling.recorded import Files, claims, game_of, propose, recorded

FACT = PAID.evidence_node + PAID.evidence_edge
LOOK, TRUE = propose("wc -l a.txt"), propose("true")
SEEN = propose("test -f b.txt")


@pytest.fixture
def trace(tmp_path: Path) -> Trace:
    """A game about a.txt."""
    (found,) = load_traces(
        [recorded(tmp_path / "a.recording.jsonl", game_of("count-a", "a.txt"), [LOOK])]
    )
    return found


def played(trace: Trace, *replies: str | None, files: CommandRunner | None = None) -> Watched:
    return replay(trace, Files() if files is None else files, replies)


def test_weights_are_those_of_the_reference() -> None:
    assert msgspec.structs.asdict(PAID) == {
        "goal": 200,
        "time": -1,
        "provable": 5,
        "refutable": 3,
        "undecidable": -10,
        "ill_typed": -20,
        "illegal": -30,
        "evidence_node": 1,
        "evidence_edge": 1,
        "undecidable_resolved": 5,
        "repetition_penalty": -10,
        "noop_penalty": -5,
    }
    assert msgspec.to_builtins(metric_config())["weights"] == msgspec.structs.asdict(PAID)


def test_a_look_that_wins_is_worth_the_goal_and_its_fact(trace: Trace) -> None:
    found = played(trace, LOOK)
    assert found.won
    assert worth(found) == (200 - 1 + FACT,)


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        (TRUE, -1),
        (propose("wc -l gone.txt"), -1),
        (SEEN, -1 + FACT),
        (claims("lines", "a.txt", 2), -1 - 10),
        (claims("lines", "a.txt"), -1 - 20),
        ("Let me look at the file.", -1 - 30),
        ("", -1 - 30),
        ('{"action": "RESPOND", "message": "it has two lines"}', -1 - 5),
        (propose("rm a.txt"), -1),
        (None, -1),
    ],
    ids=[
        "true",
        "fails",
        "fact",
        "guess",
        "says nothing",
        "prose",
        "empty",
        "words",
        "blocked",
        "withheld",
    ],
)
def test_a_turn_is_worth_what_the_tutor_says_of_it(
    trace: Trace, reply: str | None, value: float
) -> None:
    assert worth(played(trace, reply)) == (value,)


def test_a_reply_that_the_schema_layer_does_not_read_is_ill_typed(tmp_path: Path) -> None:
    path = recorded(
        tmp_path / "a.recording.jsonl", game_of("count-a", "a.txt"), [LOOK], layer1_schema="strict"
    )
    (strict,) = load_traces([path])
    assert worth(played(strict, f"Here it is: {LOOK}")) == (-1 - 20,)
    assert played(strict, LOOK).won


def test_what_brings_no_fact_is_paid_nothing_however_often(trace: Trace) -> None:
    junk = [
        propose(one) for one in ("true", "true a", "true b", "true c", "test -f gone", "true d")
    ]
    assert worth(played(trace, SEEN, SEEN))[1] == -1 - 10
    assert total(played(trace, *junk)) <= FACT - len(junk)


def test_a_claim_is_paid_once_and_only_if_it_is_new(trace: Trace) -> None:
    again = claims("file", "b.txt")
    assert worth(played(trace, SEEN, again))[1] == -1 - 5
    said = claims("exists", "b.txt")
    first, second = worth(played(trace, SEEN, said, TRUE, TRUE, propose("true x"), said))[1::4]
    assert (first, second) == (-1 + 5 + FACT, -1 - 5)


def test_denying_values_is_no_way_to_points(trace: Trace) -> None:
    wrong = [claims("lines", "b.txt", number) for number in (1, 2, 3, 4)]
    assert worth(played(trace, propose("wc -l b.txt"), *wrong))[1:] == (-6,) * 4


def test_a_refuted_claim_is_paid_where_its_opposite_would_count(trace: Trace) -> None:
    said = claims("directory", "b.txt")
    assert worth(played(trace, SEEN, said, TRUE, propose("true x"), propose("true y"), said))[
        1::4
    ] == (-1 + 3, -1 - 5)
    denied = claims("file", "b.txt", polarity=False)
    assert worth(played(trace, SEEN, denied))[1] == -1 - 5


def test_an_open_claim_that_is_settled_pays_once(trace: Trace) -> None:
    guess = claims("lines", "b.txt", 5)
    assert worth(played(trace, guess, propose("wc -l b.txt"))) == (-11, -1 + FACT + 5)
    again = played(trace, guess, propose("wc -l b.txt"), TRUE, propose("true x"), guess)
    assert worth(again)[-1] == -1 - 5
    wrong = claims("lines", "b.txt", 4)
    assert worth(played(trace, wrong, propose("wc -l b.txt"))) == (-11, -1 + FACT + 5)


@pytest.mark.parametrize(("between", "repeats"), [(0, True), (2, True), (3, False)])
def test_repetition_is_seen_in_the_last_three_turns_from_the_beginning(
    trace: Trace, between: int, repeats: bool
) -> None:
    others = [propose(f"true {number}") for number in range(between)]
    values = worth(
        played(trace, TRUE, *others, '{"action": "PROPOSE", "argv": ["true"], "intent": "again"}')
    )
    assert values[-1] == (-11 if repeats else -1)
