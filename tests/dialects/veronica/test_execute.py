"""Calls through the integration are those of Stanchion itself: the same outcomes and records, sync
and async."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from stanchion.dialects import veronica
from stanchion.dialects.veronica import (
    BudgetConfig,
    CircuitBreakerConfig,
    Decision,
    DialectError,
    ErrorRateConfig,
    ShieldConfig,
    ToolCallContext,
    VeronicaIntegration,
)
from stanchion.dialects.veronica.words import spoken
from stanchion.runtime.calling.tool import Tool
from stanchion.runtime.errors import Refused
from stanchion.runtime.shield import Shield
from stanchion.stores.memory import MemoryStore
from stanchion.testing import FakeClock
from stanchion.testing.shields import stable_nonces

CONFIG = ShieldConfig(
    budget=BudgetConfig(enabled=True, max_calls=6, max_cost_usd=1.0),
    circuit_breaker=CircuitBreakerConfig(enabled=True, failure_threshold=2),
)
RATE = ErrorRateConfig(
    enabled=True, window_calls=4, min_calls=2, repeated_failures=2, halt_rate=1.0
)
calls = st.lists(
    st.tuples(st.sampled_from(["a", "b"]), st.sampled_from([None, 0.0, 0.3]), st.booleans()),
    max_size=10,
)


def work(fails: bool) -> str:
    if fails:
        raise ConnectionError("down")
    return "done"


async def awork(fails: bool) -> str:
    return work(fails)


def integration() -> VeronicaIntegration:
    store = MemoryStore(clock := FakeClock())
    return VeronicaIntegration(
        shield=CONFIG, error_rate=RATE, store=store, clock=clock, nonces=stable_nonces(store)
    )


def told(shield: Shield) -> list[Any]:
    return [(kept.body, kept.hash) for kept in shield.journal.kept()]


def executed(vi: VeronicaIntegration, drawn: list[Any]) -> list[Any]:
    came: list[Any] = []
    for tool, cost, fails in drawn:
        try:
            came.append(
                vi.execute(ToolCallContext("r", tool_name=tool, cost_usd=cost), work, fails)
            )
        except ConnectionError as error:
            came.append(str(error))
    return came


async def aexecuted(vi: VeronicaIntegration, drawn: list[Any]) -> list[Any]:
    came: list[Any] = []
    for tool, cost, fails in drawn:
        try:
            came.append(
                await vi.aexecute(ToolCallContext("r", tool_name=tool, cost_usd=cost), awork, fails)
            )
        except ConnectionError as error:
            came.append(str(error))
    return came


def directly(shield: Shield, drawn: list[Any]) -> list[Any]:
    """The same calls in Stanchion's own words."""
    shield.run("veronica", can=("warn", "redact", "retry"))
    run = shield.run("veronica")
    came: list[Any] = []
    for tool, cost, fails in drawn:
        usage = {"tokens": 0, "cost_usd": 0.0 if cost is None else cost, "api_calls": 1}
        try:
            came.append(run.call(Tool(work, tool, usage=usage), fails))
        except Refused as refused:
            came.append(spoken(refused.decision))
        except ConnectionError as error:
            came.append(str(error))
    return came


@settings(max_examples=15)
@given(calls)
def test_calls_are_those_of_stanchion_itself(drawn: list[Any]) -> None:
    """The same results, refusals and exceptions, and the same records to the byte."""
    sync, awaited = integration(), integration()
    assert sync._shield_pipeline is not None
    assert awaited._shield_pipeline is not None
    store = MemoryStore(clock := FakeClock())
    policy = sync._shield_pipeline.policy
    own = Shield.load(
        policy, store=store, journal="memory:", clock=clock, nonces=stable_nonces(store)
    )
    expected = directly(own, drawn)
    assert executed(sync, drawn) == expected
    assert asyncio.run(aexecuted(awaited, drawn)) == expected
    assert told(sync._shield_pipeline.shield) == told(own) == told(awaited._shield_pipeline.shield)


class Dear:
    """Asks for less where the large model is asked."""

    def before_llm_call(self, ctx: ToolCallContext) -> Decision | None:
        return Decision.DEGRADE if ctx.model == "large" else None


def test_a_hook_that_degrades_has_a_ladder_of_its_own() -> None:
    asked: list[str] = []

    def ask(prompt: str, model: str = "large") -> str:
        asked.append(model)
        return "ok"

    ladder = {"degrade": {"models": {"large": "small"}}}
    vi = VeronicaIntegration(pre_dispatch=Dear(), policy=ladder)
    assert vi.execute(ToolCallContext("r", model="large"), ask, "hi") == "ok"
    assert asked == ["small"]
    pipeline = vi._shield_pipeline
    assert pipeline is not None
    pipeline.shield.reload({**pipeline.policy, "version": "2"})
    with pytest.raises(DialectError, match="nothing acts on `degrade`"):
        VeronicaIntegration(policy=ladder)
    with pytest.raises(DialectError, match="nothing acts on `degrade`"):
        VeronicaIntegration(policy=ladder, egress=veronica.NoopEgressBoundaryHook())
