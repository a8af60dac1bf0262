"""Spending: what is reserved, what is really used, and what nobody had foreseen."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from stanchion import Action, Refused, Shield
from stanchion.runtime.run import Run
from stanchion.testing import FakeClock
from stanchion.testing.shields import shield_for

BUDGET: dict[str, Any] = {
    "name": "budget",
    "tools": {"fetch": {"annotations": ["open_world"]}},
    "guards": [
        {
            "use": "budget",
            "tokens": 1_000,
            "cost_usd": 2,
            "calls": 50,
            "api_calls": 3,
            "duration_s": 100,
        }
    ],
}


def used(shield: Shield, unit: str) -> int:
    """The total of a budget's measure."""
    return sum(
        cell.number
        for cell in shield.store.look()
        if f":{unit}:" in cell.key and "budget" in cell.key
    )


def started(shield: Shield, **usage: Any) -> tuple[Run, str]:
    """A run with one call under way; gives the decision's id."""
    run = shield.run("ann", "t1")
    return run, run.check("work", {}, **usage).id


def test_what_was_really_used_beats_the_estimate_measure_by_measure() -> None:
    shield = shield_for(BUDGET)
    run, call = started(shield, tokens=500, cost_usd=1)
    assert (used(shield, "tokens"), used(shield, "cost_microusd")) == (500, 1_000_000)
    run.result("work", {}, "done", call=call, tokens=90)
    assert (used(shield, "tokens"), used(shield, "cost_microusd")) == (90, 1_000_000), (
        "cost stays at its estimate"
    )


def test_a_usage_of_nothing_is_a_usage() -> None:
    shield = shield_for(BUDGET)
    run, call = started(shield, tokens=500)
    run.result("work", {}, "done", call=call, tokens=0)
    assert used(shield, "tokens") == 0


@pytest.mark.parametrize("announced", [True, False])
def test_usage_that_nobody_estimated_is_counted(announced: bool) -> None:
    shield = shield_for(BUDGET)
    run, call = started(shield) if announced else (shield.run("ann", "t1"), "")
    run.result("work", {}, "done", call=call, tokens=90, cost_usd=3)
    assert (used(shield, "tokens"), used(shield, "cost_microusd")) == (90, 3_000_000), (
        "even beyond the limit"
    )
    assert not run.check("work", {}, cost_usd=0.1).proceeds


def test_a_call_without_usage_stays_at_its_estimate_and_a_failed_one_too() -> None:
    shield = shield_for(BUDGET)
    run, call = started(shield, tokens=100)
    run.result("work", {}, "done", call=call)
    other = run.check("work", {"a": 1}, tokens=200).id
    run.error("work", ValueError("no"), call=other)
    assert used(shield, "tokens") == 300


def test_an_overrun_is_in_the_record() -> None:
    shield = shield_for(BUDGET)
    run, call = started(shield, tokens=100)
    run.result("work", {}, "done", call=call, tokens=250)
    assert used(shield, "tokens") == 250
    assert shield.journal.kept()[-1].read().notes == ("it used 250 tokens, 150 more than reserved",)


def test_a_tool_that_reaches_outside_makes_an_api_call() -> None:
    shield = shield_for(BUDGET)
    run = shield.run("ann", "t1")
    said = [run.check("fetch", {"n": n}).proceeds for n in range(4)]
    assert said == [True, True, True, False]
    assert run.check("work", {}).proceeds


def test_working_time_is_measured_and_bounded() -> None:
    clock = FakeClock()
    shield = shield_for(BUDGET, clock=clock)
    run = shield.run("ann", "t1")

    def slow() -> str:
        clock.advance(40_000)
        return "done"

    assert [run.call(slow), run.call(slow)] == ["done", "done"]
    assert used(shield, "duration_ms") == 80_000
    assert run.call(slow) == "done", "what it will take is not known before"
    with pytest.raises(Refused, match="seconds"):
        run.call(slow)


def test_a_known_cost_is_counted_whatever_it_exceeds() -> None:
    shield = shield_for(BUDGET)
    run = shield.run("ann", "t1")
    decision = run.charge(cost_usd=5, settled=True)
    assert decision.action == Action.BLOCK
    assert used(shield, "cost_microusd") == 5_000_000


def test_a_known_cost_settles_its_call() -> None:
    shield = shield_for(BUDGET)
    run, call = started(shield, cost_usd=1)
    run.charge(cost_usd=0.25, settled=True, call=call)
    assert used(shield, "cost_microusd") == 250_000
    assert list(shield.store.holds()) == []


