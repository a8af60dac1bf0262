"""The validation cache: equal calls are known for an hour, and nothing that counts is passed
over."""

from __future__ import annotations

from typing import Any

from stanchion.runtime.calling.validation_cache import ValidationCache
from stanchion.testing import FakeClock, shield_for

SCHEMA = {"type": "object", "properties": {"q": {"type": "string"}}}
POLICY: dict[str, Any] = {
    "name": "x",
    "tools": {"find": {"schema": SCHEMA}},
    "guards": [{"use": "schema", "hook_deadline_ms": 60_000}],
}


def test_it_keeps_for_a_time_and_forgets_the_least_recently_used() -> None:
    cache = ValidationCache(most=2, ttl_s=10)
    cache.put(("a",), 1, 0)
    cache.put(("b",), None, 0)
    assert cache.get(("a",), 9_999) == (True, 1)
    cache.put(("c",), 3, 5_000)
    assert cache.get(("b",), 0) == (False, None)
    assert cache.get(("a",), 10_000) == (False, None)
    assert cache.get(("c",), 4_999) == (False, None)
    assert cache.get(("c",), 14_999) == (True, 3)
    stats = cache.stats()
    assert (stats.cache_hits, stats.cache_misses, stats.hit_rate) == (2, 3, 0.4)


def test_equal_calls_are_known_for_an_hour() -> None:
    clock = FakeClock()
    shield = shield_for(POLICY, clock=clock)
    run = shield.run("a")
    assert shield.validation_stats().hit_rate == 0
    for args, hits, misses in (
        ({"q": "x"}, 0, 1),
        ({"q": "x"}, 1, 1),
        ({"q": 1}, 1, 2),
        ({"q": 1}, 2, 2),
    ):
        run.check("find", args)
        stats = shield.validation_stats()
        assert (stats.cache_hits, stats.cache_misses) == (hits, misses)
    assert run.check("find", {"q": 1}).code == "schema.type"
    clock.advance(3_600_000)
    assert run.check("find", {"q": 1}).code == "schema.type"
    assert shield.validation_stats().cache_misses == 3


def test_the_order_of_arguments_and_the_run_do_not_matter() -> None:
    shield = shield_for(POLICY)
    shield.run("a").check("find", {"q": "x", "p": 1})
    shield.run("b").check("find", {"p": 1, "q": "x"})
    assert shield.validation_stats().cache_hits == 1


def test_another_definition_or_policy_is_another_question() -> None:
    shield = shield_for({"name": "x", "guards": POLICY["guards"]})
    shield.ingest([{"name": "find", "inputSchema": SCHEMA}])
    run = shield.run("a")
    assert run.check("find", {"q": "x", "z": 1}).proceeds
    shield.ingest(
        [{"name": "find", "inputSchema": {**SCHEMA, "additionalProperties": False}}], repin=True
    )
    assert run.check("find", {"q": "x", "z": 1}).code == "schema.extra"
    shield.reload({"name": "x", "guards": [{"use": "schema", "extra": "drop"}]})
    assert run.check("find", {"q": "x", "z": 1}).code == "schema.coerced"


def test_long_calls_are_checked_every_time() -> None:
    shield = shield_for(POLICY)
    run = shield.run("a")
    for _ in range(2):
        assert run.check("find", {"q": "x" * 2_000}).proceeds
        assert run.check("find", {"q": ["x" * 2_000]}).code == "schema.type"
    assert shield.validation_stats().cache_misses == 0


def test_equal_calls_ask_a_hook_once_unless_it_says_otherwise() -> None:
    asked: list[str] = []

    def hook(call: Any) -> str | None:
        asked.append(call.args["q"])
        return "no" if call.args["q"] == "bad" else None

    clock = FakeClock()
    shield = shield_for(POLICY, clock=clock)
    shield.hook("find", hook)
    run = shield.run("a")
    for _ in range(3):
        assert run.check("find", {"q": "good"}).proceeds
        assert run.check("find", {"q": "bad"}).code == "schema.hook"
    assert asked == ["good", "bad"]
    clock.advance(3_600_000)
    assert run.check("find", {"q": "good"}).proceeds
    assert asked == ["good", "bad", "good"]
    shield.hook("find", hook, cache=False)
    for _ in range(2):
        assert run.check("find", {"q": "good"}).proceeds
    assert asked[3:] == ["good"] * 4


def test_a_hook_that_failed_is_asked_again() -> None:
    failing = [True]

    def hook(_call: Any) -> None:
        if failing:
            failing.clear()
            raise OSError

    shield = shield_for(POLICY)
    shield.hook("find", hook)
    run = shield.run("a")
    assert run.check("find", {"q": "x"}).code == "kernel.lookup_failed"
    assert run.check("find", {"q": "x"}).proceeds
