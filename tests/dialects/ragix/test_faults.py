"""The faults of the published code, once more in the document's words: each is named by what was
wrong."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest

from stanchion.dialects.ragix import (
    CheckVerdict,
    ContradictionDetector,
    FailureDetector,
    FailureType,
    MetaCardSelector,
    MoveVerdict,
    SemanticIntentTracker,
    Tutor,
    TutorEnvelope,
    TutorV2,
)
from stanchion.readings.claims.claim import Claim, Predicate
from stanchion.tutor.law.v2 import Outcome
from tests.dialects.ragix.hands import SHOWS, Hands

ONE = '{"action": "PROPOSE", "command": "ls"}'


class Runs:
    """The same world for the second law, whose commands are words."""

    def __init__(self) -> None:
        self.ran: list[str] = []

    def refused(self, _argv: tuple[str, ...], _write: bool, /) -> str:
        """Everything would run."""
        return ""

    def run(self, argv: tuple[str, ...], _write: bool, /) -> Outcome:
        """What a command shows."""
        self.ran.append(" ".join(argv))
        rc, stdout, stderr = SHOWS.get(" ".join(argv), (0 if argv[0] == "true" else 1, "", ""))
        return Outcome(True, rc, stdout, stderr)


def first() -> tuple[Tutor, Hands]:
    """A game of the published law, and what runs its commands."""
    hands = Hands()
    tutor = Tutor("g", executor=hands)
    tutor.setup_game("find out how long a.txt is")
    return tutor, hands


def second() -> TutorV2:
    """A game of the law to trust."""
    return TutorV2("g", Runs(), "find out how long a.txt is", [Claim(Predicate.LINES, "a.txt", 2)])


def played(reply: str) -> tuple[Any, list[str]]:
    """A reply through the lenient schema: the turn, and what ran."""
    tutor, hands = first()
    envelope = TutorEnvelope(tutor, layer1_schema="lenient", manifest_enabled=False)
    return envelope.run_episode(lambda *_: reply, 1).trace.turns[0], hands.log


@pytest.mark.parametrize(
    "reply", ["I propose: ls", "```bash\nls\n```", f"{ONE}\n{ONE}", "PROPOSE: `ls`"]
)
def test_a_move_that_was_made_twice_or_with_its_backticks_is_made_once(reply: str) -> None:
    assert played(reply)[1] == ["shell ls"]


@pytest.mark.parametrize(
    "reply",
    [
        '{"action": 5}',
        '{"action": null}',
        '{"action": "PROPOSE"}',
        "task: do something",
        '{"action": "LINK"}',
    ],
)
def test_a_reply_that_crashed_or_paid_is_no_move_and_costs_nothing(reply: str) -> None:
    turn, ran = played(reply)
    assert (turn.move_verdict, turn.score_delta, turn.routing, ran) == (None, 0, "ill_typed", [])


def test_a_command_with_braces_is_not_lost() -> None:
    assert played('{"action": "PROPOSE", "command": "awk \'{print $1}\' f"}')[1] == [
        "shell awk '{print $1}' f"
    ]


def test_asking_again_is_no_repetition_of_the_same_prompt() -> None:
    asked: list[Any] = []

    def model(prompt: str, temperature: float, seed: int | None) -> str:
        asked.append((prompt, temperature, seed))
        return '{"action": "ASSERT", "text": "File \'x\' exists", "kind": "existence"}'

    tutor, _ = first()
    layers: dict[str, Any] = {
        "layer1_schema": "strict",
        "repair_enabled": True,
        "repair_max_attempts": 2,
    }
    TutorEnvelope(tutor, manifest_enabled=False, repair_seed=7, **layers).run_episode(model, 1)
    assert len({prompt for prompt, _, _ in asked}) == 3
    assert len({seed for _, _, seed in asked}) == 3
    assert {temperature for _, temperature, _ in asked} == {0.0}


def test_the_board_does_not_break_on_actions_and_claims_and_commands_end() -> None:
    tutor, _ = first()
    for move in (ONE, '{"action": "ASSERT", "text": "it rains", "kind": "property"}', ONE, ONE):
        TutorEnvelope(tutor, manifest_enabled=False).run_episode(lambda *_, move=move: move, 1)
    assert tutor.strategic_advisor.board.doing == ()
    assert tutor.strategic_advisor.board.blocked != ()
    assert "STUCK" in tutor.strategic_advisor.board.text


@pytest.mark.parametrize(
    ("predicate", "subject", "value", "verdict"),
    [
        (Predicate.LINES, "a.txt", 7, CheckVerdict.REFUTABLE),
        (Predicate.LINES, "a.txt", 2, CheckVerdict.PROVABLE),
        (Predicate.FILE, "nope.yaml", None, CheckVerdict.UNDECIDABLE),
        (Predicate.FILE, "ghost.txt", None, CheckVerdict.UNDECIDABLE),
    ],
)
def test_nothing_false_is_proven(
    predicate: Predicate, subject: str, value: Any, verdict: CheckVerdict
) -> None:
    tutor = second()
    for command in ("test -f a.txt", "wc -l a.txt", "echo 'test -f ghost.txt'"):
        tutor.next_turn()
        tutor.play(f'{{"action": "PROPOSE", "command": "{command}"}}')
    assert tutor.check(Claim(predicate, subject, value)).verdict is verdict


def test_trivial_commands_win_no_game() -> None:
    tutor = second()
    for _ in range(3):
        tutor.next_turn()
        assert tutor.play('{"action": "PROPOSE", "command": "true"}').verdict is MoveVerdict.LEGAL
    assert (tutor.check_goal_satisfaction(), tutor.state.score) == (False, 0)


def test_whoever_only_runs_commands_stalls_all_the_same() -> None:
    tutor = second()
    for command in ("cat b.txt", "whoami", "cat c.txt", "cat d.txt", "true", "cat e.txt"):
        tutor.next_turn()
        tutor.play(f'{{"action": "PROPOSE", "command": "{command}"}}')
    found = FailureDetector(tutor).detect()
    assert found is not None
    assert found.failure_type in (FailureType.STALL, FailureType.EXPLICIT_ERROR)


@pytest.mark.parametrize(
    ("commands", "kind", "card"),
    [
        (("ls", "ls", "ls"), FailureType.REPETITION, "ESCAPE_LOOP"),
        (("ls", "cat a.txt", "ls", "cat a.txt"), FailureType.CIRCULAR, "COMPASS"),
        (("cat b.txt", "whoami", "id"), FailureType.EXPLICIT_ERROR, "ERROR_ANALYSIS"),
        (("ls", "wc -l a.txt"), None, None),
    ],
)
def test_failures_are_found_in_the_graph_of_the_published_law(
    commands: tuple[str, ...], kind: FailureType | None, card: str | None
) -> None:
    tutor, _ = first()
    for command in commands:
        TutorEnvelope(tutor, manifest_enabled=False).run_episode(
            lambda *_, command=command: f'{{"action": "PROPOSE", "command": "{command}"}}', 1
        )
    found = FailureDetector(tutor).detect()
    assert (None if found is None else found.failure_type) is kind
    if found is not None:
        given = MetaCardSelector(tutor).select(found)
        assert given is not None
        assert given.card_type.value == card


def test_a_stall_is_found_where_nothing_is_added_any_more() -> None:
    tutor, _ = first()
    for _ in range(5):
        tutor.next_turn()
    found = tutor.strategic_advisor.failure_detector.detect()
    assert found is not None
    assert found.failure_type is FailureType.STALL


def test_contradictions_lead_to_cards_and_a_game_has_five() -> None:
    tutor, _ = first()
    for command in ("cat b.txt", "cat b.txt"):
        TutorEnvelope(tutor, manifest_enabled=False).run_episode(
            lambda *_, command=command: f'{{"action": "PROPOSE", "command": "{command}"}}', 1
        )
    assert ContradictionDetector(tutor).detect() == "repeated_failure"
    given = [tutor.strategic_advisor.advise() for _ in range(6)]
    assert [None if one is None else one.card.card_type.value for one in given] == [
        "LIST_INSTEAD"
    ] * 5 + [None]
    assert tutor.strategic_advisor.meta_card_selector.issued == 5


@pytest.mark.parametrize("layers", [{}, {"layer1_schema": "strict"}, {"layer1_schema": "lenient"}])
def test_the_intent_is_the_same_whatever_layers_there_are(layers: dict[str, Any]) -> None:
    tutor, _ = first()
    replies = iter(
        [
            ONE,
            '{"action": "PROPOSE", "command": "cat a.txt"}',
            '{"action": "PROPOSE", "command": "wc -l a.txt"}',
        ]
    )
    TutorEnvelope(tutor, manifest_enabled=False, **layers).run_episode(lambda *_: next(replies), 3)
    found = SemanticIntentTracker(tutor).track()
    assert (found.intent.value, found.trend, round(found.distance, 3)) == INTENT


INTENT = ("converging", "decreasing", 0.67)
CODE = """
from tests.dialects.ragix.test_faults import ONE, SemanticIntentTracker, TutorEnvelope, first
tutor, _ = first()
TutorEnvelope(tutor, manifest_enabled=False).run_episode(lambda *_: ONE, 3)
print(SemanticIntentTracker(tutor).track().distance)
"""


def test_the_intent_does_not_depend_on_the_seed_of_hashes() -> None:
    told = set()
    for seed in ("1", "2"):
        env = {
            **os.environ,
            "PYTHONHASHSEED": seed,
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        }
        told.add(
            subprocess.run(
                [sys.executable, "-c", CODE], env=env, check=True, capture_output=True
            ).stdout
        )
    assert len(told) == 1
