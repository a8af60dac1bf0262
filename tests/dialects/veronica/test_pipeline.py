"""The pipeline: hooks of the user's own beside those that are shipped, sync and async, and nothing
second beside Stanchion."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from stanchion.dialects import veronica
from stanchion.dialects.veronica import (
    BudgetConfig,
    BudgetWindowHook,
    CircuitBreakerConfig,
    Decision,
    EgressAllowlistHook,
    SafeModeHook,
    SecretGuardHook,
    ShieldConfig,
    ShieldPipeline,
    ToolCallContext,
    VeronicaIntegration,
)
from stanchion.dialects.veronica.words import spoken
from stanchion.policy.formats.veronica import breaker_entry
from stanchion.runtime.shield import Shield
from stanchion.stores.memory import MemoryStore
from stanchion.testing import FakeClock
from stanchion.testing.shields import stable_nonces

CTX = ToolCallContext("r", tool_name="t")
URL = "https://93.184.216.34/"
NOOPS = {
    "pre_dispatch": (veronica.NoopPreDispatchHook, veronica.PreDispatchHook),
    "egress": (veronica.NoopEgressBoundaryHook, veronica.EgressBoundaryHook),
    "retry": (veronica.NoopRetryBoundaryHook, veronica.RetryBoundaryHook),
    "budget": (veronica.NoopBudgetBoundaryHook, veronica.BudgetBoundaryHook),
}


class Says:
    """A hook at every boundary that gives one answer, and remembers what it was given."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.given: list[tuple[Any, ...]] = []

    def _said(self, *given: Any) -> Any:
        self.given.append(given)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def before_llm_call(self, ctx: ToolCallContext) -> Any:
        return self._said(ctx)

    def before_egress(self, ctx: ToolCallContext, url: str, method: str) -> Any:
        return self._said(ctx, url, method)

    def on_error(self, ctx: ToolCallContext, err: BaseException) -> Any:
        return self._said(ctx, err)

    def before_charge(self, ctx: ToolCallContext, cost_usd: float) -> Any:
        return self._said(ctx, cost_usd)


class SaysLater(Says):
    """The same as coroutines."""

    async def before_llm_call(self, ctx: ToolCallContext) -> Any:
        await asyncio.sleep(0)
        return self._said(ctx)


def at(
    pipeline: ShieldPipeline,
    boundary: str,
    ctx: ToolCallContext = CTX,
    err: BaseException | None = None,
) -> Decision:
    """Ask one boundary."""
    match boundary:
        case "pre_dispatch":
            return pipeline.before_llm_call(ctx)
        case "egress":
            return pipeline.before_egress(ctx, URL, "PUT")
        case "retry":
            return pipeline.on_error(ctx, ValueError("x") if err is None else err)
        case _:
            return pipeline.before_charge(ctx, 0.25)


@pytest.mark.parametrize("boundary", NOOPS)
def test_protocols_are_checked_at_runtime_and_no_ops_have_no_opinion(boundary: str) -> None:
    made, protocol = NOOPS[boundary]
    hook: Any = made()
    assert isinstance(hook, protocol)
    assert not isinstance(object(), protocol)
    others = [other for name, (other, _) in NOOPS.items() if name != boundary]
    assert not any(isinstance(other(), protocol) for other in others)
    slots: dict[str, Any] = {boundary: hook}
    assert [at(ShieldPipeline(**slots), name) for name in NOOPS] == [Decision.ALLOW] * 4


def test_without_hooks_everything_passes() -> None:
    assert [at(ShieldPipeline(), name) for name in NOOPS] == [Decision.ALLOW] * 4
    odd = ToolCallContext("r", tool_name="t", metadata={"value": object()})
    assert at(ShieldPipeline(), "pre_dispatch", odd) is Decision.ALLOW, "metadata may be anything"


@pytest.mark.parametrize("boundary", NOOPS)
@pytest.mark.parametrize("answer", list(Decision))
def test_what_a_hook_says_is_what_the_pipeline_says(boundary: str, answer: Decision) -> None:
    """Whoever asks decides what follows: a pipeline waits for nothing, and nobody is stopped by
    what it says."""
    slots: dict[str, Any] = {boundary: Says(answer)}
    pipeline = ShieldPipeline(**slots)
    assert at(pipeline, boundary) is answer
    others = [
        at(pipeline, name, ToolCallContext("r", tool_name="other"))
        for name in NOOPS
        if name != boundary
    ]
    assert others == [Decision.ALLOW] * 3, "the run goes on"
    assert at(pipeline, boundary, ToolCallContext("m")) is answer
    assert {at(pipeline, name, ToolCallContext("m")) for name in NOOPS if name != boundary} == {
        Decision.ALLOW
    }


