"""Safe mode, where a table cannot reach: its switches, wrapped tools, other processes, retries
under way."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from stanchion import Action, Finding, Refused, Shield
from stanchion.kernel.findings import Retry
from stanchion.kernel.guard import Kind
from stanchion.stores.memory import MemoryStore
from stanchion.testing import FakeClock, ScriptedModel, ScriptedTool, shield_for

EMPTY = {"name": "empty"}
BRAKE = {"name": "brake", "guards": [{"use": "safe_mode"}]}


@pytest.mark.parametrize("variable", ["STANCHION_SAFE_MODE", "VERONICA_SAFE_MODE"])
@pytest.mark.parametrize(
    ("value", "on"),
    [
        ("1", True),
        ("true", True),
        (" Yes ", True),
        ("ON", True),
        ("0", False),
        ("", False),
        ("off", False),
    ],
)
def test_a_variable_of_the_environment_switches_it_on(
    variable: str, value: str, on: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, value)
    decision = Shield.load(EMPTY).run("a").check("t", {})
    assert decision.code == ("safe_mode.tool_refused" if on else "")


def test_what_the_code_says_beats_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STANCHION_SAFE_MODE", "1")
    assert Shield.load(EMPTY, safe_mode=False).run("a").check("t", {}).proceeds
    assert not Shield.load(EMPTY).run("a").check("t", {}).proceeds


def test_the_environment_is_read_when_a_shield_is_made_and_not_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = Shield.load(EMPTY).run("a")
    monkeypatch.setenv("STANCHION_SAFE_MODE", "1")
    assert run.check("t", {}).proceeds


def test_it_is_switched_on_and_off_under_a_run() -> None:
    shield = shield_for(EMPTY)
    run = shield.run("a")
    tool = ScriptedTool("done", name="save")
    assert run.call(tool) == "done"
    shield.safe_mode(True, "the pager went off")
    assert (shield.standing().state, shield.standing().why) == ("safe", "the pager went off")
    with pytest.raises(
        Refused, match="safe mode is on: tool `save` is not run; answer without tools"
    ):
        run.call(tool)
    assert run.model(ScriptedModel("still here"), []) == "still here"
    shield.safe_mode(False)
    assert run.call(tool) == "done"
    assert tool.count == 2


@pytest.mark.parametrize("policy", [EMPTY, BRAKE], ids=["switched on", "in the policy"])
def test_wrapped_tools_of_every_shape_are_refused(policy: dict[str, Any]) -> None:
    shield = shield_for(policy, safe_mode=policy is EMPTY)
    tool = ScriptedTool(["item"])
    plain, generator = shield.tool(tool), shield.tool(tool.as_generator())
    coroutine, async_generator = (
        shield.tool(tool.as_async()),
        shield.tool(tool.as_async_generator()),
    )

    async def collected() -> list[Any]:
        return [item async for item in async_generator()]

    with shield.run("a"):
        for call in (
            plain,
            lambda: list(generator()),
            lambda: asyncio.run(coroutine()),
            lambda: asyncio.run(collected()),
        ):
            with pytest.raises(Refused, match="safe mode is on"):
                call()
    assert tool.count == 0


def test_other_shields_on_the_same_store_know_within_a_second() -> None:
    clock = FakeClock()
    store = MemoryStore(clock)
    here, there = (shield_for(EMPTY, clock=clock, store=store) for _ in range(2))
    run = there.run("a")
    assert run.check("t", {}).proceeds
    here.safe_mode(True)
    clock.advance(1_001)
    assert run.check("t", {}).code == "safe_mode.tool_refused"
    here.safe_mode(False)
    assert run.check("t", {}).proceeds


def test_tenants_have_brakes_of_their_own() -> None:
    shield = shield_for(EMPTY)
    shield.safe_mode(True, tenant="red")
    assert not shield.run("a", tenant="red").check("t", {}).proceeds
    assert shield.run("a", tenant="blue").check("t", {}).proceeds


class RetryOnce:
    """A guard that has every error tried again."""

    id = "retry"
    kind = Kind.PURE
    stages = ("error",)

    def judge(self, _reading: Any) -> Finding:
        return Finding(Action.RETRY, "own.retry", terms=Retry(max_attempts=1))


@pytest.mark.parametrize(("braked", "calls"), [(False, 2), (True, 1)])
def test_an_error_is_not_retried_even_where_a_guard_asks_for_it(braked: bool, calls: int) -> None:
    shield = shield_for(EMPTY, guards=[RetryOnce()])
    count = 0

    def flaky() -> None:
        nonlocal count
        count += 1
        shield.safe_mode(braked)
        raise OSError("no disk")

    with pytest.raises(OSError, match="no disk"):
        shield.run("a").call(flaky)
    assert count == calls
