"""The pack `guardian`: the five layers of the specification, in its order, with its parameters and
its answers."""

from __future__ import annotations

from typing import Any

import pytest

from stanchion.kernel.guardian_result import GuardianResult
from stanchion.kernel.stages import Stage
from stanchion.policy.load import load_policy
from stanchion.testing import FakeClock, shield_for

SCHEMA = {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}


def asked(run: Any, tool: str, args: dict[str, Any] | None = None) -> GuardianResult:
    result: GuardianResult = run.check(tool, {} if args is None else args).guardian_result()
    return result


def test_layers_stand_in_the_order_of_the_specification() -> None:
    policy = load_policy("guardian")
    calls = [seat.placed for seat in policy.seats if Stage.TOOL_CALL in seat.placed.stages]
    assert [placed.id for placed in sorted(calls, key=lambda placed: placed.priority)] == [
        "health",
        "breaker",
        "loops",
        "schema",
    ]
    assert policy.file.experience.tier == "persistent"


def test_parameters_are_those_of_the_specification() -> None:
    guards = {seat.placed.id: seat.placed.guard for seat in load_policy("guardian").seats}
    breaker, loops = guards["breaker"], guards["loops"]
    assert (breaker.failure_threshold, breaker.cooldown_s, breaker.max_cooldown_s) == (5, 60, 3600)
    assert breaker.successes == 3
    assert (loops.max_history, loops.max_repeats) == (10, 2)


def test_a_call_that_goes_ahead() -> None:
    shield = shield_for("guardian")
    run = shield.run("a")
    assert asked(run, "search") == GuardianResult(True, "", "", "", None, False)
    run.result("search", {}, "found")
    assert asked(run, "search", {"q": 1}) == GuardianResult(True, "", "", "", 100, False)
    shield.close()


def test_a_tool_that_fails_is_refused_and_then_probed() -> None:
    clock = FakeClock()
    shield = shield_for("guardian", clock=clock)
    run = shield.run("a")
    for number in range(5):
        run.error("search", ConnectionError(f"{number}"))
    refused = asked(run, "search", {"q": 1})
    assert (refused.allowed, refused.health_score, refused.is_probe) == (False, 0, False)
    assert "keeps failing" in refused.reason
    assert "use another tool" in refused.suggestion
    clock.advance(60_000)
    probe = asked(run, "search", {"q": 2})
    assert (probe.allowed, probe.reason, probe.health_score, probe.is_probe) == (True, "", 0, True)
    assert "works badly" in probe.advice
    assert asked(run, "search", {"q": 3}).is_probe is False
    shield.close()


def test_the_health_is_the_share_of_the_last_calls() -> None:
    shield = shield_for("guardian")
    run = shield.run("a")
    for number in range(4):
        run.result("search", {"q": number}, number)
    run.error("search", ConnectionError())
    assert asked(run, "search", {"q": "x"}).health_score == 80 == shield.health("search")
    shield.close()


@pytest.mark.parametrize("layer", ["loops", "schema"])
def test_each_layer_refuses(layer: str) -> None:
    shield = shield_for(
        {"name": "x", "extends": "guardian", "tools": {"search": {"schema": SCHEMA}}}
    )
    run = shield.run("a")
    if layer == "schema":
        assert "lacks `q`" in asked(run, "search").reason
    else:
        for _ in range(2):
            run.result("search", {"q": "a"}, "same", call=run.check("search", {"q": "a"}).id)
        assert "call 3 in a row" in asked(run, "search", {"q": "a"}).reason
    shield.close()


def test_outcomes_become_experience_and_advice() -> None:
    shield = shield_for("guardian")
    run = shield.run("a")
    for _ in range(3):
        run.error("search", "timeout")
    words = run.advice("search", {})
    assert words.startswith("Tool 'search' failed 3x. Try different approach.")
    assert run.check("search", {"q": 1}).guardian_result(words).advice == words
    assert shield.reliability("search").failures == 3
    shield.close()


def test_metrics_are_those_of_the_specification() -> None:
    shield = shield_for("guardian", metrics=True)
    run = shield.run("a")
    for _ in range(2):
        run.result("search", {"q": "a"}, "same", call=run.check("search", {"q": "a"}).id)
    for _ in range(2):
        assert not asked(run, "search", {"q": "a"}).allowed
    run.error("fetch", ConnectionError())
    run.awareness()
    found = run.guardian_metrics()
    loops = found.loop_detection
    assert (
        loops.total_checks,
        loops.loops_detected,
        loops.immediate_repeats,
        loops.short_cycles,
    ) == (4, 2, 2, 0)
    assert loops.detection_rate == 50.0
    assert (found.roi.protection_events, found.roi.estimated_tokens_saved) == (2, 500)
    assert found.tool_health == {"fetch": 0, "search": 100}
    assert (found.session.successes, found.session.failures) == (2, 1)
    assert (found.advice_cache.cache_hits, found.advice_cache.cache_misses) == (0, 1)
    assert found.validation_cache == shield.validation_stats()
    shield.close()


def test_without_figures_nothing_is_estimated() -> None:
    shield = shield_for("guardian", metrics=False)
    found = shield.run("a").guardian_metrics()
    assert (found.roi.protection_events, found.tool_health, found.session.failures) == (0, {}, 0)
    shield.close()
