"""The run-away: an agent in a loop, with five dollars, through a whole night."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Final

from stanchion.guards.budget import Budget, shown
from stanchion.kernel.units import MICRO, Unit
from stanchion.ops.demo.agent import ScriptedAgent
from stanchion.ops.demo.hazard import Proof
from stanchion.ops.demo.tools import ROUND_USD, DemoTools, giant
from stanchion.policy.compiled import CompiledPolicy
from stanchion.policy.prices.lookup import UnknownModel, price
from stanchion.runtime.calling.price import usage_of

COST: Final = Unit.COST_MICROUSD
QUESTION: Final = "The booking failed. What now?"
FLIGHT: Final = "OS 87"
ROUND_MS: Final = 30_000
NIGHT_MS: Final = 8 * 3_600_000
BUDGET_USD: Final = 5


def run_away(agent: ScriptedAgent) -> Proof:
    """Repeat all night what fails."""
    rounds, cost = unguarded(agent.shield.policy)
    agent.acts("unguarded", f"the same night has {rounds} rounds and costs {shown(COST, cost)}")
    seen = len(agent.tap.facts)
    for _ in range(rounds):
        goes_on = agent.goes_round(giant, QUESTION, agent.tools.book, flight=FLIGHT)
        for fact in [fact for fact in agent.tap.facts[seen:] if fact.what.startswith("state.")]:
            moved = f"{fact.about} goes from {fact.data['before']} to {fact.data['after']}"
            agent.acts("shield", f"{moved}; {shown(COST, spent(agent))} is spent")
        seen = len(agent.tap.facts)
        if not goes_on:
            break
        agent.lets_pass(ROUND_MS)
    calls, paid = len(agent.reached("book")), spent(agent)
    words = (
        f"{agent.ran('book')}, not {rounds}; {shown(COST, paid)} is spent, not {shown(COST, cost)}"
    )
    return Proof(words, calls == FAILURES and paid == BUDGET_USD * MICRO)


def unguarded(policy: CompiledPolicy) -> tuple[int, int]:
    """The same night without a shield: how many rounds it has, and what they cost, in millionths of
    a dollar."""
    tools, cost = DemoTools(), 0
    for _ in range(0, NIGHT_MS, ROUND_MS):
        cost += _priced(policy, giant([{"role": "user", "content": QUESTION}]))
        with suppress(ConnectionError):
            tools.book(flight=FLIGHT)
    return len(tools.reached), cost


def _priced(policy: CompiledPolicy, reply: dict[str, Any]) -> int:
    """What a reply costs, by the policy's price; a policy that has none is told the estimate,
    too."""
    usage = usage_of(reply)
    try:
        known = price(policy, giant.__name__)
    except UnknownModel:
        return int(ROUND_USD * MICRO)
    return 0 if usage is None else known.cost_microusd(usage)


def spent(agent: ScriptedAgent) -> int:
    """What the budgets of the run have in the store, in millionths of a dollar."""
    guards = [
        seat.placed.guard
        for seat in agent.shield.policy.seats
        if isinstance(seat.placed.guard, Budget)
    ]
    keys = [
        key
        for guard in guards
        for unit, key in guard.counts(agent.run.desk.info).items()
        if unit is COST
    ]
    return max([agent.shield.store.read(key)[0] for key in keys], default=0)


FAILURES: Final = 4
