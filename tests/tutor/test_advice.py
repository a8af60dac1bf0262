"""Failures, cards, contradictions, intent and the advisor: functions of the trace."""

from __future__ import annotations

import subprocess
import sys
from itertools import product

import pytest

from stanchion.tutor.advice.advisor import advise, board, limit_of
from stanchion.tutor.advice.cards import FOR, CardType, card_for
from stanchion.tutor.advice.contradictions import contradiction
from stanchion.tutor.advice.failures import FailureType, GameTrace, PlayedStep, failure
from stanchion.tutor.advice.intent import Intent, course, distance, embed
from stanchion.tutor.graph import Action, ClaimKind, Goal, Graph, Status, Truth


def steps(*actions: str, error: bool = False, output: str = "") -> tuple[PlayedStep, ...]:
    """Actions, one after the other."""
    return tuple(PlayedStep(action, output, error) for action in actions)


@pytest.mark.parametrize(
    ("trace", "kind"),
    [
        (GameTrace(steps("a", "b", "c", error=True)), FailureType.EXPLICIT_ERROR),
        (GameTrace((*steps("a"), *steps("b", error=True))), FailureType.EXPLICIT_ERROR),
        (GameTrace((*steps("a", error=True), *steps("b"))), None),
        (GameTrace(steps("ls  -la", "LS -la", "ls -la ")), FailureType.REPETITION),
        (GameTrace(steps("a", "b", "a", "c")), None),
        (GameTrace(steps("a", "b", "a", "c", "a")), FailureType.REPETITION),
        (GameTrace(steps("a", "a", "a", "b")), None),
        (GameTrace(steps("a", "b", "a", "b")), FailureType.CIRCULAR),
        (GameTrace(steps("a", "b", "c", "a", "b", "c")), FailureType.CIRCULAR),
        (GameTrace(steps("a", "b", "c", "a", "b")), None),
        (GameTrace(known=(1, 5, 5, 5, 5)), FailureType.STALL),
        (GameTrace(known=(5, 5, 5)), None),
        (GameTrace(known=(4, 5, 5, 6)), None),
        (
            GameTrace(cards=frozenset("ab"), used=frozenset("ab"), known=(1, 1)),
            FailureType.EXHAUSTION,
        ),
        (GameTrace(cards=frozenset("ab"), used=frozenset("a"), known=(1, 1)), None),
        (GameTrace(cards=frozenset("ab"), used=frozenset("ab"), known=(1, 2)), None),
        (GameTrace(), None),
        (GameTrace(steps("a", "a", "a", error=True)), FailureType.REPETITION),
    ],
)
def test_failures(trace: GameTrace, kind: FailureType | None) -> None:
    found = failure(trace)
    assert (None if found is None else found.failure_type) == kind


def defined(actions: tuple[str, ...]) -> FailureType | None:
    """What the document calls it, by its table: the same three times, or a loop."""
    if actions and actions.count(actions[-1]) >= 3:
        return FailureType.REPETITION
    for length in (2, 3):
        last = actions[-2 * length :]
        if len(last) == 2 * length and last[:length] == last[length:] and len(set(last)) > 1:
            return FailureType.CIRCULAR
    return None


def test_the_history_of_loops_finds_what_the_document_defines() -> None:
    for size in range(9):
        for actions in product("abc", repeat=size):
            found = failure(GameTrace(steps(*actions)))
            assert (None if found is None else found.failure_type) == defined(actions), actions
            if found is not None and found.failure_type is FailureType.CIRCULAR:
                assert found.pattern_sequence in {actions[-2:], actions[-3:]}


def test_weak_point_10_what_is_written_otherwise_and_brings_the_same_is_a_repetition() -> None:
    varied = ("cat a.txt", "cat ./a.txt", "cat  'a.txt'")
    assert failure(GameTrace(steps(*varied))) is None
    found = failure(GameTrace(steps(*varied), proven=True))
    assert found is not None
    assert (found.failure_type, found.repeated_action) == (FailureType.REPETITION, "cat a.txt")
    news = tuple(PlayedStep("tail log", output) for output in "abc")
    assert failure(GameTrace(news, proven=True)) is None
    assert failure(GameTrace(news)) is not None


