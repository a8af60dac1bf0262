"""Comparing policies: what is stricter is known as such, what is not known counts as loosening,
each in a sentence."""

from __future__ import annotations

from typing import Any, Final

import pytest

from stanchion.kernel.option import Stricter
from stanchion.policy.differences import differences
from stanchion.policy.load import load_policy, packs
from stanchion.policy.loosening import guards, loosenings
from stanchion.policy.loosening.compare import NOTHING, TABLES, WHOLE
from stanchion.policy.schema import PolicyFile, ways_of

LIST: Final = {"use": "tool_allowlist", "id": "list"}


def policy(*guards: dict[str, Any], **said: Any) -> dict[str, Any]:
    """A policy with these guards."""
    return {"name": "one", "guards": list(guards), **said}


def rule(**said: Any) -> dict[str, Any]:
    """A policy with one rule."""
    return policy({"use": "rule", **said})


def said(old: Any, new: Any) -> list[str]:
    """What loosens, in words."""
    return [str(each) for each in loosenings(load_policy(old), load_policy(new))]


SECRET: Final = {"hub": {"url": "https://hub.example", "env": "HUB"}}

STRICTER: Final[list[tuple[dict[str, Any], dict[str, Any]]]] = [
    (policy(credentials=SECRET), policy()),
    (policy(door={"hidden_names": "allow"}), policy()),
    (policy(), policy(door={"hidden_names": "refuse", "strict": True, "most_names": 5})),
    (policy({"use": "budget", "tokens": 1000}), policy({"use": "budget", "tokens": 900})),
    (policy({"use": "budget", "tokens": 9}), policy({"use": "budget", "tokens": 9, "calls": 3})),
    (policy({"use": "step_limit"}), policy({"use": "step_limit", "warn_after": 3})),
    (
        policy({"use": "tool_denylist", "tools": ["a"]}),
        policy({"use": "tool_denylist", "tools": ["b", "a"]}),
    ),
    (
        policy({"use": "tool_denylist", "tools": ["a"], "action": "warn"}),
        policy({"use": "tool_denylist", "tools": ["a"]}),
    ),
    (policy({**LIST, "tools": ["a", "b"]}), policy({**LIST, "tools": ["b"]})),
    (policy({**LIST, "undeclared": "allow"}), policy({**LIST, "undeclared": "refuse"})),
    (policy(), policy({"use": "size_limits"})),
    (policy({"use": "size_limits", "mode": "shadow"}), policy({"use": "size_limits"})),
    (policy({"use": "size_limits", "enabled": False}), policy({"use": "size_limits"})),
    (policy({"use": "step_limit", "mode": "shadow"}), policy({"use": "step_limit"})),
    (policy({"use": "size_limits", "fail_open": True}), policy({"use": "size_limits"})),
    (
        policy({"use": "size_limits", "applies_to": {"agents": ["ann"]}}),
        policy({"use": "size_limits"}),
    ),
    (
        policy({"use": "size_limits", "applies_to": {"agents": ["ann"]}}),
        policy({"use": "size_limits", "applies_to": {"agents": ["bob", "ann"]}}),
    ),
    (policy({"use": "secrets"}), policy({"use": "secrets", "at": {"tool_call": "block"}})),
    (policy({"use": "flow"}), policy({"use": "flow", "links": "ask"})),
    (
        policy(
            {"use": "size_limits", "bypass": {"allowed": True, "requires_approval": "architect"}}
        ),
        policy({"use": "size_limits"}),
    ),
    (policy(tools={"pay": {}}), policy(tools={"pay": {"ask": {"above": 9}}})),
    (policy(tools={"pay": {"ask": {"above": 9}}}), policy(tools={"pay": {"ask": {"above": 8}}})),
    (policy(tools={"pay": {"ask": {"above": 9}}}), policy(tools={"pay": {"ask": True}})),
    (policy(mode="shadow"), policy()),
    (policy(), policy(risk={"high": {"strict_marks": True}, "critical": {"strict_marks": True}})),
    (policy(), policy(risk={"high": {"approval": True}})),
    (
        policy({"use": "size_limits"}),
        policy({"use": "size_limits"}, tasks={"t": {"risk": "critical"}}),
    ),
    (
        policy({"use": "size_limits"}, risk={"low": {"active": ["none-*"]}}),
        policy({"use": "size_limits"}, risk={"low": {"active": ["size-*"]}}),
    ),
    (
        policy({"use": "size_limits", "applies_to": {"risks": ["high"]}}),
        policy({"use": "size_limits", "applies_to": {"risks": ["high", "critical"]}}),
    ),
    (
        policy({"use": "size_limits"}, tasks={"t": {"risk": "low"}}, risk={"low": {"active": []}}),
        policy({"use": "size_limits"}, tasks={"t": {"risk": "high"}}, risk={"low": {"active": []}}),
    ),
    (policy(), policy(tools={"pay": {"risk": "critical"}})),
    (
        policy(tools={"p*": {"risk": "high"}}),
        policy(tools={"p*": {"risk": "high"}, "pay": {"risk": "critical"}}),
    ),
    (policy(LIST), policy(LIST, agents={"ann": {"allowed_tools": ["read"]}})),
    (
        policy(LIST, agents={"ann": {"allowed_tools": ["read", "write"]}}),
        policy(LIST, agents={"ann": {"allowed_tools": ["read"]}}),
    ),
    (policy(limits={"warnings": 4}), policy(limits={"warnings": 2})),
    (policy(), policy(escalation={"timeout_s": 60, "roles": ["reviewer", "human_operator"]})),
    (policy(unread="allow"), policy(unread="media")),
    (policy(experience={"tier": "persistent"}), policy(experience={"tier": "process"})),
    (
        policy(experience={"tier": "session", "days": 9}),
        policy(experience={"tier": "session", "days": 8, "rows": 5}),
    ),
    (policy(), {**policy(), "name": "two", "version": "7"}),
    (
        policy({"use": "rule", "when": "event.risk == 'low'"}),
        policy({"use": "rule", "when": "event.risk == 'low'", "message": "no", "log_pass": True}),
    ),
    # A rule that refuses more often, by its numbers and by what is joined.
    (rule(when="event.args.amount > 100"), rule(when="event.args.amount > 10")),
    (
        rule(when="event.args.amount > 100", action="escalate"),
        rule(when="10 < event.args.amount", action="escalate"),
    ),
    (rule(when="event.args.amount > 1.5"), rule(when="event.args.amount >= 1.5")),
    (rule(when="event.args.amount < -5"), rule(when="event.args.amount < -4")),
    (rule(check="event.args.amount <= 100"), rule(check="event.args.amount <= 50")),
    (
        rule(check="event.args.amount <= 100"),
        rule(check="event.args.amount <= 100 and event.args.to == 'ann'"),
    ),
    (
        rule(check="event.risk == 'low' or event.risk == 'medium'"),
        rule(check="event.risk == 'low'"),
    ),
    (
        rule(when="event.risk == 'low' and event.args.amount > 9"),
        rule(when="event.args.amount > 9"),
    ),
    (
        rule(when="event.risk == 'low'"),
        rule(when="event.risk == 'low' or not (event.args.amount < 3)"),
    ),
    (rule(when="not (event.args.amount < 3)"), rule(when="not (event.args.amount < 2)")),
    (
        rule(when="event.risk == 'low'", check="event.args.amount < 3"),
        rule(when="event.risk == 'low'"),
    ),
]


