"""What a policy approves for a time: nobody is asked about that call, and about everything else
somebody still is."""

from __future__ import annotations

from typing import Any, Final

import pytest

from stanchion import Action, PolicyError
from stanchion.kernel.events import Moment, RunInfo, ToolCall
from stanchion.policy.load import load_policy
from stanchion.policy.loosening import loosenings
from stanchion.testing import FakeClock, shield_for

DAY_MS: Final = 86_400_000
LAST_DAY_MS: Final = 1_799_539_200_000
"""When 2027-01-10 begins."""
ASKS: Final = {
    "use": "tool_denylist",
    "id": "ask-first",
    "tools": ["pay", "tell"],
    "action": "escalate",
}
SMALL: Final[dict[str, Any]] = {
    "tool": "pay",
    "args": {"amount": 5},
    "guards": ["ask-first"],
    "agents": ["bot"],
    "tasks": ["t"],
    "until": "2027-01-10",
}


def house(*guards: dict[str, Any], approved: dict[str, Any] = SMALL, **said: Any) -> dict[str, Any]:
    return {"name": "house", "guards": [ASKS, *guards], "approved": {"small": approved}, **said}


def action(
    policy: dict[str, Any], agent: str = "bot", task: str = "t", amount: Any = 5, **options: Any
) -> Action:
    clock = FakeClock(LAST_DAY_MS)
    with shield_for(policy, clock=clock).run(agent, task, **options) as run:
        return run.check("pay", {"amount": amount}).action


def test_a_call_that_the_policy_approves_asks_nobody_and_says_so_in_its_record() -> None:
    shield = shield_for(house(), clock=FakeClock(0))
    with shield.run("bot", "t") as run:
        assert run.check("pay", {"amount": 5}).action is Action.ALLOW
    assert not shield.tickets()
    first, second = [kept.read() for kept in shield.journal.kept()]
    assert (first.action, first.granted, first.lifts) == ("ESCALATE", "", ())
    assert (second.action, second.granted, second.lifts) == (
        "ALLOW",
        "approved.small",
        ("ask-first",),
    )


def test_it_can_be_used_again_and_again_until_its_last_day_is_over() -> None:
    clock = FakeClock(LAST_DAY_MS + DAY_MS - 1)
    shield = shield_for(house(), clock=clock)
    with shield.run("bot", "t") as run:
        assert [run.check("pay", {"amount": 5}).action for _ in range(3)] == [Action.ALLOW] * 3
        clock.advance(1)
        assert run.check("pay", {"amount": 5}).action is Action.ESCALATE


@pytest.mark.parametrize(
    "other",
    [{"agent": "eve"}, {"task": ""}, {"amount": 6}, {"amount": "5"}, {"risk": "critical"}],
    ids=str,
)
def test_anything_else_waits_for_a_person(other: dict[str, Any]) -> None:
    assert action(house()) is Action.ALLOW
    assert action(house(), **other) is Action.ESCALATE


def test_a_tool_that_is_critical_or_cannot_be_undone_waits_all_the_same() -> None:
    assert action(house(tools={"pay": {"risk": "critical"}})) is Action.ESCALATE
    assert action(house(tools={"pay": {"effect": "irreversible"}})) is Action.ESCALATE
    assert action(house(tools={"pay": {"risk": "high"}})) is Action.ALLOW


def test_it_answers_its_own_guards_and_no_other() -> None:
    second = {"use": "rule", "id": "second", "when": "event.tool == 'pay'", "action": "escalate"}
    assert action(house(second)) is Action.ESCALATE
    assert (
        action(house(second, approved={**SMALL, "guards": ["ask-first", "second"]})) is Action.ALLOW
    )
    assert action(house({**second, "action": "block"})) is Action.BLOCK


def test_people_are_asked_again_where_little_is_left_of_a_budget() -> None:
    policy = house({"use": "budget", "calls": 10}, autonomy=True)
    with shield_for(policy, clock=FakeClock(0)).run("bot", "t") as run:
        assert run.check("pay", {"amount": 5}).action is Action.ALLOW
        for n in range(5):
            run.check("ls", {"n": n})
        assert run.check("pay", {"amount": 5}).action is Action.ESCALATE


def test_what_a_policy_approves_is_nobodys_yes() -> None:
    event = ToolCall(id="e", at=0, run=RunInfo("r"), tool="pay")
    assert [
        Moment((event,), granted=name).has_a_yes for name in ("", "3f2a", "approved.small")
    ] == [False, True, False]


WRONG: Final = [
    (
        {"guards": ["ask-frist"]},
        "there is no guard `ask-frist` that could ask: did you mean `ask-first`?",
    ),
    (
        {"guards": ["stands"]},
        "`stands` is always active: what it asks a person has to answer each time",
    ),
    ({"guards": []}, "`guards` is empty, so nothing is approved: name them"),
    ({"until": "soon"}, "`soon` is not a day: write one such as `2027-01-31`"),
    ({"patterns": {"amount": "5*"}}, "`amount` stands under `args` too: leave one of them out"),
    ({"patterns": {"to": "*"}}, "`*` would let any `to` through: write what has to be there"),
]


@pytest.mark.parametrize(("changed", "said"), WRONG, ids=[said for _, said in WRONG])
def test_an_approval_that_makes_no_sense_is_told(changed: dict[str, Any], said: str) -> None:
    stands = {"use": "tool_denylist", "id": "stands", "tools": ["rm"], "always": True}
    with pytest.raises(PolicyError) as error:
        load_policy(house(stands, approved={**SMALL, **changed}))
    assert len(error.value.faults) == 1
    assert said in str(error.value)


def test_approving_loosens_and_approving_no_longer_does_not() -> None:
    bare, approving = load_policy(house() | {"approved": {}}), load_policy(house())
    later = load_policy(house(approved={**SMALL, "until": "2028-01-10"}))
    assert loosenings(bare, approving)
    assert loosenings(approving, later)
    assert not loosenings(approving, bare)