def test_every_failure_has_a_card_and_a_game_has_few() -> None:
    assert {FOR[one.value] for one in FailureType} == {
        CardType.ERROR_ANALYSIS,
        CardType.ESCAPE_LOOP,
        CardType.COMPASS,
        CardType.PROGRESS_BOOST,
        CardType.STRATEGIC_RESET,
    }
    first = card_for("explicit_error", 0)
    assert first is not None
    assert (first.card_id, first.text.splitlines()[0][:15]) == (
        "error_analysis_1",
        "Read the error.",
    )
    assert card_for("explicit_error", 5) is None
    assert card_for("explicit_error", 0, frozenset({CardType.ERROR_ANALYSIS})) is None
    assert card_for("nothing", 0) is None


@pytest.mark.parametrize(
    ("made", "validated", "says"),
    [
        (steps("cat a", "cat b", error=True, output="No such file"), 0, "repeated_failure"),
        (steps("cat a", "cat b"), 0, "blind_reading"),
        (steps("cat a", "cat b"), 1, ""),
        (steps("read a.txt", "read b.txt", "read c.txt"), 9, "resource_depletion"),
        (steps("ls *.txt", "wc *.txt"), 9, "resource_depletion"),
        (steps("ls"), 0, ""),
    ],
)
def test_contradictions(made: tuple[PlayedStep, ...], validated: int, says: str) -> None:
    assert contradiction(made, validated) == says


def test_a_point_is_the_same_in_every_process() -> None:
    code = (
        "from stanchion.tutor.advice.intent import course; print(course('count lines', ('ls', "
        "'wc lines')).distance)"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)}, check=True,
            capture_output=True,
        ).stdout
        for seed in ("1", "2")
    }  # fmt: skip
    assert len(said) == 1
    assert distance(embed("same words"), embed("Same  words")) == pytest.approx(0)


@pytest.mark.parametrize(
    ("actions", "intent"),
    [
        ((), Intent.CONVERGING),
        (("ls", "count the", "count the lines of a file"), Intent.CONVERGING),
        (("count the lines of a file", "count", "rm -rf zzz"), Intent.DIVERGING),
        (("zzz", "count the lines of a file", "zzz"), Intent.WANDERING),
        (("zzz", "yyy", "xxx"), Intent.WANDERING),
        (("count the lines of a file",) * 3, Intent.STABLE),
    ],
)
def test_where_a_player_is_going(actions: tuple[str, ...], intent: Intent) -> None:
    assert course("count the lines of a file", actions).intent is intent


def test_the_advisor_speaks_of_what_matters_most_and_touches_nothing() -> None:
    graph = Graph("advice")
    graph.add(Goal, text="goal")
    act = graph.add(Action, intent="look", mode="read", command="ls")
    graph.add(Action, intent="look", mode="read", command="ls")
    truth = graph.add(Truth, text="t", kind=ClaimKind.PROPERTY, domain="", scope="")
    before = graph.events
    trace = GameTrace(steps("ls", "ls", "ls"))
    assert board(graph).text == "TO DO: G1\nDOING: Act2, Act3\nSTUCK: T4\nDONE: nothing"
    first = advise(graph, trace)
    assert first is not None
    assert first.card.card_type is CardType.WIP_OVERFLOW
    assert graph.events == before
    graph.promote(act.id, Status.FINISHED)
    graph.promote(truth.id, Status.VALIDATED)
    second = advise(graph, trace)
    assert second is not None
    assert second.card.card_type is CardType.ESCAPE_LOOP
    assert advise(graph, GameTrace(steps("ls"))) is None
    reading = GameTrace(steps("cat a", "cat b", "cat c"), turn=3)
    assert advise(graph, reading, "deepseek-r1:14b") is None
    assert (limit_of("mistral:latest"), limit_of("any")) == (1, 2)
