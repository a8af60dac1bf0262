"""Fault 7 of VERONICA's circuit breaker, as a case that must not come back."""

from __future__ import annotations

from typing import Any, Final

from stanchion.testing import FakeClock, shield_for

POLICY: Final[dict[str, Any]] = {
    "name": "two",
    "guards": [
        {"use": "breaker", "failure_threshold": 5, "cooldown_s": 60},
        {"use": "budget", "cost_usd": 1, "per": "run", "priority": 90},
        {
            "use": "rule",
            "id": "small",
            "check": "event.args.amount < 100",
            "stages": ["tool_call"],
            "priority": 95,
        },
    ],
}


def test_fault_7_a_later_policy_that_denies_does_not_leak_the_probe_slot() -> None:
    """There the slot was taken for good, and the breaker never closed again."""
    clock = FakeClock()
    run = shield_for(POLICY, clock=clock).run("a")
    for _ in range(5):
        run.error("pay", ConnectionError())
    clock.advance(60_000)
    for _ in range(20):
        assert run.check("pay", {"amount": 500}).code == "rule.broken"
        assert run.check("pay", {"amount": 1}, cost_usd=2).code == "budget.exceeded"
    for _ in range(3):
        probe = run.check("pay", {"amount": 1})
        assert probe.code == "breaker.probe"
        run.result("pay", {"amount": 1}, "paid", call=probe.id)
    assert run.check("pay", {"amount": 1}).findings == ()
