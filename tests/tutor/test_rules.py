"""Rules: what follows from an observation, and what is wrong with a file of them."""

from __future__ import annotations

from typing import Any

import pytest

from stanchion.tutor.rules.bash import bash_rules
from stanchion.tutor.rules.rule import RuleError, holds, read_rules

TRUTH = {"truth": {"text": "it is so", "kind": "property"}}


@pytest.mark.parametrize(
    ("command", "outcome", "texts"),
    [
        ("ls", (0, "", ""), ["Command 'ls' succeeded"]),
        ("ls", (2, "", ""), ["Command 'ls' failed with rc=2"]),
        ("test -e 'a b'", (0, "", ""), ["Command 'test -e 'a b'' succeeded", "File 'a' exists"]),
        (
            "test -f a",
            (1, "", ""),
            ["Command 'test -f a' failed with rc=1", "File 'a' does not exist"],
        ),
        ("test -d src", (0, "", ""), ["Command 'test -d src' succeeded", "Directory 'src' exists"]),
        (
            "grep x f",
            (1, "", ""),
            ["Command 'grep x f' failed with rc=1", "Pattern not found in file"],
        ),
        (
            "cat m.py",
            (0, "def go():\n", ""),
            ["Command 'cat m.py' succeeded", "Function 'go' is defined"],
        ),
        (
            "cat m.py",
            (0, "  class A:\n", ""),
            ["Command 'cat m.py' succeeded", "Class 'A' is defined"],
        ),
        (
            "pgrep -f web",
            (1, "", ""),
            [
                "Command 'pgrep -f web' failed with rc=1",
                "Pattern not found in file",
                "Process 'web' is not running",
            ],
        ),
        (
            "nc -z host 80",
            (0, "", ""),
            ["Command 'nc -z host 80' succeeded", "Port 80 is open on 'host'"],
        ),
        ("wc -l f", (0, " 2 f\n", ""), ["Command 'wc -l f' succeeded", "File has 2 lines"]),
        (
            "test -s f",
            (1, "", ""),
            ["Command 'test -s f' failed with rc=1", "File 'f' is empty or does not exist"],
        ),
        ("x", (127, "", "x: not found"), ["Command 'x' failed with rc=127", "Command not found"]),
        (
            "x",
            (1, "an Error", ""),
            ["Command 'x' failed with rc=1", "Output contains error indication"],
        ),
        (
            "grep mapping f.txt || true",
            (0, "", ""),
            [
                "Command 'grep mapping f.txt || true' succeeded",
                "Pattern found in file",
                "Host 'f.txt' is reachable",
            ],
        ),
    ],
)
def test_what_follows_by_the_rules_of_the_first_law(
    command: str, outcome: tuple[int, str, str], texts: list[str]
) -> None:
    rc, stdout, stderr = outcome
    observed = {
        "tool": "bash",
        "command": command,
        "rc": rc,
        "stdout": stdout,
        "stderr": stderr,
        "scope": "Act1",
    }
    follows = [one for _, many in bash_rules().apply_all(observed) for one in many]
    assert [one.text for one in follows if one.type == "truth"] == texts


def test_there_are_25_rules() -> None:
    assert {rule.domain for rule in bash_rules().rules()} == {"bash"}
    assert len(bash_rules().rules()) == 25


@pytest.mark.parametrize(
    ("operator", "value", "expected", "so"),
    [
        ("eq", 0, 0, True),
        ("neq", 0, 1, True),
        ("in", "bash", ["bash"], True),
        ("contains", "", "", False),
        ("contains", "abc", "b", True),
        ("matches", "abc", "^b", False),
        ("matches", None, ".*", False),
        ("startswith", "abc", "a", True),
        ("endswith", "abc", "b", False),
        ("gt", 2, 1, True),
        ("gte", None, 1, False),
        ("lt", "many", 1, False),
        ("lte", "1", 1, True),
        ("exists", None, False, True),
        ("exists", "", True, True),
    ],
)
def test_operators(operator: Any, value: Any, expected: Any, so: bool) -> None:
    assert holds(operator, value, expected) is so


def test_a_placeholder_without_a_value_stays_and_no_value_is_read_for_placeholders() -> None:
    rules = read_rules(
        {
            "rules": [
                {
                    "id": "a",
                    "match": [{"obs.rc": 0}],
                    "extract": {"name": {"regex": "name=(\\S+)"}, "none": {"regex": "none=(\\S+)"}},
                    "conclude": {"truth": {"text": "{name} {none} {obs.rc}", "kind": "property"}},
                }
            ]
        }
    )
    (follows,) = rules[0].apply({"rc": 0, "stdout": "name={obs.command}", "command": "secret"})
    assert follows.text == "{obs.command} {none} 0"


@pytest.mark.parametrize(
    ("rule", "says"),
    [
        ({}, "it has no `id`"),
        ({"id": "a", "conclude": TRUTH, "mach": []}, "`mach` is not known: did you mean `match`?"),
        ({"id": "a", "conclude": TRUTH, "match": [{"obs.stdot": 1}]}, "did you mean `stdout`?"),
        (
            {"id": "a", "conclude": TRUTH, "match": [{"obs.rc": {"is": 1}}]},
            "the operator of `obs.rc` is `is`",
        ),
        (
            {"id": "a", "conclude": TRUTH, "match": [{"obs.rc": {"gt": 1, "lt": 2}}]},
            "has 2 operators",
        ),
        (
            {"id": "a", "conclude": TRUTH, "match": [{"obs.stdout": {"matches": "("}}]},
            "no pattern of RE2",
        ),
        ({"id": "a", "conclude": TRUTH, "extract": {"v": {"regex": "(?=x)"}}}, "no pattern of RE2"),
        ({"id": "a", "conclude": {}}, "`conclude` says what follows"),
        ({"id": "a", "conclude": {"truth": {"text": "t"}}}, "the kind of its truth is ``"),
        (
            {"id": "a", "conclude": {"truth": {"text": "t", "kind": "propery"}}},
            "did you mean `property`?",
        ),
        ({"id": "a", "conclude": {"lie": {"text": "t"}}}, "what it concludes is `lie`"),
        ({"id": "a", "conclude": {"entity": {"kind": "file"}}}, "`entity` has no `value`"),
        ({"id": "a", "conclude": TRUTH, "soundness": "perhaps"}, "soundness is `perhaps`"),
        ("a", "a rule is a mapping"),
    ],
)
def test_a_broken_rule_is_named_with_what_to_write(rule: Any, says: str) -> None:
    with pytest.raises(RuleError) as raised:
        read_rules({"rules": [{"id": "fine", "conclude": TRUTH}, rule]}, "my.rules.yaml")
    assert str(raised.value).startswith("my.rules.yaml: rule 2")
    assert says in str(raised.value)
    assert "\n" not in str(raised.value)


def test_two_rules_of_one_name_are_refused() -> None:
    with pytest.raises(RuleError, match="`a` is there twice"):
        read_rules({"rules": [{"id": "a", "conclude": TRUTH}] * 2})