def test_a_handoff_carries_a_budget_until_it_is_done() -> None:
    shield = shield_for(BUDGET)
    run = shield.run("ann", "t1")
    assert run.judge("handoff", to="bob", payload={}, tokens=600).proceeds
    assert not run.judge("handoff", to="cho", payload={}, tokens=600).proceeds
    run.handoff_done("bob", tokens=100)
    assert used(shield, "tokens") == 100


def test_children_spend_from_their_parents_budget() -> None:
    """Five children of a run with a dollar never spend more than it."""
    shield = shield_for({"name": "b", "guards": [{"use": "budget", "cost_usd": 1}]})
    run = shield.run("boss")
    children = [run.spawn(f"kid-{number}") for number in range(5)]
    went = [child.check("buy", {}, cost_usd=0.3).proceeds for child in children for _ in range(3)]
    assert went.count(True) == 3
    assert used(shield, "cost_microusd") == 900_000


def test_what_is_carved_out_is_gone_for_others_and_comes_back() -> None:
    shield = shield_for(BUDGET)
    run = shield.run("boss")
    with run.spawn("kid", budget={"tokens": 600, "calls": 3}) as child:
        assert used(shield, "tokens") == 600
        assert not run.check("work", {}, tokens=500).proceeds
        assert [child.check("work", {"n": n}, tokens=250).proceeds for n in range(3)] == [
            True,
            True,
            False,
        ]
        with pytest.raises(Refused):
            run.spawn("other", budget={"tokens": 500})
        with pytest.raises(Refused):
            child.spawn("grandchild", budget={"tokens": 200})
    assert used(shield, "tokens") == 500
    assert used(shield, "one") == 3, "two calls of the child, and the one that began it"


async def _in_loop(shield: Shield) -> int:
    async with shield.run("boss") as run:
        child = await run.aspawn("kid", budget={"tokens": 600})
        async with child:
            await child.acheck("work", {}, tokens=100)
    return used(shield, "tokens")


def test_the_same_in_a_loop() -> None:
    import asyncio

    assert asyncio.run(_in_loop(shield_for(BUDGET))) == 100


def test_siblings_never_exceed_their_parent_together() -> None:
    shield = shield_for({"name": "b", "guards": [{"use": "budget", "tokens": 1_000}]})
    run = shield.run("boss")
    spent: list[int] = []

    def work(number: int) -> None:
        try:
            child = run.spawn(f"kid-{number}", budget={"tokens": 150})
        except Refused:
            return
        spent.extend(100 for n in range(5) if child.check("work", {"n": n}, tokens=100).proceeds)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(spent) == 600, "six children of 150, one call of 100 each"


@pytest.mark.parametrize(
    "budget", [{}, {"dollars": 3}, {"tokens": -1}, {"calls": True}, {"duration_s": "long"}]
)
def test_a_budget_that_is_none(budget: dict[str, Any]) -> None:
    run = shield_for(BUDGET).run("boss")
    with pytest.raises(ValueError, match=r"give|negative"):
        run.spawn("kid", budget=budget)


def test_a_childs_own_task_still_counts() -> None:
    shield = shield_for({"name": "b", "guards": [{"use": "budget", "tokens": 300, "per": "task"}]})
    run = shield.run("boss", "big")
    child = run.spawn("kid", "small", budget={"tokens": 300})
    other = shield.run("else", "small")
    assert other.check("work", {}, tokens=200).proceeds
    assert not child.check("work", {}, tokens=200).proceeds


def test_modes_follow_from_what_is_left() -> None:
    """The wider the budget is used, the stricter: warnings refuse below a fifth, and nothing begins
    at the end."""
    policy = {
        "name": "modes",
        "autonomy": True,
        "guards": [
            {"use": "budget", "tokens": 100, "warn_at": 90},
            {
                "use": "rule",
                "id": "loud",
                "when": "event.tool == 'shout'",
                "check": "false",
                "action": "warn",
            },
        ],
    }
    shield = shield_for(policy)
    run = shield.run("ann", "t1")
    seen = []
    for number in range(10):
        decision = run.check("work", {"n": number}, tokens=11 if number < 9 else 1)
        seen.append((decision.inputs.mode, decision.action.name))
    assert [mode for mode, _ in seen] == [
        "",
        "",
        "",
        "",
        "",
        "strict",
        "strict",
        "strict",
        "lockdown",
        "lockdown",
    ]
    assert [action for _, action in seen[8:]] == ["BLOCK", "ALLOW"], (
        "a mark that warns refuses in lockdown"
    )
    assert run.check("shout", {}).action == Action.BLOCK
