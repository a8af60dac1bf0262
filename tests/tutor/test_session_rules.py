"""Typed rules in a game: what they conclude is a hint, and what the law proves is not theirs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from stanchion.readings.claims.claim import CheckVerdict, Claim, Predicate
from stanchion.tutor.graph import EdgeType, RuleNode, Soundness, Status, Truth
from stanchion.tutor.law.v2 import Outcome
from stanchion.tutor.law.verdicts import MoveVerdict
from stanchion.tutor.rules.typed import Spoken, TypedRule
from tests.tutor.second import assert_, begun, propose, says

WRITTEN = {"id": "guess", "command": ["cat", "{f}"], "soundness": "sound"}


def test_weak_point_11_a_rule_of_the_session_proves_nothing() -> None:
    claim = says("file", "{f}")
    tutor = begun(
        {"cat f": Outcome(True, 0, "a\n")},
        Claim(Predicate.FILE, "f"),
        Claim(Predicate.CONTAINS, "f", "a"),
    )
    for number, one in enumerate((claim, says("contains", "{f}", "a"), says("file", "elsewhere"))):
        wrote = tutor.play(
            json.dumps({"action": "RULE", "rule": {**WRITTEN, "id": str(number), "claim": one}})
        )
        assert (wrote.verdict, tutor.pcg.events[-1].event_type) == (
            MoveVerdict.LEGAL,
            "rule_generated",
        )
    propose(tutor, "cat f")
    hinted = tutor.pcg.of(Truth, Status.HINTED)
    assert [one.text for one in hinted] == ["file(`f`)", "contains(`f`, `a`)", "file(`elsewhere`)"]
    assert {one.soundness for one in tutor.pcg.of(RuleNode) if one.rule_id in "012"} == {
        Soundness.HEURISTIC
    }
    assert [len(tutor.pcg.into(EdgeType.HINTS, one.id)) for one in hinted] == [1, 1, 1]
    assert not any(tutor.pcg.into(EdgeType.DERIVES, one.id) for one in hinted)
    assert tutor.check(Claim(Predicate.FILE, "f")).verdict is CheckVerdict.UNDECIDABLE
    assert (tutor.check_goal_satisfaction(), tutor.state.score, tutor.state.validated_truths) == (
        False,
        0,
        1,
    )


def test_a_hint_is_refuted_by_what_is_seen_and_gone_when_something_changes() -> None:
    rule = TypedRule("there", ("ls", "{d}"), Spoken(Predicate.FILE, "{d}"))
    tutor = begun({"test -d d": Outcome(True, 0)}, writes=True, rules=(rule,))
    propose(tutor, "ls d")
    propose(tutor, "ls e")
    propose(tutor, "ls e")
    assert [one.scope for one in tutor.pcg.of(Truth, Status.HINTED)] == ["d", "e"]
    propose(tutor, "test -d d")
    assert [one.text for one in tutor.pcg.of(Truth, Status.REFUTED)] == ["file(`d`)"]
    propose(tutor, "ls d")
    assert [one.text for one in tutor.pcg.of(Truth, Status.REFUTED)] == ["file(`d`)", "file(`d`)"]
    propose(tutor, "touch x", write=True)
    assert tutor.pcg.of(Truth, Status.HINTED) == []


def test_a_rule_of_a_file_is_sound_where_the_law_proves_the_same_and_scores_nothing() -> None:
    rules = (
        TypedRule(
            "debug", ("cat", "{f}"), Spoken(Predicate.CONTAINS, "{f}", "debug"), soundness="sound"
        ),
        TypedRule("wrong", ("cat", "{f}"), Spoken(Predicate.FILE, "{f}"), soundness="sound"),
    )
    tutor = begun({"cat f": Outcome(True, 0, "debug: yes\n")}, rules=rules)
    propose(tutor, "cat f")
    (hinted,) = tutor.pcg.of(Truth, Status.HINTED)
    assert hinted.text == "file(`f`)"
    proven = tutor.pcg.of(Truth, Status.VALIDATED)[-1]
    assert proven.text == "contains(`f`, `debug`)"
    assert [edge.transform for edge in tutor.pcg.into(EdgeType.DERIVES, proven.id)] == [
        "V2_contains"
    ]
    assert tutor.state.score == 0
    assert_(tutor, "contains", "f", "debug")
    assert tutor.state.score == 3


@pytest.mark.parametrize(
    ("rule", "what"),
    [
        ({**WRITTEN, "claim": says("file", "{g}")}, "nothing takes `{g}` of its claim"),
        ({**WRITTEN, "claim": says("lines", "{f}")}, "needs a whole number"),
        ({**WRITTEN, "claim": says("file", "f"), "stdout": "("}, "no pattern of RE2"),
        (
            {**WRITTEN, "claim": says("file", "f"), "command": []},
            "begins with the name of a program",
        ),
        ({**WRITTEN, "claim": says("file", "f"), "id": "known"}, "no new id"),
        ({**WRITTEN, "claim": says("file", "f"), "trust": 1}, "unknown field `trust`"),
        ({**WRITTEN}, "missing required field `claim`"),
        ("all is well", "Expected `object`"),
    ],
)
def test_a_bad_rule_is_illegal_and_is_not_there(rule: Any, what: str) -> None:
    known = TypedRule("known", ("ls",), Spoken(Predicate.FILE, "f"))
    tutor = begun(rules=(known,))
    result = tutor.play(json.dumps({"action": "RULE", "rule": rule}))
    assert result.verdict is MoveVerdict.ILLEGAL
    assert what in result.reason
    assert "\n" not in result.reason
    propose(tutor, "cat f")
    assert tutor.pcg.of(Truth, Status.HINTED) == []


def test_a_game_takes_few_rules() -> None:
    tutor = begun()
    moves = [
        {"action": "RULE", "rule": {**WRITTEN, "id": str(n), "claim": says("file", "f")}}
        for n in range(17)
    ]
    verdicts = [tutor.play(json.dumps(move)).verdict for move in moves]
    assert verdicts == [MoveVerdict.LEGAL] * 16 + [MoveVerdict.BLOCKED]