@pytest.mark.parametrize("pair", STRICTER, ids=lambda pair: str(pair[1])[:60])
def test_what_is_stricter_loosens_nothing_and_its_reverse_does(pair: tuple[Any, Any]) -> None:
    """Each pair is known in both directions; names and words are neutral in both."""
    old, new = pair
    assert said(old, new) == []
    changes = differences(load_policy(old), load_policy(new))
    words = {"name", "version", "message", "log_pass"}
    if any(set(change.values) - words or not change.values for change in changes):
        assert said(new, old)


LOOSER: Final[list[tuple[dict[str, Any], dict[str, Any], str]]] = [
    (
        policy({"use": "budget", "tokens": 1000}),
        policy({"use": "budget", "tokens": 5000}),
        "guard `budget`: tokens 1000 → 5000",
    ),
    (policy({"use": "size_limits"}), policy(), "guard `size-limits`: it is gone"),
    (policy(), policy(credentials=SECRET), "policy: credentials [] → [hub {"),
    (policy(), policy(door={"opaque": ["hub.example:22"]}), "policy: door.opaque [] → ["),
    (policy(), policy(door={"hidden_names": "allow"}), "policy: door.hidden_names none → allow"),
    (
        policy({"use": "size_limits"}),
        policy({"use": "size_limits", "mode": "shadow"}),
        "enforced → shadow",
    ),
    (
        policy({"use": "size_limits"}),
        policy({"use": "size_limits", "priority": 90}),
        "priority 2 → 90",
    ),
    (
        policy({"use": "secrets"}),
        policy({"use": "secrets", "action": "warn"}),
        "action redact → warn",
    ),
    # What is redacted goes ahead without the secret; with a person's yes it would go ahead with it.
    (
        policy({"use": "secrets"}),
        policy({"use": "secrets", "action": "escalate"}),
        "action redact → escalate",
    ),
    # An agent's own list and the guard's count together.
    (policy(LIST), policy({**LIST, "tools": ["a"]}), "tools none → [a]"),
    (
        policy({**LIST, "undeclared": "refuse"}),
        policy({**LIST, "undeclared": "refuse"}, agents={"ann": {"allowed_tools": ["pay"]}}),
        "agent `ann`: allowed_tools none → [pay]",
    ),
    *[
        (
            policy(tools={"pay": {"ask": old}}),
            policy(tools={"pay": {"ask": new}}),
            "tool `pay`: ask ",
        )
        for old, new in (
            (True, False),
            (True, {"above": 9}),
            ({"above": 9}, {"above": 10}),
            ({"above": 9}, {"above": 9, "of": "event.args.n"}),
            ({"by": ["finance"]}, {"by": ["finance", "helper"]}),
            ({"by": ["finance"]}, True),
        )
    ],
    # A closer entry stands in the place of a wider one.
    (
        policy(tools={"p*": {"risk": "critical"}}),
        policy(tools={"p*": {"risk": "critical"}, "pay": {"risk": "high"}}),
        "tool `pay`: risk critical → high",
    ),
    (
        policy(tools={"p*": {"risk": "critical"}}),
        policy(tools={"p*": {"risk": "critical"}, "pa*": {"timeout_s": 3}}),
        "tool `pa*`: risk critical → medium",
    ),
    # At a level guards may be missing, and a guard may be for lower levels alone.
    (
        policy({"use": "size_limits"}, risk={"low": {"active": []}}),
        policy({"use": "size_limits"}, risk={"low": {"active": []}}, tasks={"t": {"risk": "low"}}),
        "task `t`: risk none → low",
    ),
    (
        policy(
            {"use": "size_limits", "applies_to": {"risks": ["low"]}}, tasks={"t": {"risk": "low"}}
        ),
        policy(
            {"use": "size_limits", "applies_to": {"risks": ["low"]}}, tasks={"t": {"risk": "high"}}
        ),
        "task `t`: risk low → high",
    ),
    # A rule may refuse for what is less dangerous.
    (
        policy({"use": "rule", "when": "event.risk == 'medium'"}),
        policy({"use": "rule", "when": "event.risk == 'medium'"}, tools={"pay": {"risk": "high"}}),
        "tool `pay`: risk medium → high",
    ),
    (
        policy({"use": "rule", "when": "event.risk == 'low'"}),
        policy({"use": "rule", "when": "event.risk == 'low' and agent.id == 'ann'"}),
        "guard `rule`: when event.risk == 'low' → event.risk == 'low' and agent.id == 'ann'",
    ),
    # A refusal in front hides what would end the run.
    (
        policy({"use": "canary", "action": "halt"}),
        policy({"use": "canary", "action": "halt"}, {"use": "tool_denylist", "tools": ["*"]}),
        "it may now refuse before guard `canary`, which answers halt",
    ),
    # Two guards that keep one memory.
    (
        policy({"use": "loops"}),
        policy({"use": "loops"}, {"use": "loops", "id": "more"}),
        "it writes what guard `loops`",
    ),
    (policy(), policy({"use": "recovery"}), "`recovery` does more than refuse"),
    (policy(), policy({"use": "python", "call": "os:getcwd"}), "`python` does more than refuse"),
    # A list that finds more with a milder answer may stand in the place of a severe one.
    (
        policy({"use": "files", "action": "warn"}),
        policy({"use": "files", "action": "warn", "deny": [".env"]}),
        "guard `files`: deny [] → [.env]",
    ),
    (policy(), policy(escalation={"roles": ["human_operator", "reviewer"]}), "escalation.roles"),
    (
        policy(prices={"m": {"input_usd_per_mtok": 2, "output_usd_per_mtok": 2}}),
        policy(prices={"m": {"input_usd_per_mtok": 1, "output_usd_per_mtok": 2}}),
        "price `m`",
    ),
]