def test_hooks_are_given_the_very_objects() -> None:
    hook = Says(None)
    error, ctx = ValueError("x"), ToolCallContext("r", tool_name="t", metadata={"value": 1})
    pipeline = ShieldPipeline(hook, hook, hook, hook)
    for boundary in NOOPS:
        at(pipeline, boundary, ctx, error)
    assert hook.given == [(ctx,), (ctx, URL, "PUT"), (ctx, error), (ctx, 0.25)]
    assert all(given[0] is ctx for given in hook.given)
    assert hook.given[2][1] is error


def test_hooks_of_the_users_own_stand_beside_those_that_are_shipped() -> None:
    own = Says(None)
    pipeline = ShieldPipeline(
        pre_dispatch=[SafeModeHook(), own], budget=[own, BudgetWindowHook(max_calls=1)]
    )
    assert pipeline.before_llm_call(CTX) is Decision.HALT
    assert pipeline.before_llm_call(ToolCallContext("r")) is Decision.ALLOW
    assert [pipeline.before_charge(CTX, 0.0) for _ in range(2)] == [Decision.ALLOW, Decision.HALT]
    assert len(own.given) == 3, (
        "after a HALT nobody else is asked, but where a meter speaks they were"
    )


def test_a_hook_may_be_a_coroutine_wherever_it_is_asked() -> None:
    pipeline = ShieldPipeline(pre_dispatch=SaysLater(Decision.HALT))
    assert pipeline.before_llm_call(CTX) is Decision.HALT
    assert asyncio.run(pipeline.abefore_llm_call(CTX)) is Decision.HALT


def test_the_integration_carries_out_what_hooks_decide() -> None:
    """QUEUE waits until the hook has nothing against it any more, RETRY tries again, QUARANTINE
    isolates the tool."""

    class Once(Says):
        def _said(self, *given: Any) -> Any:
            self.given.append(given)
            return self.answer if len(self.given) == 1 else None

    assert (
        VeronicaIntegration(pre_dispatch=Once(Decision.QUEUE)).execute(CTX, lambda: "ran") == "ran"
    )
    outcomes = iter([True, False])

    def flaky() -> str:
        if next(outcomes):
            raise ValueError("once")
        return "ran"

    assert VeronicaIntegration(retry=Once(Decision.RETRY)).execute(CTX, flaky) == "ran"
    vi = VeronicaIntegration(pre_dispatch=Once(Decision.QUARANTINE))
    assert [vi.execute(CTX, lambda: "ran") for _ in range(2)] == [Decision.QUARANTINE] * 2
    assert vi.execute(ToolCallContext("r", tool_name="other"), lambda: "ran") == "ran"


def test_no_library_code_raises_the_blocked_error() -> None:
    error = veronica.ShieldBlockedError(Decision.HALT, "no", "r")
    assert (error.decision, error.reason, error.request_id, str(error)) == (
        Decision.HALT,
        "no",
        "r",
        "no",
    )
    vi = VeronicaIntegration(pre_dispatch=Says(Decision.HALT))
    assert vi.execute(CTX, lambda: 1) is Decision.HALT
    assert str(veronica.ShieldBlockedError(Decision.QUEUE)) == "the shield answers QUEUE"
    sources = Path(veronica.__file__).parents[2].rglob("*.py")
    assert [
        file for file in sources if "raise ShieldBlockedError" in file.read_text(encoding="utf-8")
    ] == []


def test_egress_is_denied_by_default_and_allowed_where_it_is_listed() -> None:
    closed, listed = EgressAllowlistHook(), EgressAllowlistHook(["93.184.216.34", "10.0.0.1"])
    for hook in (closed, listed):
        assert hook.before_egress(CTX, "https://198.51.100.7/", "GET") is Decision.HALT
    assert closed.before_egress(CTX, URL, "GET") is Decision.HALT
    assert listed.before_egress(CTX, URL, "GET") is None
    assert listed.before_egress(CTX, "http://10.0.0.1/x", "GET") is None
    assert listed.before_egress(CTX, "http://169.254.169.254/", "GET") is Decision.HALT


