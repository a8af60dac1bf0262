"""Rules with other conditions: what counts as no looser is held against what both answer, whatever
a call says."""

from __future__ import annotations

from itertools import product
from typing import Any, Final

import pytest
from hypothesis import given, strategies as st

from stanchion.kernel.events import RunInfo, ToolCall
from stanchion.policy.conditions.limits import EvaluationError
from stanchion.policy.conditions.view import EventView
from stanchion.policy.load import load_policy
from stanchion.policy.loosening import loosenings
from stanchion.policy.loosening.guards import rule_keeps
from stanchion.policy.loosens import PolicyLoosens
from stanchion.policy.rules import Rule
from tests.properties.examples import sample

RUN: Final = RunInfo("r1", agent="ann")
VALUES: Final = (None, 1, 2, 3, 2.5, "2", float("nan"))
VIEWS: Final = [
    EventView(ToolCall(id="e1", at=0, run=RUN, tool="pay", args={"a": a, "b": b}))
    for a, b in product(VALUES, VALUES)
]
RANKS: Final = {"warn": 1, "escalate": 2, "block": 3, "halt": 4}

compared = st.builds(
    "{}{} {} {}".format,
    st.just("event.args."),
    st.sampled_from("ab"),
    st.sampled_from(["<", "<=", ">", ">=", "=="]),
    st.sampled_from(["1", "2", "3", "2.5"]),
)
conditions = st.recursive(
    compared,
    lambda part: st.one_of(
        st.builds("({} and {})".format, part, part),
        st.builds("({} or {})".format, part, part),
        st.builds("(not ({}))".format, part),
    ),
    max_leaves=3,
)


def nearby(condition: st.SearchStrategy[str]) -> st.SearchStrategy[tuple[str, str]]:
    """A condition and one that may be related to it."""
    joined = st.builds(
        lambda one, other, op, turned: (
            (one, f"({one} {op} {other})") if turned else (f"({one} {op} {other})", one)
        ),
        condition,
        condition,
        st.sampled_from(["and", "or"]),
        st.booleans(),
    )
    return st.one_of(joined, st.tuples(condition, condition))


def rank(rule: Rule, view: EventView, fail_open: bool) -> int:
    """How severely a rule answers, as the engine would carry it out."""
    try:
        acts = rule.when_condition.test(view) and not (
            rule.check_condition and rule.check_condition.test(view)
        )
    except EvaluationError:
        return 0 if fail_open else RANKS["block"]
    return RANKS[rule.action] if acts else 0


@sample(50)
@given(
    nearby(conditions),
    st.one_of(st.none(), nearby(conditions)),
    st.sampled_from(sorted(RANKS)),
    st.booleans(),
)
def test_a_rule_that_loosens_nothing_is_as_severe_on_every_call(
    when: tuple[str, str], check: tuple[str, str] | None, action: Any, fail_open: bool
) -> None:
    """The comparison may miss what is stricter. It may never miss what is looser."""
    before, after = [
        Rule(when=one, check=other, action=action)
        for one, other in zip(when, check or (None, None), strict=True)
    ]
    same = {"when": before.when == after.when, "check": before.check == after.check}
    if all(same[option] or rule_keeps(before, after, option, not fail_open) for option in same):
        for view in VIEWS:
            assert rank(after, view, fail_open) >= rank(before, view, fail_open), view.event_args


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            {"when": "event.args.a > 1"},
            {"when": "event.args.a > 1 or event.args.b > 1", "action": "escalate"},
        ),
        (
            {"when": "event.args.a > 1", "fail_open": True},
            {"when": "event.args.a > 1 or event.args.b > 1"},
        ),
        ({"when": "event.args.a > 2"}, {"when": "event.args.a > 1.5"}),
        ({"when": "event.args.a > 2"}, {"when": "event.args.b > 1"}),
        (
            {"when": "event.args.a.exists(x, x > 2)"},
            {"when": "event.args.a.exists(x, x > 2) or event.args.b > 1"},
        ),
    ],
    ids=str,
)
def test_what_cannot_be_compared_is_said_to_be_unknown(
    old: dict[str, Any], new: dict[str, Any]
) -> None:
    """It needs trust like a loosening, and is not called one."""
    shared = {key: value for key, value in {**old, **new}.items() if key != "when"}
    policies = [
        load_policy({"name": "one", "guards": [{"use": "rule", **shared, "when": one["when"]}]})
        for one in (old, new)
    ]
    (found,) = loosenings(*policies)
    assert not found.sure
    assert (
        "it is not known to be the same as what is in force, or stricter: guard `rule`: when"
        in str(PolicyLoosens("policy.yaml", policies[1], [found]))
    )
