"""A result that says that the call failed counts as a failure: `isError` of MCP, a status of 500
or more."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from stanchion.testing import FakeClock, ScriptedTool, shield_for

DOWN = {"content": [{"type": "text", "text": "upstream is down"}], "isError": True}
FAILING: list[Any] = [
    DOWN,
    SimpleNamespace(content=[SimpleNamespace(type="text", text="no")], isError=True),
    {"type": "tool_result", "content": "no", "is_error": True},
    {"jsonrpc": "2.0", "id": 1, "error": {"code": -32603, "message": "internal error"}},
    {"jsonrpc": "2.0", "id": 1, "result": DOWN},
    {"status": 503, "body": ""},
    {"status_code": 500, "text": "oops"},
    {"statusCode": "502"},
    SimpleNamespace(status_code=504, reason="Gateway Timeout"),
    SimpleNamespace(status=599, headers={}),
]
FINE: list[Any] = [
    {"content": [{"type": "text", "text": "fine"}], "isError": False},
    {"status": 404, "body": "no such page"},
    {"status": "done"},
    {"order_id": 3, "status": 599, "items": []},
    {"exit_code": 1, "stdout": "1 failed"},
    {"returncode": 127},
    {"message": "a line of a log", "is_error": True},
    {"status": True},
    {"orders": 503},
    "isError: true",
    SimpleNamespace(exit_code=2),
    None,
]


def policy(*guards: dict[str, Any]) -> dict[str, Any]:
    return {"name": "p", "tools": {"t": {"effect": "read"}}, "guards": list(guards)}


@pytest.mark.parametrize("way", ["call", "acall", "result", "aresult"])
@pytest.mark.parametrize(
    ("result", "opens"),
    [(r, True) for r in FAILING] + [(r, False) for r in FINE],
    ids=lambda r: str(r)[:60],
)
def test_the_breaker_and_the_score_take_it_for_a_failure(
    way: str, result: Any, opens: bool
) -> None:
    guards = ({"use": "breaker", "failure_threshold": 2}, {"use": "health"})
    shield = shield_for(policy(*guards), clock=FakeClock())
    run = shield.run("a")
    for _ in range(2):
        if way == "call":
            assert run.call(ScriptedTool(result, name="t")) is result, (
                "the agent gets what the tool gave"
            )
        elif way == "acall":
            assert asyncio.run(run.acall(ScriptedTool(result, name="t"))) is result
        elif way == "result":
            decision = run.check("t", {})
            assert run.result("t", {}, result, call=decision.id).proceeds
        else:
            decision = run.check("t", {})
            assert asyncio.run(run.aresult("t", {}, result, call=decision.id)).proceeds
    assert (run.check("t", {}).code == "breaker.open") == opens
    assert shield.health("t") == (0 if opens else 100)


def test_recovery_tries_it_again_and_a_loop_of_it_is_seen() -> None:
    run = shield_for(policy({"use": "recovery", "backoff_base_s": 0.0, "jitter": 0.0})).run("a")
    tool = ScriptedTool(
        {"status": 503, "body": ""},
        {"status": 503, "body": ""},
        {"status": 200, "body": "here"},
        name="t",
    )
    assert run.call(tool) == {"status": 200, "body": "here"}
    assert tool.count == 3

    failures = {"use": "loops", "max_errors": 2, "error_action": "block"}
    run = shield_for(policy(failures)).run("a")
    codes = []
    for number in range(6):
        decision = run.check("t", {"n": number})
        codes.append(decision.code)
        if decision.proceeds:
            run.result("t", {"n": number}, DOWN, call=decision.id)
    assert "loops.errors" in codes
