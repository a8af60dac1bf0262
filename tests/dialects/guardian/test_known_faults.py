"""Faults 2 and 3 of GuardianLayer's health layer, as cases that must not come back."""

from __future__ import annotations

from typing import Any, Final

import pytest

from stanchion.testing import FakeClock, shield_for

BREAKER: Final[dict[str, Any]] = {"use": "breaker"}
ONCE: Final = {"use": "step_limit", "max_steps": 1, "per": "task", "priority": 90}


def test_fault_2_a_probe_that_another_guard_refuses_is_not_spent() -> None:
    """Refusing it elsewhere left the probe slot taken there, and the tool was blocked again for
    twice the time."""
    clock = FakeClock()
    shield = shield_for({"name": "x", "guards": [BREAKER, ONCE]}, clock=clock)
    used_up, fresh = shield.run("a", "t1"), shield.run("b", "t2")
    assert used_up.check("pay", {}).proceeds
    for _ in range(5):
        fresh.error("pay", ConnectionError())
    clock.advance(60_000)
    for _ in range(10):
        assert used_up.check("pay", {}).code == "steps.exceeded"
    probe = fresh.check("pay", {})
    assert probe.code == "breaker.probe"
    fresh.result("pay", {}, "paid", call=probe.id)
    assert shield.store.read("{default}breaker:pay:breaker")[1]["cooldown_ms"] == 60_000


def test_fault_3_it_closes_after_three_successes_and_tries_one_call_at_a_time() -> None:
    """One success closed it there, and four calls at once were probes."""
    clock = FakeClock()
    shield = shield_for({"name": "x", "guards": [{**BREAKER, "runs": 1}]}, clock=clock)
    runs = [shield.run("a"), *[shield.run("b") for _ in range(3)]]
    for _ in range(5):
        runs[0].error("pay", ConnectionError())
    clock.advance(60_000)
    for number in range(3):
        probes = [run.check("pay", {}) for run in runs]
        assert [probe.code for probe in probes] == ["breaker.probe"] + ["breaker.probing"] * 3
        said = runs[0].result("pay", {}, "paid", call=probes[0].id).code
        assert said == ("breaker.closed" if number == 2 else "")
    assert all(run.check("pay", {}).findings == () for run in runs)


@pytest.mark.parametrize(
    "text",
    ["500 Internal Server Error", "HTTP 503: Service Unavailable", "connection reset by peer"],
)
def test_fault_3_a_failing_server_opens_it(text: str) -> None:
    """A thousand of them never did there."""
    run = shield_for({"name": "x", "guards": [BREAKER]}).run("a")
    for _ in range(4):
        assert run.error("pay", RuntimeError(text)).code == ""
    assert run.error("pay", RuntimeError(text)).code == "breaker.opened"


@pytest.mark.parametrize(
    "text", ["Account closed", "the account is closed", "Your account has been suspended"]
)
def test_fault_3_a_tool_that_says_no_does_not(text: str) -> None:
    """It was counted as a broken connection there."""
    run = shield_for({"name": "x", "guards": [BREAKER]}).run("a")
    for _ in range(1_000):
        assert run.error("pay", RuntimeError(text)).findings == ()
    assert run.check("pay", {}).findings == ()


def test_fault_3_type_and_status_say_more_than_the_text() -> None:
    run = shield_for({"name": "x", "guards": [{**BREAKER, "failure_threshold": 1}]}).run("a")
    assert run.error("a", ValueError("connection refused")).code == ""
    assert run.error("b", "HTTPError", text="500 ways to fail", status=404).code == ""
    assert run.error("c", TimeoutError("Account closed")).code == "breaker.opened"
    assert run.error("d", "HTTPError", text="Account closed", status=500).code == "breaker.opened"
