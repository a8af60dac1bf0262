"""What is declared of a tool: the words, who says them, and whose word holds."""

from __future__ import annotations

from typing import Any

import pytest

from stanchion.kernel.actions import Risk
from stanchion.kernel.declared import Declared, sink_values
from stanchion.policy.errors import PolicyError
from stanchion.policy.load import load_policy
from stanchion.policy.loosening.compare import loosenings


def known(tool: str, *said: Declared, **tools: dict[str, Any]) -> tuple[Any, ...]:
    """What a policy with these entries knows of a tool of which the code says this."""
    return tuple(load_policy({"name": "p", "tools": tools}).known(tool, *said))


def test_nobody_says_anything() -> None:
    assert known("pay") == (Risk.MEDIUM, ("content",), ())


def test_the_exact_name_wins_over_a_glob_and_the_longer_glob_over_the_shorter() -> None:
    tools: Any = {
        "*": {"effect": "irreversible", "sinks": ["x"]},
        "pay_*": {"effect": "outward", "result": "records"},
        "pay_fee": {"effect": "read", "annotations": ["once"]},
    }
    assert known("pay_fee", **tools)[1:] == (("read", "once", "content"), ())
    assert known("pay_rent", **tools)[1:] == (("outward", "records"), ())
    assert known("other", **tools)[1:] == (("irreversible", "content"), ("x",))


MILD = Declared(Risk.LOW, "read", "user", ("a",))
STRICT = Declared(Risk.HIGH, "irreversible", "content", ("b",))


@pytest.mark.parametrize("said", [(MILD, STRICT), (STRICT, MILD)])
def test_the_strictest_word_holds_whoever_says_it_and_when(said: tuple[Declared, ...]) -> None:
    risk, traits, sinks = known("pay", *said)
    assert (risk, traits, set(sinks)) == (Risk.HIGH, ("irreversible", "content"), {"a", "b"})


def test_code_is_heard_where_the_policy_says_nothing_and_loosens_nothing_that_it_says() -> None:
    assert known("pay", MILD) == (Risk.LOW, ("read", "user"), ("a",))
    entry: Any = {"effect": "privilege", "sinks": ["to"]}
    assert known("pay", MILD, pay=entry) == (Risk.MEDIUM, ("privilege", "content"), ("a", "to"))
    assert known("pay", STRICT, pay={"effect": "read"})[1] == ("irreversible", "content")


FORMER = [
    ({"annotations": ["read_only"]}, "write `effect: read` in the tool's entry"),
    ({"annotations": ["once", "destructive"]}, "write `effect: irreversible`"),
    ({"annotations": ["irreversible"]}, "write `effect: irreversible`"),
    ({"trust": "web"}, "`result: content` for `untrusted` and `web`"),
    ({"effect": "destructive"}, "did you mean `irreversible`?"),
    ({"result": "untrusted"}, "did you mean `content`?"),
]


@pytest.mark.parametrize(("entry", "instead"), FORMER)
def test_a_former_word_of_a_tool_names_the_one_in_its_place(
    entry: dict[str, Any], instead: str
) -> None:
    with pytest.raises(PolicyError) as error:
        load_policy({"name": "p", "tools": {"pay": entry}})
    assert "tools.pay." in str(error.value)
    assert instead in str(error.value)


@pytest.mark.parametrize(
    ("guard", "instead"),
    [
        ({"use": "rule", "when": "'web' in event.traits"}, "write `'content'`"),
        ({"use": "rule", "when": "not ('read_only' in event.traits)"}, "write `'read'`"),
        ({"use": "recovery", "fatal": ["destructive"]}, "write `irreversible`"),
    ],
)
def test_a_guard_that_asks_for_a_former_word_does_not_load(
    guard: dict[str, Any], instead: str
) -> None:
    """It would wait for a word that nobody says."""
    with pytest.raises(PolicyError) as error:
        load_policy({"name": "p", "guards": [guard]})
    assert instead in str(error.value)


def test_a_word_of_that_kind_in_another_list_is_not_meant() -> None:
    load_policy({"name": "p", "guards": [{"use": "rule", "when": "event.args.kind in ['web']"}]})


CHANGES = [
    ({"effect": "irreversible"}, {"effect": "read"}, ["effect"]),
    ({"effect": "irreversible"}, {}, ["effect"]),
    ({}, {"effect": "read"}, ["effect"]),
    ({}, {"result": "trusted"}, ["result"]),
    ({"result": "records"}, {"result": "user"}, ["result"]),
    ({"result": "user"}, {"result": "content"}, []),
    ({"sinks": ["to", "cc"]}, {"sinks": ["to"]}, ["sinks"]),
    ({"sinks": ["to"]}, {"sinks": ["to", "cc"]}, []),
]


@pytest.mark.parametrize(("old", "new", "loosened"), CHANGES)
def test_a_milder_word_loosens(
    old: dict[str, Any], new: dict[str, Any], loosened: list[str]
) -> None:
    was, now = [load_policy({"name": "p", "tools": {"pay": one}}) for one in (old, new)]
    found = [str(one) for one in loosenings(was, now)]
    assert len(found) == len(loosened)
    assert all(word in said for word, said in zip(loosened, found, strict=True))


def test_an_approval_that_stands_leaves_no_sink_open() -> None:
    approved = {
        "tool": "pay",
        "args": {"amount": 1},
        "patterns": {"to": "shop-*"},
        "guards": ["tools.pay.ask"],
        "agents": ["a"],
        "tasks": ["t"],
        "until": "2099-12-31",
    }
    policy: Any = {"name": "p", "tools": {"pay": {"ask": True}}, "approved": {"x": approved}}
    load_policy(policy)
    policy["tools"]["pay"]["sinks"] = ["to"]
    with pytest.raises(PolicyError, match="`to` says what `pay` acts on"):
        load_policy(policy)


def test_a_sink_may_stand_inside_of_a_mapping() -> None:
    args = {"to": "bob", "message": {"cc": ["eve"]}}
    assert sink_values(("to", "message.cc", "message.cc.x", "none"), args) == {
        "to": "bob",
        "message.cc": ["eve"],
        "message.cc.x": None,
        "none": None,
    }
