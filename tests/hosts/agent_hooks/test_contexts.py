"""Contexts of AGENT-HOOKS as they are written down, and the verdicts on them; no package is needed
for that."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from stanchion.hosts.agent_hooks import AGENT_HOOKS, Interceptor
from stanchion.testing import shield_for
from stanchion.testing.host_suite import KEY
from stanchion.testing.host_suite.scene import FailingClock
from tests.hosts.office import called_with

POLICY: dict[str, Any] = {
    "name": "h",
    "guards": [
        called_with("root"),
        called_with("slow", "warn"),
        called_with("ask", "escalate"),
        {
            "use": "secrets",
            "stages": ["prompt", "model_call", "model_reply", "tool_result", "error"],
        },
        {"use": "budget", "tokens": 5_000},
    ],
}
HIDDEN = "[redacted:github-pat]"


def context(point: str, **fields: Any) -> dict[str, Any]:
    """A context of the contract."""
    return {"spec": "agent-hooks/0.1", "interception_point": point, "sequence": 1, **fields}


def call(name: str, **result: Any) -> dict[str, Any]:
    """A call of a tool, or its outcome."""
    called = {"id": f"c-{name}", "name": "look", "args": {"name": name}}
    if not result:
        return context("pre_tool_call", tool_call=called)
    return context("post_tool_call", tool_call=called, tool_result={"is_error": False, **result})


def reply(content: Any, **usage: int) -> dict[str, Any]:
    """A model's reply."""
    said = {"content": content, "tool_calls": [], "finish_reason": "stop"}
    return context(
        "post_model_call", model={"id": "m"}, response=said, request_id="r1", usage=usage
    )


def verdict(given: dict[str, Any], shield: Any = None) -> dict[str, Any]:
    """The verdict on a context."""
    hosted = AGENT_HOOKS.run(shield_for(POLICY) if shield is None else shield, "ann")
    return asyncio.run(Interceptor(hosted).intercept(given))


ALLOWED = [
    context("agent_startup", agent_init={"tools_registered": []}),
    context("agent_shutdown", summary={"reason": "completed"}),
    context("input", input={"content": "hello", "role": "user"}),
    context("input", input={"content": [{"type": "text", "text": "hello"}], "role": "external"}),
    context("pre_model_call", model={"id": "m"}, messages=[{"role": "user", "content": "hello"}]),
    context("output", output={"content": "done"}),
    call("bob"),
    call("bob", value={"rows": [1, 2]}),
    call("bob", value="no page", is_error=True),
    reply("hello", prompt_tokens=1, completion_tokens=2),
    reply(None),
]


@pytest.mark.parametrize("given", ALLOWED, ids=lambda given: given["interception_point"])
def test_what_is_allowed_goes_on_as_it_is(given: dict[str, Any]) -> None:
    assert verdict(given) == {"decision": "allow"}


CHANGED = [
    (
        context("input", input={"content": f"use {KEY}", "role": "external"}),
        "$target.content",
        f"use {HIDDEN}",
    ),
    (reply(f"it is {KEY}"), "$target.content", f"it is {HIDDEN}"),
    (context("output", output={"content": f"it is {KEY}"}), "$target.content", f"it is {HIDDEN}"),
    (call("ann", value={"key": [KEY]}), "$target", {"key": [HIDDEN]}),
    (call("ann", value=f"tried {KEY}", is_error=True), "$target", f"tried {HIDDEN}"),
]


@pytest.mark.parametrize(("given", "path", "value"), CHANGED, ids=lambda given: str(given)[:20])
def test_what_is_redacted_is_put_into_the_target(
    given: dict[str, Any], path: str, value: Any
) -> None:
    found = verdict(given)
    assert (found["decision"], found["transform"]) == ("transform", {"path": path, "value": value})


def test_content_that_cannot_be_put_back_is_denied() -> None:
    found = verdict(reply([{"type": "text", "text": KEY}]))
    assert found["decision"] == "deny"
    assert KEY not in str(found)


def test_a_refusal_is_a_denial_with_advice() -> None:
    found = verdict(call("root"))
    assert (found["decision"], found["reason"]) == ("deny", "rule.broken")
    assert found["message"].endswith("choose another way")


def test_a_warning_is_allowed_and_recorded() -> None:
    found = verdict(call("slow"))
    assert found["decision"] == "allow"
    assert found["warnings"][0]["message"]


def test_no_approval_of_the_host_lifts_what_waits_for_a_person() -> None:
    shield = shield_for(POLICY)
    hosted = AGENT_HOOKS.run(shield, "ann", "t")
    found = asyncio.run(Interceptor(hosted).intercept(call("ask")))
    assert found["decision"] == "deny"
    assert "approval" not in found
    (ticket,) = shield.tickets()
    assert ticket.id not in str(found)
    shield.approve(ticket.id, by="bob")
    assert asyncio.run(Interceptor(hosted).intercept(call("ask"))) == {"decision": "allow"}


def test_usage_is_charged_to_its_request() -> None:
    shield = shield_for(POLICY)
    judge = Interceptor(AGENT_HOOKS.run(shield, "ann"))
    asks = context(
        "pre_model_call",
        model={"id": "m"},
        messages=[{"role": "user", "content": "x"}],
        request_id="r1",
    )
    assert asyncio.run(judge.intercept(asks))["decision"] == "allow"
    asyncio.run(judge.intercept(reply("hello", prompt_tokens=100, completion_tokens=20)))
    (spent,) = [one.number for one in shield.store.look() if ":tokens:" in one.key]
    assert spent == 120


BAD = [
    {},
    context("on_fire"),
    {**call("bob"), "spec": "other/1.0"},
    context("pre_tool_call"),
    context("pre_tool_call", tool_call={"id": "c", "name": "look", "args": [1]}),
    context("pre_tool_call", tool_call="look"),
    context(
        "post_tool_call",
        tool_call={"id": "c", "name": "look", "args": {}},
        tool_result={"value": 1},
    ),
    context("input", input={"content": object(), "role": "user"}),
]


@pytest.mark.parametrize("given", BAD, ids=lambda given: str(given.get("interception_point")))
def test_what_cannot_be_read_is_denied(given: dict[str, Any]) -> None:
    found = verdict(given)
    assert found["decision"] == "deny"
    assert found["reason"]


def test_our_own_failure_is_a_denial() -> None:
    clock = FailingClock()
    hosted = AGENT_HOOKS.run(shield_for(POLICY, clock=clock), "ann")
    clock.broken = True
    assert asyncio.run(Interceptor(hosted).intercept(call("bob")))["decision"] == "deny"