@pytest.mark.parametrize(
    ("metadata", "answer"),
    [
        ({"body": "ours-12345678"}, Decision.QUARANTINE),
        ({"body": "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"}, Decision.QUARANTINE),
        ({"body": "ours-1234"}, None),
    ],
)
def test_credentials_do_not_leave(metadata: dict[str, Any], answer: Decision | None) -> None:
    ctx = ToolCallContext("r", tool_name="upload", metadata=metadata)
    assert SecretGuardHook(["ours-[0-9]{8}"]).before_egress(ctx, URL, "POST") is answer


def test_the_third_credential_isolates_its_tool_and_no_other() -> None:
    pipeline = ShieldPipeline(egress=SecretGuardHook(["ours-[0-9]{8}"]))
    ctx = ToolCallContext("r", tool_name="upload", metadata={"body": "ours-12345678"})
    for _ in range(3):
        assert pipeline.before_egress(ctx, URL, "POST") is Decision.QUARANTINE
    assert pipeline.before_llm_call(ToolCallContext("r", tool_name="upload")) is Decision.QUARANTINE
    assert pipeline.before_llm_call(ToolCallContext("r", tool_name="read")) is Decision.ALLOW


def test_credentials_that_no_tool_sent_are_refused_each_and_isolate_nobody() -> None:
    pipeline = ShieldPipeline(egress=SecretGuardHook(["ours-[0-9]{8}"]))
    for _ in range(4):
        ctx = ToolCallContext("r", metadata={"body": "ours-12345678"})
        assert pipeline.before_egress(ctx, URL, "POST") is Decision.QUARANTINE
        assert pipeline.before_llm_call(ctx) is Decision.QUARANTINE
    assert pipeline.before_llm_call(ToolCallContext("r")) is Decision.ALLOW
    assert pipeline.before_llm_call(ToolCallContext("r", tool_name="read")) is Decision.ALLOW


@pytest.mark.parametrize(
    ("limits", "ctx", "cost", "fit"),
    [
        ({"max_calls": 3}, CTX, 0.0, 3),
        ({"max_cost_usd": 1.0}, CTX, 0.25, 4),
        ({"max_tokens": 100}, ToolCallContext("r", tokens_in=15, tokens_out=10), 0.0, 4),
    ],
)
def test_the_window_bounds_tokens_calls_and_cost(
    limits: Any, ctx: ToolCallContext, cost: float, fit: int
) -> None:
    """Exactly the limit is fine; what is refused is not counted, so that room comes back."""
    clock = FakeClock()
    pipeline = ShieldPipeline(budget=BudgetWindowHook(**limits, window_seconds=60), clock=clock)
    for _ in range(2):
        answers = [pipeline.before_charge(ctx, cost) for _ in range(fit + 3)]
        assert answers == [Decision.ALLOW] * fit + [Decision.HALT] * 3
        clock.advance(120_000)


def test_a_budget_of_the_shield_takes_the_place_of_the_enforcer() -> None:
    """Calls through the integration are charged before they run, and not at all where they are
    refused."""
    config = ShieldConfig(budget=BudgetConfig(enabled=True, max_cost_usd=1.0))
    vi = VeronicaIntegration(shield=config, pre_dispatch=OnlyBuy())
    ran: list[int] = []
    ctx = ToolCallContext("r", tool_name="buy", cost_usd=0.4)
    for _ in range(5):
        vi.execute(ToolCallContext("r", tool_name="sell", cost_usd=0.4), ran.append, 1)
    assert [vi.execute(ctx, lambda: "bought") for _ in range(3)] == [
        "bought",
        "bought",
        Decision.HALT,
    ]
    assert ran == []


class OnlyBuy:
    def before_llm_call(self, ctx: ToolCallContext) -> Decision | None:
        return None if ctx.tool_name == "buy" else Decision.HALT


POLICY_HOOKS: dict[str, Any] = {"egress": [EgressAllowlistHook(["93.184.216.34"])]}
CONFIG = ShieldConfig(
    budget=BudgetConfig(enabled=True, max_calls=4, max_cost_usd=1.0),
    circuit_breaker=CircuitBreakerConfig(enabled=True, failure_threshold=2),
)
steps = st.lists(
    st.tuples(
        st.sampled_from(["pre_dispatch", "egress", "retry", "budget", "result"]),
        st.sampled_from([None, "", "a", "b"]),
        st.sampled_from([0.0, 0.25, 0.5]),
        st.sampled_from([URL, "https://198.51.100.7/"]),
    ),
    max_size=14,
)


