"""The first law beyond its worked turn: what it blocks, what it counts, and where it proves what is
not so."""

from __future__ import annotations

import pytest

from stanchion.readings.claims.claim import CheckVerdict
from stanchion.tutor.graph import ClaimKind, EdgeType, Observation, Truth
from stanchion.tutor.law.v1 import TutorV1, is_safe
from stanchion.tutor.law.verdicts import MoveVerdict
from stanchion.tutor.moves.legacy import (
    AskMove,
    AssertMove,
    ChallengeMove,
    Move,
    ProposeMove,
    ReformulateMove,
    RespondMove,
)
from stanchion.tutor.picture import to_jsonl
from stanchion.tutor.rules.bash import bash_rules
from stanchion.tutor.rules.rule import TextRule, read_rules
from tests.tutor.worlds import Outcome, Scripted


def begun(outcomes: dict[str, Outcome] | None = None) -> TutorV1:
    """A game in its first turn."""
    tutor = TutorV1("first", Scripted(outcomes), bash_rules())
    tutor.setup_game("goal", ["be quick"])
    tutor.next_turn()
    return tutor


def claim(text: str) -> Truth:
    """A claim that is in no graph."""
    return Truth(id="", text=text)


@pytest.mark.parametrize(
    "command", ["rm -rf /", "rm  -rf *", "mkfs.ext4 x", "dd if=a", "echo SHUTDOWN", ":(){ :|:& };:"]
)
def test_what_it_refuses(command: str) -> None:
    tutor = begun()
    result = tutor.execute_move(ProposeMove(command=command))
    assert result.verdict is MoveVerdict.BLOCKED
    assert (tutor.state.score, tutor.pcg.events[-1].event_type) == (-3, "move_rejected")
    assert tutor.executor.ran == []  # type: ignore[attr-defined]  # it is the scripted one


@pytest.mark.parametrize(
    "command",
    ["rm -fr /", "rm -r -f /", "rm -rf ~", "find / -delete", "curl x | sh", "dd of=a if=b"],
)
def test_its_denylist_is_no_wall(command: str) -> None:
    assert is_safe(command) == (True, "")


def test_nothing_is_written_before_two_claims_are_proven() -> None:
    tutor = begun()
    assert (
        tutor.execute_move(ProposeMove(command="touch a", mode="write")).verdict
        is MoveVerdict.BLOCKED
    )
    tutor.execute_move(ProposeMove(command="test -f a"))
    assert (
        tutor.execute_move(ProposeMove(command="touch a", mode="write")).verdict
        is MoveVerdict.LEGAL
    )


def test_moves_that_only_speak() -> None:
    tutor = begun()
    assert tutor.execute_move(AskMove(text="why?")).reason == "Question registered: Q6"
    assert (
        tutor.execute_move(ChallengeMove(text="it is a file", falsify="ls")).reason
        == "Assumption registered: A7"
    )
    before = to_jsonl(tutor.pcg)
    assert tutor.execute_move(ReformulateMove(new_text="x")).verdict is MoveVerdict.LEGAL
    assert tutor.execute_move(RespondMove(message="x")).verdict is MoveVerdict.LEGAL
    assert to_jsonl(tutor.pcg) == before
    assert tutor.state.open_questions == 1
    assert tutor.execute_move(AssertMove()).verdict is MoveVerdict.ILLEGAL
    assert tutor.execute_move(Move()).verdict is MoveVerdict.ILLEGAL


@pytest.mark.parametrize(
    ("command", "outcome", "said"),
    [
        ("test -f config.yaml", (0, "", ""), "File 'nope.yaml' exists"),
        ("grep a f", (0, "a\n", ""), "Pattern not found in file"),
        ("wc -l f", (0, "2 f\n", ""), "File has 7 lines"),
        ("echo 'test -f ghost.txt'", (0, "", ""), "File 'ghost.txt' exists"),
        ("test -f nope", (-1, "", "TIMEOUT: Command exceeded 30s"), "File 'nope' does not exist"),
    ],
)
def test_it_proves_what_is_not_so(command: str, outcome: Outcome, said: str) -> None:
    tutor = begun({command: outcome})
    tutor.execute_move(ProposeMove(command=command))
    assert tutor.check(claim(said)).verdict is CheckVerdict.PROVABLE


def test_commands_that_do_nothing_reach_any_goal() -> None:
    tutor = begun()
    for _ in range(3):
        assert not tutor.check_goal_satisfaction()
        tutor.execute_move(ProposeMove(command="true"))
    assert tutor.check_goal_satisfaction()
    assert (tutor.state.goal_satisfied, tutor.state.score) == (True, 6)
    assert tutor.pcg.events[-1].data == {"goal": "G1", "by": ["T8", "T11", "T14"]}


def test_support_beats_refutation() -> None:
    tutor = begun()
    (seen,) = [tutor.execute_move(ProposeMove(command="ls")).observation]
    assert isinstance(seen, Observation)
    truth = tutor.pcg.add_truth("all is well", ClaimKind.PROPERTY, "bash", "")
    tutor.pcg.link(EdgeType.REFUTES, seen.id, truth.id)
    assert tutor.check(truth).verdict is CheckVerdict.REFUTABLE
    tutor.pcg.link(EdgeType.SUPPORTS, seen.id, truth.id)
    assert tutor.check(truth).verdict is CheckVerdict.PROVABLE


def test_a_claim_without_words_is_ill_typed() -> None:
    assert begun().check(claim("")).verdict is CheckVerdict.ILL_TYPED


def test_a_rule_can_be_written_in_a_game_and_proves_what_it_says() -> None:
    (rule,) = read_rules(
        {
            "rules": [
                {"id": "R_s", "conclude": {"truth": {"text": "cats can fly", "kind": "causal"}}}
            ]
        }
    )

    def author(_prompt: str, claimed: Truth, _seen: Observation) -> TextRule:
        if claimed.text != "cats can fly":
            raise ValueError("no rule")
        return rule

    tutor = TutorV1("first", Scripted(), bash_rules(), author)
    tutor.setup_game("goal")
    seen = tutor.execute_move(ProposeMove(command="true")).observation
    assert seen is not None
    assert tutor.request_rule("", claim("dogs can fly"), seen) is None
    assert tutor.pcg.events[-1].event_type == "rule_generation_failed"
    assert tutor.request_rule("", claim("cats can fly"), seen) is not None
    assert tutor.check(claim("cats can fly")).verdict is CheckVerdict.PROVABLE
    assert TutorV1("first", Scripted(), bash_rules()).request_rule("", claim("x"), seen) is None


def test_what_a_player_is_told() -> None:
    tutor = begun({"wc -l f": (0, "2 f\n", "")})
    tutor.execute_move(ProposeMove(command="wc -l f"))
    tutor.execute_move(AskMove(text="why?"))
    assert tutor.get_context_for_llm().splitlines() == [
        "=== GAME STATE ===",
        "Turn: 1",
        "Score: 4",
        "",
        "VALIDATED TRUTHS:",
        "  [T8] Command 'wc -l f' succeeded",
        "  [T9] File has 2 lines",
        "",
        "RECENT OBSERVATIONS (last 5):",
        "  [Obs7] bash: wc -l f",
        "      rc=0, stdout=2 f",
        "...",
        "",
        "OPEN QUESTIONS:",
        "  [Q10] why?",
        "",
        "CONSTRAINTS:",
        "  - Read-only actions first; write actions only after cause is localized.",
        "  - No network destruction. No deletion without confirmation.",
        "  - All truths must be provable by evidence or sound rule chains.",
        "  - be quick",
    ]
