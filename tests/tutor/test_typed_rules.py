"""Typed rules: which commands they fit, and what is wrong with a file of them."""

from __future__ import annotations

from typing import Any

import pytest

from stanchion.readings.claims.claim import Claim, Predicate
from stanchion.readings.claims.facts import Ran
from stanchion.tutor.rules.rule import RuleError
from stanchion.tutor.rules.typed import TypedRules, read_typed_rules, spoken_for

SIZE = {
    "id": "size",
    "command": ["stat", "-c", "%s", "{path}"],
    "stdout": r"^(?P<size>[0-9]+)\n$",
    "claim": {"predicate": "bytes", "subject": "{path}", "value": "{size}"},
}


@pytest.mark.parametrize(
    ("ran", "claim"),
    [
        (Ran(("stat", "-c", "%s", "./a"), 0, "12\n"), Claim(Predicate.BYTES, "a", 12)),
        (Ran(("stat", "-c", "%s", "a"), 1, "12\n"), None),
        (Ran(("stat", "-c", "%s", "a"), 0, "12\n13\n"), None),
        (Ran(("stat", "-c", "%s", "a"), 0, "12\n", whole=False), None),
        (Ran(("stat", "-c", "%s", "a", "b"), 0, "12\n"), None),
        (Ran(("stat", "-c", "%n", "a"), 0, "12\n"), None),
        (Ran(("stat", "-c", "%s", ""), 0, "12\n"), None),
        (Ran(("stat", "-c", "%s", "a"), 0, f"{'9' * 19}\n"), None),
        (Ran((), 0, "12\n"), None),
    ],
)
def test_what_a_rule_speaks_for(ran: Ran, claim: Claim | None) -> None:
    rules = read_typed_rules({"rules": [SIZE]})
    assert spoken_for(rules[0], ran) == claim
    assert [one for _, one in TypedRules(rules).speak(ran)] == ([] if claim is None else [claim])


def test_a_name_takes_the_same_everywhere_and_puts_in_no_other() -> None:
    told = {
        "id": "same",
        "command": ["cmp", "{a}", "{a}"],
        "claim": {"predicate": "file", "subject": "{a}"},
    }
    (rule,) = read_typed_rules({"rules": [told]})
    assert spoken_for(rule, Ran(("cmp", "x", "y"), 0)) is None
    assert spoken_for(rule, Ran(("cmp", "{a}", "{a}"), 0)) == Claim(Predicate.FILE, "{a}")


def test_a_rule_may_be_about_several_ends_and_deny() -> None:
    claim = {"predicate": "exists", "subject": "{p}", "polarity": False}
    told = {"id": "gone", "command": ["ls", "{p}"], "rc": [1, 2], "claim": claim}
    (rule,) = read_typed_rules({"rules": [told]})
    assert spoken_for(rule, Ran(("ls", "x"), 2)) == Claim(Predicate.EXISTS, "x", polarity=False)
    assert spoken_for(rule, Ran(("ls", "x"), 0)) is None


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"id": ""}, "rule 1: it has no `id`"),
        ({"claims": {}}, "rule 1 (`size`): `claims` is not known: did you mean `claim`?"),
        ({"match": []}, "`match` is not known"),
        (
            {"claim": {"predicate": "bytes", "subjct": "a"}},
            "`claim`: `subjct` is not known: did you mean `subject`?",
        ),
        ({"claim": {"predicate": "size", "subject": "a"}}, "`predicate` is `size`: it is one of `"),
        (
            {"claim": {"predicate": "bytes", "subject": "{path}", "value": "many"}},
            "its claim says nothing",
        ),
        (
            {"claim": {"predicate": "file", "subject": "{file}"}},
            "nothing takes `{file}` of its claim",
        ),
        ({"command": "stat a"}, "Expected `array`"),
        ({"command": ["{program}"]}, "begins with the name of a program"),
        ({"command": ["x"] * 65}, "at most 64 words"),
        ({"stdout": "(?=x)"}, "no pattern of RE2"),
        (
            {"claim": {"predicate": "byts", "subject": "a"}},
            "`predicate` is `byts`: did you mean `bytes`?",
        ),
        ({"soundness": "certain"}, "`soundness` is `certain`: it is one of `sound`, `heuristic`"),
    ],
)
def test_a_broken_rule_is_named_with_what_to_write(change: dict[str, Any], says: str) -> None:
    with pytest.raises(RuleError) as raised:
        read_typed_rules({"rules": [{**SIZE, **change}]}, "my.rules.yaml")
    assert str(raised.value).startswith("my.rules.yaml: rule 1")
    assert says in str(raised.value)
    assert "\n" not in str(raised.value)


def test_two_rules_of_one_name_are_refused() -> None:
    with pytest.raises(RuleError, match="`size` is there twice"):
        read_typed_rules({"rules": [SIZE, SIZE]})
