"""Linting finds what cannot be meant, says where, and leaves alone what can."""

import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from stanchion import PolicyError, Shield
from stanchion.policy.lint import Remark, lint
from stanchion.policy.load import load_policy, packs
from stanchion.policy.nearest import KnownNames
from stanchion.policy.reach import reach_of, silenced, stops
from stanchion.policy.starter import starter
from tests.sampling import some

AGENTS = {"imp-*": {"role": "implementer"}, "tester": {"role": "tester"}}


def rule(when: str, **more: Any) -> dict[str, Any]:
    """A rule; `r` unless it has an id."""
    return {"use": "rule", "id": "r", "when": when, **more}


MARKS = {"count_marks": True}
"""Limits of a policy in which marks count towards the third warning."""


def remarks(*guards: dict[str, Any], **more: Any) -> list[Remark]:
    """What is said of a policy with these guards, besides that it has none."""
    found = lint({"name": "p", "guards": list(guards), **more}).remarks
    return [each for each in found if each.code != "unguarded"]


def codes(*guards: dict[str, Any], **more: Any) -> list[tuple[str, str, str]]:
    """Codes, how sure they are, and the paths of the places."""
    return [
        (each.code, each.sure, each.place.removeprefix("policy: "))
        for each in remarks(*guards, **more)
    ]


def takes(**types: str) -> dict[str, Any]:
    """The schema of a tool with these arguments."""
    return {"type": "object", "properties": {name: {"type": of} for name, of in types.items()}}


REFUND = {"refund": takes(order_id="string", total="number")}
TWO = {**REFUND, "pay": takes(amount="integer")}


@pytest.mark.parametrize(
    ("guard", "tools", "says"),
    [
        (rule("event.args.amount > 50"), REFUND, "`refund` does not have; it takes `order_id`"),
        (rule("event.args.amuont > 5"), TWO, "none of `refund`, `pay` has"),
        (rule("event.tool == 'refund' and event.args.amount > 5"), TWO, "`refund` does not have"),
        (rule("true", check="has(event.args.sum)"), REFUND, "reads `event.args.sum`"),
        (rule("event.args.order_id > 50"), REFUND, "does not fit the arguments of `refund`"),
        (rule("event.args.total == '50'"), REFUND, "does not fit the arguments of `refund`"),
        (rule("event.args.total.matches('5')"), REFUND, "does not fit the arguments of `refund`"),
        (
            {"use": "sequence", "id": "r", "count": {"tool": "refund", "when": "event.args.n > 1"},
             "at_most": 1},
            TWO,
            "reads `event.args.n`",
        ),
    ],
)  # fmt: skip
def test_a_rule_that_fits_none_of_its_tools_is_told(
    guard: dict[str, Any], tools: dict[str, Any], says: str
) -> None:
    (remark,) = lint({"name": "p", "guards": [guard]}, tools=tools).remarks
    assert (remark.code, remark.sure) == ("arguments", "likely")
    assert says in remark.message
    assert remark.place.startswith("policy: guards[0].")
    written = {name: {"schema": schema} for name, schema in tools.items()}
    both = remarks(guard, {"use": "schema"}, tools=written)
    assert [each.code for each in both] == ["arguments"]


@pytest.mark.parametrize(
    ("guard", "tools"),
    [
        (rule("event.args.total > 50"), REFUND),
        (rule("event.args.total + 1 > 50 and event.args.total * 1.5 < 3.0"), {}),
        (rule("event.args.total + 1 > 50"), REFUND),
        (rule("event.args.amount > 50"), TWO),
        (rule("event.args.amount > 50", applies_to={"tools": ["other"]}), REFUND),
        (rule("event.args.amount > 50"), {"refund": {"type": "object"}}),
        (rule("event.args.amount > 50"), {"refund": {**takes(n="integer"), "$ref": "#/x"}}),
        (rule("event.args.n > 5"), {"a": takes(n="integer"), "b": takes(n="string")}),
        (rule("event.args.n > 5"), {"a": {"properties": {"n": {"type": ["integer", "null"]}}}}),
        (rule("event.args.n == null"), {"a": takes(n="string")}),
        (rule("event.args['order-id'] == 'a'"), {"a": takes(**{"order-id": "string"})}),
    ],
)
def test_a_rule_that_fits_one_of_its_tools_is_not(
    guard: dict[str, Any], tools: dict[str, Any]
) -> None:
    assert lint({"name": "p", "guards": [guard]}, tools=tools).remarks == ()


