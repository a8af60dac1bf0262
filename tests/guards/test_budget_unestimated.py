"""Without an estimate, too, a budget bounds what runs at the same time."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stanchion import Shield
from stanchion.policy.lint import lint
from stanchion.runtime.run import Run
from stanchion.stores.memory import MemoryStore
from stanchion.stores.sqlite import SqliteStore
from stanchion.testing import FakeClock, shield_for

THREADS = 64
HELLO = [{"role": "user", "content": "hello"}]


def checked(run: Run, meet: Callable[[], None]) -> None:
    decision = run.check("summarise", {})
    meet()
    if decision.proceeds:
        run.result("summarise", {}, "a page", call=decision.id, tokens=100)


def asked(run: Run, meet: Callable[[], None]) -> None:
    decision = run.model_call(HELLO, "house", params={"max_tokens": 90})
    meet()
    if decision.proceeds:
        run.model_reply("yes", call=decision.id, tokens=100)


def asked_without_a_limit(run: Run, meet: Callable[[], None]) -> None:
    decision = run.model_call(HELLO, "house")
    meet()
    if decision.proceeds:
        run.model_reply("yes", call=decision.id, tokens=100)


def worked(run: Run, meet: Callable[[], None]) -> None:
    decision = run.check("build", {})
    meet()
    if decision.proceeds:
        run.result("build", {}, "done", call=decision.id, duration_s=10)


def paid(run: Run, meet: Callable[[], None]) -> None:
    decision = run.model_call(HELLO, "unheard-of")
    meet()
    if decision.proceeds:
        run.model_reply("yes", call=decision.id, cost_usd=0.05)


HOUSE = {"input_usd_per_mtok": 1, "output_usd_per_mtok": 4, "max_output_tokens": 90}
WAYS: dict[str, tuple[Any, dict[str, Any], dict[str, Any], str, int]] = {
    "check": (checked, {"tokens": 1_000, "reserve_tokens": 100}, {}, "tokens", 1_000),
    "max-tokens-of-the-request": (asked, {"tokens": 1_000}, {}, "tokens", 1_000),
    "limit-of-the-model": (
        asked_without_a_limit,
        {"tokens": 1_000},
        {"house": HOUSE},
        "tokens",
        1_000,
    ),
    "reserve-of-the-budget": (
        asked_without_a_limit,
        {"tokens": 1_000, "reserve_tokens": 100},
        {},
        "tokens",
        1_000,
    ),
    "duration": (worked, {"duration_s": 100, "reserve_duration_s": 10}, {}, "duration_ms", 100_000),
    "cost": (paid, {"cost_usd": 0.5, "reserve_cost_usd": 0.05}, {}, "cost_microusd", 500_000),
}


def total(shield: Shield, unit: str) -> int:
    return sum(
        cell.number
        for cell in shield.store.look()
        if "budget" in cell.key and f":{unit}:" in cell.key
    )


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_64_threads_stay_within_the_limit(way: str, kind: str, tmp_path: Path) -> None:
    """All of them are judged before one of them says what it has used."""
    work, budget, prices, unit, limit = WAYS[way]
    clock = FakeClock()
    store = MemoryStore(clock) if kind == "memory" else SqliteStore(tmp_path / "state.db", clock)
    policy = {"name": "p", "prices": prices, "guards": [{"use": "budget", "per": "task", **budget}]}
    shield = shield_for(policy, clock=clock, store=store)
    barrier = threading.Barrier(THREADS)
    run = shield.run("a", "task")
    threads = [
        threading.Thread(target=work, args=(run, lambda: barrier.wait(60))) for _ in range(THREADS)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 0 < total(shield, unit) <= limit
    store.close()


def test_what_an_outcome_does_not_speak_of_goes_back() -> None:
    """A tool that uses no tokens takes none, and one whose model says nothing stays at what it has
    reserved."""
    guard = {"use": "budget", "tokens": 1_000, "reserve_tokens": 400}
    shield = shield_for({"name": "p", "guards": [guard]})
    run = shield.run("a")
    decision = run.check("t", {})
    assert total(shield, "tokens") == 400
    run.result("t", {}, "done", call=decision.id)
    assert total(shield, "tokens") == 0
    decision = run.model_call(HELLO, "m")
    run.model_reply("yes", call=decision.id)
    assert total(shield, "tokens") == 400


def test_an_estimate_of_nothing_is_an_estimate() -> None:
    shield = shield_for(
        {"name": "p", "guards": [{"use": "budget", "tokens": 1_000, "reserve_tokens": 400}]}
    )
    run = shield.run("a")
    run.check("t", {}, tokens=0)
    run.model_call(HELLO, "m", tokens=0)
    assert total(shield, "tokens") == 0


@pytest.mark.parametrize(
    ("budget", "named"),
    [
        ({"tokens": 9_000}, ["reserve_tokens"]),
        ({"cost_usd": 5, "duration_s": 60}, ["reserve_cost_usd", "reserve_duration_s"]),
        ({"tokens": 9_000, "reserve_tokens": 100}, []),
        ({"calls": 5, "api_calls": 5}, []),
        ({"tokens": 9_000, "stages": ["charge"]}, []),
    ],
    ids=str,
)
def test_a_budget_without_a_bound_says_so(budget: dict[str, Any], named: list[str]) -> None:
    found = lint({"name": "p", "guards": [{"use": "budget", **budget}]}).remarks
    told = [remark for remark in found if remark.code == "unbounded"]
    assert all(remark.sure == "info" and "`budget`" in remark.message for remark in told)
    assert [next(option for option in named if option in remark.advice) for remark in told] == named


def test_a_budget_without_a_bound_says_so_when_it_loads(
    caplog: pytest.LogCaptureFixture,
) -> None:
    Shield.load({"name": "p", "guards": [{"use": "budget", "tokens": 100, "reserve_tokens": 10}]})
    assert caplog.messages == []
    Shield.load({"name": "p", "guards": [{"use": "budget", "tokens": 100}]})
    (said,) = caplog.messages
    assert said.startswith(
        "policy `p`: `budget` has no bound for the `tokens` of an action that nobody estimates"
    )
    assert "give `reserve_tokens`" in said
