"""Budgets and what is held of them, from a store and a policy."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from stanchion.ops.views.budgets import BudgetLimits, budgets, held, limits_of, most_used
from stanchion.policy.load import load_policy
from stanchion.stores.protocol import Store
from stanchion.testing import FakeClock
from tests.ops.views.shown import KINDS, POLICY, START, stored, work


@pytest.fixture(params=KINDS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """A store in which two runs have spent."""
    clock = FakeClock(START)
    with stored(request.param, tmp_path, clock) as kept:
        work(kept, clock)
        yield kept


def test_every_budget_with_its_limit(store: Store) -> None:
    found = {
        (one.budget, one.whose, one.measure): one
        for one in budgets(store, limits_of(load_policy(POLICY)))
    }
    spent = found["spend", "first", "cost_microusd"]
    assert (spent.used, spent.limit, spent.share, spent.per) == (1_200_000, 2_000_000, 0.6, "run")
    assert (found["spend", "second", "tokens"].used, found["spend", "second", "tokens"].limit) == (
        300,
        1000,
    )
    assert found["hourly", "ann", "cost_microusd"].window_s == 3600


def test_without_a_policy_the_window_is_the_one_that_was_asked_for(store: Store) -> None:
    (one,) = [
        one
        for one in budgets(store, BudgetLimits())
        if (one.budget, one.whose) == ("hourly", "ann")
    ]
    assert (one.limit, one.window_s, one.share) == (None, 3600.0, 0.0)


def test_chosen_by_name_and_by_what_is_left(store: Store) -> None:
    limits = limits_of(load_policy(POLICY))
    assert {one.whose for one in budgets(store, limits, "second")} == {"second"}
    first, second = most_used(budgets(store, limits), 2)
    assert (first.whose, first.measure) == ("first", "cost_microusd")
    assert first.share >= second.share


def test_what_is_held_names_the_call_and_its_budgets(store: Store) -> None:
    (one,) = held(store)
    assert (one.run, one.since_ms, one.slice, one.heard_ms) == (
        "second",
        START + 5_000,
        False,
        None,
    )
    assert {
        (part.budget, part.per, part.whose, part.measure, part.amount) for part in one.parts
    } == {
        ("spend", "run", "second", "tokens", 300),
        ("spend", "run", "second", "cost_microusd", 125_000),
        ("hourly", "agent", "bob", "cost_microusd", 125_000),
    }
    assert held(store, "bob") == held(store, one.call) == held(store, "", "default") == [one]
    assert held(store, "ann") == held(store, "", "acme") == []
