"""The second law: each weak point of the first is answered, and every verdict can be reached by
playing."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from stanchion.readings.claims import evidence as judging
from stanchion.readings.claims.claim import CheckVerdict, Claim, Predicate
from stanchion.tutor.advice.failures import FailureType, failure
from stanchion.tutor.advice.intent import Intent
from stanchion.tutor.envelope.trace import States
from stanchion.tutor.graph import Action, Assumption, EdgeType, Graph, Status, Truth
from stanchion.tutor.law import ledger
from stanchion.tutor.law.v2 import Outcome, TutorV2
from stanchion.tutor.law.verdicts import MoveVerdict
from stanchion.tutor.moves.typed import Misread, UnreadReply, read
from stanchion.tutor.picture import to_jsonl
from tests.tutor.second import World, assert_, begun, propose, says

GONE = Outcome(True, 1)


@pytest.mark.parametrize(
    ("command", "outcome", "claim"),
    [
        ("test -f config.yaml", Outcome(True, 0), Claim(Predicate.FILE, "nope.yaml")),
        ("grep -F a f", Outcome(True, 0, "a\n"), Claim(Predicate.CONTAINS, "f", "b")),
        ("grep -F a f", Outcome(True, 0, "a\n"), Claim(Predicate.CONTAINS, "g", "a", False)),
        ("echo test -f ghost", Outcome(True, 0, "test -f ghost\n"), Claim(Predicate.FILE, "ghost")),
        (
            "test -f nope",
            Outcome(False, -1, why="it took too long"),
            Claim(Predicate.FILE, "nope", polarity=False),
        ),
        (
            "test -f nope",
            Outcome(False, -1, why="refused"),
            Claim(Predicate.FILE, "nope", polarity=False),
        ),
        ("test -f nope", Outcome(True, 2), Claim(Predicate.FILE, "nope", polarity=False)),
        ("./test -f nope", Outcome(True, 0), Claim(Predicate.FILE, "nope")),
        ("cat f", Outcome(True, 0, "a\n", whole=False), Claim(Predicate.LINES, "f", 1)),
        ("cat f", Outcome(True, 0, "a\ufffd\n"), Claim(Predicate.CONTAINS, "f", "b", False)),
    ],
)
def test_weak_point_1_and_2_what_was_not_seen_is_not_proven(
    command: str, outcome: Outcome, claim: Claim
) -> None:
    tutor = begun({command: outcome})
    propose(tutor, command)
    assert tutor.check(claim).verdict is CheckVerdict.UNDECIDABLE


def test_weak_point_1_a_count_is_one_number() -> None:
    tutor = begun({"wc -l f": Outcome(True, 0, "2 f\n")})
    propose(tutor, "wc -l f")
    assert assert_(tutor, "lines", "f", 2) == "validated"
    assert assert_(tutor, "lines", "f", 7) == "refuted"
    assert assert_(tutor, "lines", "f", 7, polarity=False) == "validated"


@pytest.mark.parametrize(
    "command", ["test -f a && echo x || echo y", "grep a f || true", "test -f a; true", "cat <f"]
)
def test_weak_point_2_only_single_commands_are_run(command: str) -> None:
    tutor = begun()
    assert propose(tutor, command) is MoveVerdict.ILLEGAL
    assert tutor.runner.ran == []  # type: ignore[attr-defined]  # it is the one above


def test_weak_point_3_doing_nothing_wins_nothing() -> None:
    tutor = begun(None, Claim(Predicate.FILE, "report.txt"))
    for _ in range(10):
        propose(tutor, "true")
    assert (tutor.check_goal_satisfaction(), tutor.state.score) == (False, 0)
    assert tutor.state.validated_truths == 1


def test_weak_point_3_what_is_seen_twice_counts_once() -> None:
    tutor = begun()
    for _ in range(5):
        propose(tutor, "test -f a")
        assert_(tutor, "file", "a")
    assert tutor.state.score == 3


def test_weak_point_3_a_goal_without_claims_is_never_reached() -> None:
    tutor = begun()
    propose(tutor, "test -f a")
    assert not tutor.check_goal_satisfaction()


def test_weak_point_4_what_is_contradicted_is_refuted_and_that_wins() -> None:
    tutor = begun({"test -f a": Outcome(True, 0), "test -e a": GONE})
    assert assert_(tutor, "file", "a") == "proposed"
    propose(tutor, "test -f a")
    propose(tutor, "test -e a")
    refuted = tutor.pcg.of(Truth, Status.REFUTED)
    assert [one.text for one in refuted] == ["file(`a`)", "file(`a`)", "not exists(`a`)"]
    assert len(tutor.pcg.into(EdgeType.REFUTES, refuted[0].id)) == 1
    assert tutor.check(Claim(Predicate.FILE, "a")).verdict is CheckVerdict.REFUTABLE
    assert tutor.check(Claim(Predicate.EXISTS, "a")).verdict is CheckVerdict.REFUTABLE


@pytest.mark.parametrize(
    "claim",
    [
        ("lines", "f", "two"),
        ("lines", "f", True),
        ("lines", "f"),
        ("file", ""),
        ("file", "f", 3),
        ("digest", "f", ""),
    ],
)
def test_weak_point_4_what_says_nothing_is_ill_typed(claim: tuple[Any, ...]) -> None:
    tutor = begun()
    result = tutor.play(json.dumps({"action": "ASSERT", "claim": says(*claim)}))
    assert result.verdict is MoveVerdict.ILLEGAL
    assert not tutor.pcg.of(Truth)


def test_weak_point_5_every_promotion_is_a_derivation_in_the_graph() -> None:
    tutor = begun({"cat f": Outcome(True, 0, "a\nb\n")})
    propose(tutor, "cat f")
    assert_(tutor, "contains", "f", "b")
    assert_(tutor, "lines", "f", 2)
    for truth in tutor.pcg.of(Truth, Status.VALIDATED):
        (edge,) = tutor.pcg.into(EdgeType.DERIVES, truth.id)
        assert edge.src[0].startswith("R")
        assert edge.src[1].startswith("Obs")


def test_weak_point_6_what_the_runner_refuses_is_blocked_before_it_runs() -> None:
    tutor = begun(refuses="rm")
    assert propose(tutor, "rm -fr /") is MoveVerdict.BLOCKED
    assert propose(tutor, "touch a", write=True) is MoveVerdict.BLOCKED
    assert tutor.runner.ran == []  # type: ignore[attr-defined]  # it is the one above


@pytest.mark.parametrize(
    ("reply", "what"),
    [
        ("", Misread.EMPTY),
        ("PROPOSE: ls", Misread.NO_JSON),
        ('I think {"action": "RESPOND", "message": "x"}', Misread.NO_JSON),
        (
            '{"action": "RESPOND", "message": "x"} {"action": "RESPOND", "message": "x"}',
            Misread.NO_JSON,
        ),
        ('[{"action": "RESPOND", "message": "x"}]', Misread.SEVERAL),
        ('"RESPOND"', Misread.NO_OBJECT),
        ('{"action": 5}', Misread.UNKNOWN_ACTION),
        ('{"action": null}', Misread.UNKNOWN_ACTION),
        ('{"action": "LINK"}', Misread.UNKNOWN_ACTION),
        ('{"action": "PROPOSE", "cmd": "ls"}', Misread.BAD_FIELD),
        ('{"action": "PROPOSE", "argv": "ls"}', Misread.BAD_FIELD),
        (
            '{"action": "ASSERT", "claim": {"predicate": "observation", "subject": "a"}}',
            Misread.BAD_FIELD,
        ),
        ("[" * 100_000, Misread.NO_JSON),
        ('{"action": "RESPOND", "action": "ASK", "text": "x"}', Misread.NO_JSON),
        (
            '{"action": "ASSERT", "claim": {"predicate": "lines", "subject": "f", "value": NaN}}',
            Misread.NO_JSON,
        ),
        ("x" * 100_001, Misread.TOO_LONG),
    ],
)
def test_weak_point_8_a_reply_is_one_move_or_a_typed_error(reply: str, what: Misread) -> None:
    found = read(reply)
    assert isinstance(found, UnreadReply)
    assert found.what is what
    assert found.why


def test_weak_point_9_the_same_play_gives_the_same_state() -> None:
    def played(clock: str) -> str:
        tutor = begun({"cat f": Outcome(True, 0, "a\n")}, clock=lambda: clock)
        propose(tutor, "cat f")
        assert_(tutor, "contains", "f", "a")
        return States(tutor.pcg, tutor.state).hash()

    assert played("now") == played("then")


def test_weak_point_10_whoever_proves_nothing_new_stalls_however_much_is_run() -> None:
    tutor = begun({f"ls {number}": Outcome(True, 0, f"{number}\n") for number in range(8)})
    kinds = []
    for number in range(8):
        propose(tutor, f"ls {number}")
        if number == 4:
            propose(tutor, "test -f a")
        found = failure(tutor.trace())
        kinds.append(None if found is None else found.failure_type)
        tutor.next_turn()
    assert kinds == [None, None, None, FailureType.STALL, None, None, None, FailureType.STALL]


def test_advice_is_written_down_and_a_game_has_few() -> None:
    tutor = begun()
    cards = []
    for _ in range(20):
        tutor.next_turn()
        propose(tutor, "ls")
        given = tutor.advise()
        cards += [] if given is None else [given.card.card_id]
    assert cards == [f"escape_loop_{number}" for number in range(1, 6)]
    assert [one.data["card"] for one in tutor.pcg.events if one.event_type == "advice"] == cards


def test_weak_point_12_a_score_is_not_a_win() -> None:
    tutor = begun({"test -f a": Outcome(True, 0)}, Claim(Predicate.FILE, "b"))
    propose(tutor, "test -f a")
    assert tutor.state.score > 0
    assert not tutor.state.goal_satisfied


def test_what_may_have_changed_is_no_longer_known() -> None:
    tutor = begun({"test -f a": Outcome(True, 0)}, Claim(Predicate.FILE, "a"), writes=True)
    propose(tutor, "test -f a")
    assert tutor.check_goal_satisfaction()
    assert propose(tutor, "mv a b", write=True) is MoveVerdict.LEGAL
    assert tutor.check(Claim(Predicate.FILE, "a")).verdict is CheckVerdict.UNDECIDABLE
    assert [one.text for one in tutor.pcg.of(Truth, Status.VALIDATED)] == [
        "succeeded(`test -f a`)",
        "succeeded(`mv a b`)",
    ]


@pytest.mark.parametrize(("began", "stands"), [(True, "proposed"), (False, "validated")])
@pytest.mark.parametrize("rc", [0, 1])
def test_of_a_command_that_was_stopped_nothing_is_known(rc: int, began: bool, stands: str) -> None:
    outcomes = {"cat a": Outcome(True, rc), "cat b": Outcome(True, 0)}
    tutor = begun(outcomes, Claim(Predicate.SUCCEEDED, "cat a", polarity=rc == 0))
    propose(tutor, "cat a")
    propose(tutor, "cat b")
    asserted = tutor.play(
        json.dumps({"action": "ASSERT", "claim": says("succeeded", "cat a", polarity=rc == 0)})
    )
    assert tutor.check_goal_satisfaction()
    outcomes["cat a"] = Outcome(False, why="it took too long", began=began)
    propose(tutor, "cat a")
    assert tutor.check_goal_satisfaction() is not began
    status = tutor.pcg.status(asserted.truths[0].id)
    assert status is not None
    assert status.value == stands
    assert tutor.check(Claim(Predicate.SUCCEEDED, "cat b")).verdict is CheckVerdict.PROVABLE
    outcomes["cat a"] = Outcome(True, rc)
    propose(tutor, "cat a")
    assert tutor.check_goal_satisfaction()


def test_what_was_stopped_may_have_changed_something_too() -> None:
    stopped = Outcome(False, changes=True, why="it took too long")
    tutor = begun({"rm a": stopped}, Claim(Predicate.FILE, "a"), writes=True)
    propose(tutor, "test -f a")
    propose(tutor, "rm a", write=True)
    assert tutor.check(Claim(Predicate.FILE, "a")).verdict is CheckVerdict.UNDECIDABLE
    assert not tutor.check_goal_satisfaction()


def test_the_last_run_of_a_command_counts() -> None:
    outcomes = {"make": Outcome(True, 2)}
    tutor = begun(outcomes)
    propose(tutor, "make")
    assert tutor.check(Claim(Predicate.SUCCEEDED, "make")).verdict is CheckVerdict.REFUTABLE
    outcomes["make"] = Outcome(True, 0)
    propose(tutor, "make")
    assert tutor.check(Claim(Predicate.SUCCEEDED, "make")).verdict is CheckVerdict.PROVABLE


def test_an_action_finishes() -> None:
    tutor = begun()
    propose(tutor, "ls")
    assert [tutor.pcg.status(one.id) for one in tutor.pcg.of(Action)] == [Status.FINISHED]


def test_a_question_is_answered_by_what_is_proven_and_too_many_are_refused() -> None:
    tutor = begun({"wc -l f": Outcome(True, 0, "2 f\n")}, wip=1)
    ask = json.dumps({"action": "ASK", "text": "how long is f?"})
    assert tutor.play(ask).verdict is MoveVerdict.LEGAL
    assert tutor.play(ask).verdict is MoveVerdict.BLOCKED
    resolve = json.dumps({"action": "RESOLVE", "question": "Q2", "claim": says("lines", "f", 2)})
    assert tutor.play(resolve).verdict is MoveVerdict.BLOCKED
    propose(tutor, "wc -l f")
    score = tutor.state.score
    assert tutor.play(resolve).verdict is MoveVerdict.LEGAL
    assert (tutor.state.open_questions, tutor.pcg.status("Q2"), tutor.state.score - score) == (
        0,
        Status.CLOSED,
        2,
    )
    assert tutor.play(resolve).verdict is MoveVerdict.ILLEGAL


def test_a_claim_that_nobody_can_decide_says_what_is_missing() -> None:
    tutor = begun()
    result = tutor.play(json.dumps({"action": "ASSERT", "claim": says("lines", "f", 2)}))
    assert result.reason == "undecidable: an observation of `wc -l f`"
    other = {"action": "REFORMULATE", "original": result.truths[0].id, "claim": says("exists", "f")}
    assert tutor.play(json.dumps(other)).verdict is MoveVerdict.LEGAL
    same = {
        "action": "REFORMULATE",
        "original": result.truths[0].id,
        "claim": says("lines", "f", 2),
    }
    assert tutor.play(json.dumps(same)).verdict is MoveVerdict.ILLEGAL


def challenge(tutor: TutorV2, *claim: Any) -> MoveVerdict:
    """Assume something that a claim would prove wrong."""
    move = {"action": "CHALLENGE", "text": "it is so", "falsified_by": says(*claim)}
    return tutor.play(json.dumps(move)).verdict


def test_an_assumption_is_open_until_the_claim_against_it_is_decided() -> None:
    tutor = begun({"test -f a": Outcome(True, 0), "test -f b": GONE})
    assert (challenge(tutor, "file", "a"), challenge(tutor, "file", "b")) == (
        MoveVerdict.LEGAL,
        MoveVerdict.LEGAL,
    )
    assert challenge(tutor, "file", "c") is MoveVerdict.BLOCKED
    assert tutor.play(json.dumps({"action": "ASK", "text": "why?"})).verdict is MoveVerdict.BLOCKED
    propose(tutor, "test -f a")
    propose(tutor, "test -f b")
    assert [tutor.pcg.status(one.id) for one in tutor.pcg.of(Assumption)] == [
        Status.REFUTED,
        Status.CLOSED,
    ]
    assert challenge(tutor, "lines", "c", "many") is MoveVerdict.ILLEGAL
    assert challenge(tutor, "file", "a") is MoveVerdict.LEGAL
    assert tutor.pcg.status(tutor.pcg.of(Assumption)[-1].id) is Status.REFUTED
    assert (
        tutor.play(json.dumps({"action": "CHALLENGE", "text": "so"})).verdict is MoveVerdict.ILLEGAL
    )


def test_weak_point_3_the_same_answer_scores_once_however_it_is_spelled() -> None:
    tutor = begun()
    propose(tutor, "test -f a")
    scores = []
    for path in ("a", "./a", "././a"):
        asked = tutor.play(json.dumps({"action": "ASK", "text": "what is a?"})).reason.removeprefix(
            "question "
        )
        tutor.play(
            json.dumps({"action": "RESOLVE", "question": asked, "claim": says("file", path)})
        )
        scores.append(tutor.state.score)
    assert scores == [5, 5, 5]
    first = tutor.pcg.of(Truth)[0].id
    for path in ("a", "./a"):
        tutor.play(
            json.dumps({"action": "REFORMULATE", "original": first, "claim": says("file", path)})
        )
    assert tutor.state.score == 5


def test_weak_point_3_what_was_seen_once_cannot_be_denied_for_ever_for_points() -> None:
    tutor = begun({"cat f": Outcome(True, 0, "a\n"), "grep -F z f": GONE})
    propose(tutor, "cat f")
    assert assert_(tutor, "lines", "f", 1) == "validated"
    assert tutor.state.score == 3
    for value in range(2, 9):
        assert assert_(tutor, "lines", "f", value, polarity=False) == "validated"
        assert assert_(tutor, "contains", "f", str(value), polarity=False) == "validated"
    assert (tutor.state.score, tutor.trace().known[-1]) == (3, 1)
    propose(tutor, "grep -F z f")
    assert tutor.state.score == 6


def test_a_check_is_written_down_where_it_is_committed() -> None:
    tutor = begun()
    propose(tutor, "test -f a")
    before = to_jsonl(tutor.pcg)
    assert tutor.check(Claim(Predicate.EXISTS, "a")).verdict is CheckVerdict.PROVABLE
    assert tutor.check(Claim(Predicate.LINES, "a"), commit=True).verdict is CheckVerdict.ILL_TYPED
    assert to_jsonl(tutor.pcg) == before
    assert tutor.check(Claim(Predicate.EXISTS, "a"), commit=True).verdict is CheckVerdict.PROVABLE
    assert tutor.pcg.of(Truth, Status.VALIDATED)[-1].text == "exists(`a`)"


@pytest.mark.parametrize("writes", [False, True])
def test_a_turn_costs_the_same_however_long_the_game_is(
    writes: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = Counter[str]()
    real = (judging.follows, Graph.promote)

    def follows(fact: Any, claim: Claim) -> bool | None:
        asked["follows"] += 1
        return real[0](fact, claim)

    def promote(graph: Graph, target: str, to: Status) -> Any:
        asked["promote"] += 1
        return real[1](graph, target, to)

    monkeypatch.setattr(ledger, "follows", follows)
    monkeypatch.setattr(Graph, "promote", promote)
    monkeypatch.setattr(Graph, "of", None)  # it looks at every node
    tutor = begun(writes=True)
    costs = []
    for number in range(60):
        asked.clear()
        assert_(tutor, "lines", f"f{number}", 1)
        propose(tutor, f"test -f f{number}", write=writes)
        tutor.play(json.dumps({"action": "ASK", "text": "more?"}))
        tutor.check_goal_satisfaction()
        tutor.advise()
        costs.append((asked["follows"], asked["promote"]))
    assert len(set(costs[2:])) == 1


def test_whoever_goes_round_in_a_circle_opens_one_thing_at_a_time() -> None:
    tutor = begun({"test -f a": Outcome(True, 0), "test -f b": GONE}, wip=3)
    ask = json.dumps({"action": "ASK", "text": "what now?"})
    for command in ("ls a", "ls b", "ls a", "ls b"):
        propose(tutor, command)
    first, second = tutor.play(ask), tutor.play(ask)
    assert (first.verdict, second.verdict) == (MoveVerdict.LEGAL, MoveVerdict.BLOCKED)
    assert second.reason.startswith("the last commands go round in a circle")
    propose(tutor, "ls c")
    assert tutor.play(ask).verdict is MoveVerdict.LEGAL


def test_the_course_of_a_game_is_told_by_its_commands() -> None:
    tutor = TutorV2("second", World(), "count the lines of a file")
    for command in ("ls", "count the", "count the lines of a file"):
        propose(tutor, command)
    assert tutor.course().intent is Intent.CONVERGING