def pipeline_for(clock: FakeClock) -> ShieldPipeline:
    store = MemoryStore(clock)
    hooks = {**POLICY_HOOKS, "budget": BudgetWindowHook(config=CONFIG.budget)}
    more = {"guards": [breaker_entry(2, 60)]}
    return ShieldPipeline(
        **hooks, policy=more, clock=clock, store=store, nonces=stable_nonces(store)
    )


def told(shield: Any) -> list[Any]:
    return [(kept.body, kept.hash) for kept in shield.journal.kept()]


def directly(shield: Shield, drawn: list[Any]) -> list[Decision]:
    """The same steps in Stanchion's own words."""
    run = shield.run("veronica", can=("warn", "redact", "retry"))
    answers = []
    for boundary, tool, cost, url in drawn:
        name = "" if tool is None else tool
        match boundary:
            case "pre_dispatch" if tool is None:
                decision = run.model_call([], "", tokens=0, cost_usd=0.0, api_calls=0)
            case "pre_dispatch":
                decision = run.check(tool, {}, tokens=0, cost_usd=0.0, api_calls=0)
            case "egress":
                decision = run.egress(url, "GET", payload={}, tool=name)
            case "retry":
                decision = run.error(name, ValueError("x"), args={})
            case "budget":
                decision = run.charge(0, cost, api_calls=1, tool=name)
            case _ if tool is None:
                decision = run.model_reply("")
            case _:
                decision = run.result(name, {}, None)
        answers.append(spoken(decision))
    return answers


async def alike(pipeline: ShieldPipeline, drawn: list[Any], awaited: bool) -> list[Decision]:
    """The steps through the dialect, by its sync or its async methods."""
    answers = []
    for boundary, tool, cost, url in drawn:
        ctx = ToolCallContext("r", tool_name=tool)
        name, args = {
            "pre_dispatch": ("before_llm_call", ()),
            "egress": ("before_egress", (url, "GET")),
            "retry": ("on_error", (ValueError("x"),)),
            "budget": ("before_charge", (cost,)),
            "result": ("on_result", (None,)),
        }[boundary]
        came = getattr(pipeline, f"a{name}" if awaited else name)(ctx, *args)
        answers.append(await came if awaited else came)
    return answers


@settings(max_examples=25)
@given(steps)
def test_the_dialect_sync_and_async_is_stanchion_itself(drawn: list[Any]) -> None:
    """The same verdicts, and the same records to the byte."""
    sync, awaited, plain = (pipeline_for(FakeClock()) for _ in range(3))
    store = MemoryStore(clock := FakeClock())
    own = Shield.load(
        plain.policy, store=store, journal="memory:", clock=clock, nonces=stable_nonces(store)
    )
    expected = directly(own, drawn)
    assert asyncio.run(alike(sync, drawn, awaited=False)) == expected
    assert asyncio.run(alike(awaited, drawn, awaited=True)) == expected
    assert told(sync.shield) == told(awaited.shield) == told(own)


def nested(depth: int) -> dict[str, Any]:
    """Data that no reader follows to its end."""
    made: dict[str, Any] = {}
    for _ in range(depth):
        made = {"in": made}
    return made


def holding_itself() -> dict[str, Any]:
    made: dict[str, Any] = {}
    made["me"] = made
    return made


@pytest.mark.parametrize(
    "metadata", [{"x": nested(120)}, nested(5_000), holding_itself()], ids=["120", "5000", "cycle"]
)
def test_metadata_that_nobody_reads_stop_nothing(metadata: dict[str, Any]) -> None:
    tool = ToolCallContext("r", tool_name="t", metadata=metadata)
    model = ToolCallContext("r", model="m", metadata=metadata)
    hook = Says(None)
    plain = ShieldPipeline(pre_dispatch=hook, egress=hook, retry=hook)
    said = [
        plain.before_llm_call(tool),
        plain.before_llm_call(model),
        plain.before_egress(tool, URL, "POST"),
    ]
    assert [*said, plain.on_error(tool, ValueError()), plain.on_result(tool, 1)] == [
        Decision.ALLOW
    ] * 5
    assert hook.given[0][0] is tool
    vi = VeronicaIntegration(shield=ShieldConfig(budget=BudgetConfig(enabled=True)))
    assert [vi.execute(tool, lambda: 1), vi.execute(model, lambda: "2")] == [1, "2"]
    reading = ShieldPipeline(egress=SecretGuardHook())
    assert reading.before_llm_call(tool) is Decision.HALT
    assert reading.before_egress(tool, URL, "POST") is Decision.HALT
    assert reading.before_llm_call(model) is Decision.HALT