def test_a_tool_that_asks_about_what_it_does_not_take_is_told() -> None:
    policy = {"name": "p", "tools": {"refund": {"ask": {"above": 9}}}}
    (remark,) = lint(policy, tools=REFUND).remarks
    assert "`tools.refund.ask` reads `event.args.amount`" in remark.message
    assert remark.place == "policy: tools.refund.ask"


def test_a_policy_without_guards_is_not_clean() -> None:
    off = {"use": "size_limits", "enabled": False}
    for policy in ({"name": "p"}, {"name": "p", "guards": [off]}):
        found = lint(policy)
        assert not found.clean
        assert "unguarded" in [each.code for each in found.remarks]


@pytest.mark.parametrize("pack", packs())
def test_packs_are_clean(pack: str) -> None:
    remarks = [one.code for one in lint(pack).remarks]
    assert remarks == (["shadow"] if pack == "shadow-start" else [])


def test_the_starter_is_clean(tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").write_text(starter(), encoding="utf-8")
    linted = lint(tmp_path / "policy.yaml")
    assert linted.remarks == ()
    assert set(linted.checked) == {None, "trial"}


@pytest.mark.parametrize(
    ("guard", "code", "place"),
    [
        (rule("agent.role == 'a' and agent.role == 'b'"), "contradiction", "when"),
        (rule("event.args.x == 'a' and event.args.x in ['b', 'c']"), "contradiction", "when"),
        (rule("true", check="task.id == 'a' and task.id == 'b'"), "contradiction", "check"),
        (
            rule("action.tool_name == 'a'", applies_to={"tools": ["b", "c*"]}),
            "contradiction",
            "applies_to.tools",
        ),
        (
            rule("event.tool == 'a'", applies_to={"tools": ["b"]}),
            "contradiction",
            "applies_to.tools",
        ),
        (
            rule("agent.id == 'a'", applies_to={"agents": ["b"]}),
            "contradiction",
            "applies_to.agents",
        ),
        (rule("event.stage == 'prompt'"), "unreachable", "when"),
        (rule("action.type == 'prompt'"), "unreachable", "when"),
        (rule("action.type == 'file_write'", stages=["egress"]), "unreachable", "when"),
        (rule("event.text.contains('x')"), "unreachable", "when"),
        (
            rule("true", check="event.url == 'x'", stages=["prompt", "tool_call"]),
            "unreachable",
            "check",
        ),
        (rule("action.command == 'x'", stages=["prompt"]), "unreachable", "when"),
    ],
    ids=str,
)
def test_a_rule_that_never_applies_is_certain(guard: dict[str, Any], code: str, place: str) -> None:
    assert codes(guard) == [(code, "certain", f"guards[0].{place}")]


@pytest.mark.parametrize(
    "guard",
    [
        rule("agent.role == 'a' or agent.role == 'b'"),
        rule("event.args.x == 'a' and event.args.y == 'b'"),
        rule("action.tool_name == 'cat'", applies_to={"tools": ["b", "c*"]}),
        rule("event.stage == 'prompt'", stages=["prompt", "tool_call"]),
        rule("action.type == 'http'"),
        rule("action.type == 'http'", stages=["egress"]),
        rule("event.text.contains('x')", stages=["prompt", "tool_call"]),
        rule("action.command == 'x'", stages=["error"]),
        rule("event.risk == 'high' and event.traits.exists(t, t == 'web')"),
    ],
    ids=str,
)
def test_a_rule_that_can_apply_is_left_alone(guard: dict[str, Any]) -> None:
    assert codes(guard) == []


def test_a_role_that_no_agent_has_is_likely() -> None:
    (found,) = remarks(rule("agent.role == 'implementr'"), agents=AGENTS)
    assert (found.code, found.sure) == ("unreachable", "likely")
    assert found.advice == "did you mean `implementer`?"
    assert codes(rule("agent.role == 'implementr'")) == []
    assert codes(rule("agent.role in ['nobody', 'tester']"), agents=AGENTS) == []
    assert codes(rule("agent.role == ''"), agents=AGENTS) == []


BLOCKER = rule("event.args.x.contains('a')", id="wide")


@pytest.mark.parametrize(
    ("wide", "narrow"),
    [
        (BLOCKER, rule("event.args.x.contains('a')", action="escalate", priority=101)),
        (BLOCKER, rule("agent.role == 'a' and event.args.x.contains('a')", priority=101)),
        (BLOCKER, rule("event.args.x.contains('a') && agent.role == 'a'", applies_to={"tools": ["t*"]}, priority=101)),  # noqa: E501
        (rule("agent.role in ['a', 'b']", id="wide"), rule("agent.role == 'a' "
                                                           "and task.id == 't'", priority=101)),
        (rule("true", id="wide", check="task.id == 't'"),
         rule("agent.id == 'a'", check="task.id == 't'", priority=101)),
        (rule("event.args.x == 'a'", id="wide", applies_to={"tools": ["t", "u"]}),
         rule("event.args.x == 'a' and action.tool_name == 't'", priority=101)),
        ({"use": "tool_denylist", "id": "wide", "tools": ["rm", "sudo*"]},
         rule("action.tool_name in ['rm', 'sudo_x']")),
        ({"use": "tool_denylist", "id": "wide", "tools": ["rm"]}, rule("event.tool == 'rm'", check="task.id == 'x'")),  # noqa: E501
        ({"use": "tool_denylist", "id": "wide", "tools": ["rm"]},
         {"use": "tool_denylist", "id": "r", "tools": ["rm"], "priority": 9, "action": "halt"}),
        ({"use": "safe_mode", "id": "wide"}, rule("event.args.x == 1")),
    ],
    ids=str,
)  # fmt: skip
def test_a_guard_behind_one_that_stops_all_it_concerns_is_never_reached(
    wide: dict[str, Any], narrow: dict[str, Any]
) -> None:
    (found,) = [each for each in remarks(wide, narrow) if each.code == "shadowed"]
    assert found.sure == "certain"
    assert found.place == "policy: guards[1]"
    assert "`wide` (policy: guards[0]) stops everything that it applies to" in found.message


@pytest.mark.parametrize(
    ("wide", "narrow"),
    [
        (BLOCKER, rule("event.args.x.contains('a')", priority=99)),
        (BLOCKER | {"action": "escalate"}, rule("event.args.x.contains('a')", priority=101)),
        (BLOCKER | {"mode": "shadow"}, rule("event.args.x.contains('a')", priority=101)),
        (BLOCKER | {"check": "task.id == 't'"}, rule("event.args.x.contains('a')", priority=101)),
        (BLOCKER | {"applies_to": {"tools": ["t"]}}, rule("event.args.x.contains('a')", priority=101)),  # noqa: E501
        (BLOCKER, rule("event.args.x.contains('a') or agent.role == 'a'", priority=101)),
        (BLOCKER, rule("event.args.x.contains('a')", stages=["tool_call", "tool_result"], priority=101)),  # noqa: E501
        (rule("agent.role == 'a'", id="wide"), rule("agent.role in ['a', 'b']", priority=101)),
        (rule("event.args.x == true", id="wide"), rule("event.args.x == 1", priority=101)),
        ({"use": "tool_denylist", "id": "wide", "tools": ["rm", "x*"]}, rule("action.tool_name in "
                                                                             "['rm', 'y']")),
        ({"use": "tool_denylist", "id": "wide", "tools": ["rm*"]}, rule("true", check="task.id == 't'",  # noqa: E501
                                                                       applies_to={"tools": ["r*"]})),  # noqa: E501
    ],
    ids=str,
)  # fmt: skip
def test_a_guard_that_can_be_reached_is_left_alone(
    wide: dict[str, Any], narrow: dict[str, Any]
) -> None:
    assert ("shadowed", "certain", "guards[1]") not in codes(wide, narrow)


PARTS = [
    "agent.role == 'a'",
    "agent.role in ['a', 'b']",
    "task.id == 't'",
    "event.args.x.contains('a')",
    "event.args.y == 1",
]


def drawn(chance: Random, number: int) -> dict[str, Any]:
    """A guard among a few that are often alike."""
    if chance.random() < 0.3:
        tools = chance.sample(["t", "u", "t*"], chance.randrange(1, 3))
        return {"use": "tool_denylist", "id": f"g{number}", "tools": tools, "priority": number}
    when = " and ".join(chance.sample(PARTS, chance.randrange(1, 4)))
    scope = (
        {"applies_to": {"tools": chance.sample(["t", "u"], chance.randrange(1, 3))}}
        if chance.random() < 0.3
        else {}
    )
    check = {"check": chance.choice(PARTS)} if chance.random() < 0.2 else {}
    action = chance.choice(["block", "block", "escalate"])
    return {
        "use": "rule",
        "id": f"g{number}",
        "when": when,
        "action": action,
        "priority": number,
        **scope,
        **check,
    }


def test_the_index_finds_what_comparing_all_pairs_finds_and_it_is_true() -> None:
    found_any = 0
    seeds = some(range(120), 6, "index")
    for seed in seeds:
        chance = Random(seed)
        guards = [drawn(chance, number) for number in range(8)]
        shield = Shield.load({"name": "p", "guards": guards})
        seats = shield.policy.seats
        silent = {seat.placed.id for seat, _ in silenced(seats)}
        pairs = [
            (wide, seat) for at, seat in enumerate(seats) for wide in seats[:at] if stops(wide)
        ]
        assert silent == {
            seat.placed.id for wide, seat in pairs if reach_of(wide).covers(reach_of(seat))
        }
        found_any += len(silent)
        for _ in range(40):
            run = shield.run("a", chance.choice(["t", "s"]), role=chance.choice(["a", "b", ""]))
            args = {"x": chance.choice(["a", "b"]), "y": chance.choice([1, 2])}
            decision = run.check(chance.choice(["t", "u", "tu"]), args)
            assert not silent & {finding.guard for finding in decision.findings}, (seed, guards)
    assert found_any > len(seeds) // 3


def test_names_that_are_one_slip_away_are_likely_misspelt() -> None:
    tools: Any = {"write_file": {"risk": "high"}, "read_file": {"risk": "low"}}
    deny = {"use": "tool_denylist", "tools": ["wirte_file", "format_disk"]}
    assert codes(deny, tools=tools) == [("misspelt", "likely", "guards[0].tools")]
    narrow = rule("event.risk == 'high'", applies_to={"tools": ["Read-File"], "agents": ["testr"]})
    found = remarks(narrow, tools=tools, agents=AGENTS)
    assert {(each.code, each.advice) for each in found} == {
        ("misspelt", "did you mean `read_file`?"),
        ("misspelt", "did you mean `tester`?"),
    }
    assert codes(rule("action.tool_name == 'raed_file'"), tools=tools) == [
        ("misspelt", "likely", "guards[0].when")
    ]


@pytest.mark.parametrize(
    ("known", "name"),
    [
        ("read_file", "read_files"),
        ("worker-1", "worker-2"),
        ("get_user", "set_user"),
        ("cat", "cut"),
        ("search", "research_more"),
    ],
)
def test_two_names_are_not_one_and_a_slip(known: str, name: str) -> None:
    assert KnownNames([known]).meant(name) is None
    assert KnownNames([name]).meant(known) is None


def test_an_agent_that_is_not_declared_is_worth_knowing() -> None:
    guard = rule(
        "event.risk == 'high'", applies_to={"agents": ["imp-1", "someone"], "tasks": ["any"]}
    )
    assert codes(guard, agents=AGENTS) == [("undeclared", "info", "guards[0].applies_to.agents")]
    assert codes(guard) == []


def test_declarations_that_nothing_uses() -> None:
    more: Any = {
        "roles": {"ghost": {}, "tester": {"capabilities": ["fly"]}},
        "agents": {"tester": {"role": "tester"}, "idle": {}, "x-*": {"role": "tester"}, "x-1": {}},
        "tasks": {"nothing": {}},
        "tools": {"plain": {"risk": "medium"}, "web": {"result": "trusted"}},
    }
    assert set(codes(**more)) == {
        ("unused", "likely", "roles.ghost"),
        ("unused", "likely", "roles.tester.capabilities"),
        ("unused", "certain", "agents.idle"),
        ("unused", "certain", "tasks.nothing"),
        ("unused", "certain", "tools.plain"),
    }
    reading = rule("'fly' in agent.capabilities")
    assert ("unused", "likely", "roles.tester.capabilities") not in codes(reading, **more)


@pytest.mark.parametrize(
    ("guard", "place"),
    [
        ({"use": "tool_denylist", "tools": ["*"], "action": "warn"}, "action"),
        (rule("event.stage == 'tool_call'", action="warn"), "action"),
        ({"use": "step_limit", "max_steps": 9, "warn_after": 6}, "warn_after"),
    ],
    ids=str,
)
def test_warnings_that_everybody_gets(guard: dict[str, Any], place: str) -> None:
    assert codes(guard, limits=MARKS) == [("always_warns", "certain", f"guards[0].{place}")]
    mark = place == "warn_after"
    assert codes(guard, limits={**MARKS, "warnings": 4})[:1] == ([] if mark else codes(guard))
    assert codes(guard) == ([] if mark else codes(guard, limits=MARKS))
    run = Shield.load({"name": "p", "limits": MARKS, "guards": [guard]}).run("a", "t")
    said = [run.check("tool", {}).action.name for _ in range(9)]
    assert "ESCALATE" in said


def test_some_warnings_are_left_alone() -> None:
    assert codes({"use": "step_limit", "max_steps": 9, "warn_after": 7}, limits=MARKS) == []
    assert (
        codes(
            {
                "use": "tool_denylist",
                "tools": ["*"],
                "action": "warn",
                "applies_to": {"agents": ["a"]},
            }
        )
        == []
    )
    assert codes(rule("event.risk == 'high'", action="warn")) == []


def budget(**options: Any) -> dict[str, Any]:
    """A budget's entry; an action that nobody estimates takes nothing of it, and its author
    knows."""
    reserved = {f"reserve_{name}": 0 for name in ("tokens", "cost_usd") if name in options}
    return {"use": "budget", **options, **reserved}


@pytest.mark.parametrize(
    ("guard", "says", "advice"),
    [
        (
            budget(tokens=100, warn_at=1),
            (
                "`budget` warns from the first on: 1 token is all that `warn_at: 1` of `tokens` "
                "takes, and warning 3"
            ),
            "give a larger `warn_at`, or leave it out",
        ),
        (
            budget(cost_usd=0.0001, warn_at=0.5, window_s=60, per="tenant"),
            (
                "`budget` warns from the first on: $0.000001 is all that `warn_at: 0.5` of "
                "`cost_usd` takes, and warning 3"
            ),
            "give a larger `warn_at`, or leave it out",
        ),
        (
            budget(calls=9, warn_at=60, per="task"),
            (
                "call 8 already waits for a person: each call from 6 on warns by `warn_at: 60` of "
                "`calls`, and warning 3"
            ),
            "let `warn_at` be 78 or more, or raise `limits.warnings`",
        ),
        (
            budget(calls=100, warn_at=80, escalate_at=95, reach="refused"),
            (
                "call 82 already waits for a person: each call from 80 on warns by `warn_at: 80` "
                "of `calls`, and warning 3"
            ),
            "let `warn_at` be 93 or more, or raise `limits.warnings`",
        ),
        (
            {"use": "time_limit", "max_s": 60, "warn_at": 0.001},
            (
                "`time-limit` warns from the first on: `warn_at: 0.001` is reached within a "
                "millisecond, and warning 3"
            ),
            "give a larger `warn_at`, or leave it out",
        ),
        (
            {"use": "time_limit", "max_s": 60, "estimate_s": 30, "warn_at": 50, "escalate_at": 90},
            (
                "`time-limit` warns from the first on: `warn_at: 50` is reached with `estimate_s` "
                "alone, and warning 3"
            ),
            "give a larger `warn_at` or a smaller `estimate_s`, or leave it out",
        ),
    ],
    ids=str,
)
def test_marks_that_everybody_reaches(guard: dict[str, Any], says: str, advice: str) -> None:
    assert [one for one in remarks(guard) if one.code != "unit"] == []
    (found,) = [one for one in remarks(guard, limits=MARKS) if one.code != "unit"]
    assert (found.code, found.sure, found.place) == (
        "always_warns",
        "certain",
        "policy: guards[0].warn_at",
    )
    assert (found.message, found.advice) == (f"{says} of a task waits for a person", advice)


def test_what_a_mark_of_calls_is_said_to_do_is_what_it_does() -> None:
    """The call that is named is the first that waits, and a mark that is as late as advised lets
    all of them go."""
    for limit, at, more in (
        (9, 60, {}),
        (20, 50, {"escalate_at": 90}),
        (12, 30, {"reach": "refused"}),
        (7, 1, {}),
    ):
        (found,) = remarks(budget(calls=limit, warn_at=at, **more), limits=MARKS)
        entry = budget(calls=limit, warn_at=at, **more)
        run = Shield.load({"name": "p", "limits": MARKS, "guards": [entry]}).run("a", "t")
        said = [run.check("tool", {}).action.name for _ in range(limit)]
        first = said.index("ESCALATE") + 1
        if "already waits" in found.message:
            assert found.message.startswith(f"call {first} already waits")
            least = int(found.advice.split("let `warn_at` be ")[1].split()[0])
            assert codes(budget(calls=limit, warn_at=least, **more), limits=MARKS) == []
        else:
            assert (at, first) == (1, 3)


def test_a_budget_of_nothing_that_only_warns_warns_about_every_call() -> None:
    guard = budget(tokens=0, action="warn")
    assert codes(guard) == [("always_warns", "certain", "guards[0].action")]
    run = Shield.load({"name": "p", "guards": [guard]}).run("a", "t")
    assert [run.check("tool", {}).action.name for _ in range(3)] == ["WARN", "WARN", "ESCALATE"]


@pytest.mark.parametrize(
    "guard",
    [
        budget(tokens=1000, warn_at=80, escalate_at=95),
        budget(tokens=2, warn_at=50),
        budget(tokens=10, warn_at=1, escalate_at=10),
        budget(calls=9, warn_at=78),
        budget(calls=100, warn_at=50, per="tenant"),
        budget(calls=100, warn_at=50, window_s=60),
        budget(tokens=100, warn_at=1, mode="shadow"),
        budget(tokens=5, action="warn"),
        {"use": "time_limit", "max_s": 60, "warn_at": 50},
        {"use": "time_limit", "max_s": 60, "estimate_s": 29, "warn_at": 50},
        {"use": "time_limit", "max_s": 60, "estimate_s": 55, "warn_at": 50, "escalate_at": 90},
    ],
    ids=str,
)
def test_marks_that_come_in_time_are_left_alone(guard: dict[str, Any]) -> None:
    assert [each for each in codes(guard, limits=MARKS) if each[0] != "shadow"] == []


def test_what_only_watches_or_is_switched_off_is_worth_knowing() -> None:
    guards = ({"use": "step_limit", "mode": "shadow"}, {"use": "size_limits", "enabled": False})
    assert codes(*guards) == [
        ("shadow", "info", "guards[0].mode"),
        ("disabled", "info", "guards[1].enabled"),
    ]
    assert lint({"name": "p", "guards": list(guards)}).clean
    assert codes(mode="shadow") == [("shadow", "info", "mode")]


def test_every_environment_is_looked_at_and_named() -> None:
    policy = {
        "name": "p",
        "roles": {"ghost": {}},
        "guards": [rule("event.risk == 'high'")],
        "environments": {
            "live": {"guards": [{"id": "r", "when": "event.text == 'x'"}]},
            "trial": {"agents": {"a": {"role": "ghost"}}},
        },
    }
    (found,) = lint(policy).remarks
    assert (found.code, found.env) == ("unreachable", "live")
    assert "(in environment `live`)" in str(found)
    assert {(each.code, each.env) for each in lint(policy, "live").remarks} == {
        ("unused", None),
        ("unreachable", None),
    }
    with pytest.raises(PolicyError, match="there is no environment `liv`: did you mean `live`"):
        lint(policy, "liv")


def test_faults_of_all_environments_come_at_once() -> None:
    live = {"guards": [{"id": "r", "when": "agent.role = 'x'"}]}
    with pytest.raises(PolicyError) as raised:
        lint({"name": "p", "guards": [rule("agent.rol == 'x'")], "environments": {"live": live}})
    assert [fault.place for fault in raised.value.faults] == [
        "policy: guards[0].when",
        "policy: environments.live.guards[0].when",
    ]


def test_a_guard_is_found_among_many_that_ask_for_the_same() -> None:
    many = [
        rule(f"agent.role == 'a' and event.args.y.contains('{n}')", id=f"r{n}") for n in range(200)
    ]
    late = rule(
        "agent.role == 'a' and event.args.y.contains('150') and event.args.z == 1",
        id="late",
        priority=101,
    )
    assert [(each.code, each.place) for each in remarks(*many, late)] == [
        ("shadowed", "policy: guards[200]")
    ]


def calls_of_lint(count: int) -> int:
    """How many functions are called to look over a policy of so many rules, loading it left out."""
    rules = [
        rule(
            f"agent.role == 'r{n % 7}' and event.args.x == 'v{n % 50}' and "
            f"event.args.y.contains('{n}')",
            id=f"r{n}",
        )
        for n in range(count)
    ]
    policy = {
        "name": "p",
        "agents": {f"a{n}": {"role": f"r{n}"} for n in range(7)},
        "guards": rules,
    }
    calls = [0, 0]
    works: tuple[Callable[..., Any], ...] = (load_policy, lint)
    for at, work in enumerate(works):

        def count_call(_frame: Any, event: str, _arg: Any, at: int = at) -> None:
            calls[at] += event == "call"

        sys.setprofile(count_call)
        try:
            work(policy)
        finally:
            sys.setprofile(None)
    return calls[1] - calls[0]


def test_the_work_grows_with_the_rules_and_not_with_their_pairs() -> None:
    assert calls_of_lint(400) < 5 * calls_of_lint(100)


def test_a_guard_that_looks_agents_up_reads_their_entries_and_capabilities() -> None:
    tables = {
        "roles": {"reviewer": {"capabilities": ["review"]}},
        "agents": {"ann": {}, "rob": {"role": "reviewer"}},
    }
    assert remarks({"use": "handoff"}, **tables) == []
    assert [each.sure for each in remarks(**tables)] == ["likely", "certain"], (
        "without it nobody does"
    )
    assert [each.code for each in remarks({"use": "capabilities"}, **tables)] == ["unused"], (
        "the entry of `ann` alone"
    )


ACTING = {
    "send_mail": {"type": "object", "properties": {"to": {}}},
    "frobnicate": {"type": "object"},
    "get_mail": {"type": "object"},
}


def undeclared(policy: dict[str, Any], schemas: dict[str, Any] = ACTING) -> list[str]:
    found = lint({"name": "p", **policy}, tools=schemas).remarks
    return [str(each) for each in found if each.code == "effect"]


FLOW = {"use": "flow"}


def test_tools_that_act_and_of_which_nobody_says_so_are_named() -> None:
    (said,) = undeclared({"guards": [FLOW]})
    assert "which seem to act: `frobnicate`, `send_mail`: give each an `effect`" in said
    assert said.startswith("policy: guards[0]")
    (said,) = undeclared(
        {"guards": [FLOW], "tools": {"send_*": {"effect": "outward"}, "get_mail": {"risk": "low"}}}
    )
    assert "act: `frobnicate`:" in said
    (said,) = undeclared({"guards": [rule("'irreversible' in event.traits")]})
    assert "until then `r` goes by their names" in said
    many: dict[str, Any] = {f"send_{at}": {} for at in range(30)}
    (said,) = undeclared({"guards": [FLOW]}, many)
    assert "`send_17` and 20 more: give" in said


def test_a_policy_that_does_not_ask_what_tools_do_or_says_it_of_all_hears_nothing_of_it() -> None:
    assert undeclared({"guards": [{"use": "step_limit"}]}) == []
    assert undeclared({"guards": [FLOW], "tools": {"*": {"effect": "outward"}}}) == []
    assert undeclared({"guards": [FLOW]}, {"get_mail": {}, "search": {}}) == []
