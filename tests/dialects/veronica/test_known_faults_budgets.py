"""Faults of an earlier execution shield in counting and charging; each test fails where Stanchion
has the fault."""

from __future__ import annotations

from typing import Any

import pytest

from stanchion import Action, Refused
from stanchion.kernel.state import key
from stanchion.stores.memory import MemoryStore
from stanchion.testing import FakeClock, ScriptedModel, ScriptedTool, shield_for
from tests.guards.test_step_limit import in_threads


def policy(*guards: dict[str, Any]) -> dict[str, Any]:
    return {"name": "faults", "guards": list(guards)}


def cents(store: MemoryStore) -> float:
    """What the run has been charged so far."""
    return store.read(key("default", "budget", "budget", "cost_microusd", "run", "r"))[0] / 10_000


def test_fault_05_fifty_threads_spend_five_cents_of_five() -> None:
    """A budget of five cents with fifty threads at a cent each is spent, and not exceeded by a
    millionth."""
    store = MemoryStore(FakeClock())
    run = shield_for(policy({"use": "budget", "cost_usd": 0.05}), store=store).run("a", id="r")
    model = ScriptedModel(*["an answer"] * 50)
    refused: list[str] = []

    def ask(_number: int) -> None:
        try:
            run.model(model, [], cost_usd=0.01)
        except Refused as error:
            refused.append(error.decision.code)

    in_threads(50, ask)
    assert model.count == 5
    assert refused == ["budget.exceeded"] * 45
    assert cents(store) == 5


def test_fault_06_a_budget_refuses_before_it_is_spent_and_keeps_what_was() -> None:
    """Ten attempts at three cents with ten cents: three run, nine cents are on the books, seven
    cost nothing."""
    store = MemoryStore(FakeClock())
    run = shield_for(policy({"use": "budget", "cost_usd": 0.1}), store=store).run("a", id="r")
    ran = 0
    for _ in range(10):
        decision = run.check("buy", {}, cost_usd=0.03)
        if decision.proceeds:
            ran += 1
            run.result("buy", {}, "bought", call=decision.id, cost_usd=0.03)
    assert (ran, cents(store)) == (3, 9)


def test_fault_06_a_failed_call_costs_what_it_cost_and_uses_its_step() -> None:
    store = MemoryStore(FakeClock())
    guards = policy(
        {"use": "budget", "cost_usd": 1, "calls": 3}, {"use": "step_limit", "max_steps": 3}
    )
    run = shield_for(guards, store=store).run("a", id="r")
    decision = run.check("buy", {}, cost_usd=0.5)
    run.error("buy", OSError("no disk"), call=decision.id, cost_usd=0.2)
    assert cents(store) == 20
    unknown = run.check("buy", {}, cost_usd=0.5)
    run.error("buy", OSError("no disk"), call=unknown.id)
    assert cents(store) == 70, "what a failed call cost is not known, so it cost its estimate"
    with pytest.raises(OSError, match="no disk"):
        run.call(ScriptedTool(OSError("no disk")))
    assert run.check("buy", {}).code in ("budget.exceeded", "steps.exceeded")
    assert store.read(key("default", "steps", "step-limit", "run", "r"))[0] == 3
    assert store.read(key("default", "budget", "budget", "one", "run", "r"))[0] == 3


def test_fault_06_the_real_bill_counts_and_not_the_estimate() -> None:
    """Ninety dollars that were said to be a tenth of a cent are ninety dollars."""
    store = MemoryStore(FakeClock())
    run = shield_for(policy({"use": "budget", "cost_usd": 100}), store=store).run("a", id="r")
    decision = run.check("buy", {}, cost_usd=0.001)
    run.result("buy", {}, "bought", call=decision.id, cost_usd=90)
    assert cents(store) == 9_000
    assert run.check("buy", {}, cost_usd=10.01).code == "budget.exceeded"


def test_fault_09_a_degraded_call_goes_ahead_and_the_whole_budget_is_usable() -> None:
    run = shield_for(
        {**policy({"use": "budget", "calls": 10, "degrade_at": 80}), "degrade": {"pause_s": 0.001}}
    ).run("a")
    tool = ScriptedTool("done")
    for _ in range(10):
        assert run.call(tool) == "done"
    with pytest.raises(Refused) as refused:
        run.call(tool)
    assert (refused.value.decision.action, tool.count) == (Action.BLOCK, 10)