@pytest.mark.parametrize(("old", "new", "words"), LOOSER, ids=[words for _, _, words in LOOSER])
def test_what_may_let_more_through_is_told(old: Any, new: Any, words: str) -> None:
    """Each in one sentence that names it."""
    found = said(old, new)
    assert len(found) == 1
    assert words in found[0]


def test_what_a_guard_does_not_declare_loosens(monkeypatch: pytest.MonkeyPatch) -> None:
    """A change of an option of which nothing is said, and the adding of a guard that says nothing
    at all."""
    old = policy({"use": "size_limits", "max_chars": 9, "max_depth": 9})
    new = policy({"use": "size_limits", "max_chars": 8, "max_depth": 9})
    assert said(old, new) == []
    ways = ways_of("size_limits")
    fewer = {name: way for name, way in ways.items() if name == "max_depth"}
    monkeypatch.setattr(guards, "ways_of", lambda _: fewer)
    assert said(old, new) == ["guard `size-limits`: max_chars 9 → 8"]
    monkeypatch.setattr(guards, "ways_of", lambda _: dict.fromkeys(ways, Stricter.SAME))
    assert said(policy(), new) == [
        "guard `size-limits`: added, and `size_limits` does more than refuse"
    ]


def test_every_key_of_a_policy_states_which_way_it_becomes_stricter() -> None:
    """What a policy says besides guards and prices, down to the keys of its tables."""
    kept = {path.partition(".")[0] for path in WHOLE} | set(TABLES) | {"guards", "prices"}
    assert kept == {*PolicyFile.__struct_fields__}
    for table, keys in TABLES.items():
        fields = NOTHING[table].__struct_fields__
        assert {key.partition(".")[0] for key in keys} == {*fields}
    for name in ("limits", "escalation", "experience"):
        fields = type(getattr(PolicyFile("x"), name)).__struct_fields__
        assert {path for path in WHOLE if path.startswith(f"{name}.")} == {
            f"{name}.{field}" for field in fields
        }


@pytest.mark.parametrize("name", packs())
def test_a_policy_loosens_nothing_of_itself(name: str) -> None:
    """And a policy without any guard loosens all that refuses."""
    assert said(name, name) == []
    if name != "shadow-start":
        assert said(name, policy())
