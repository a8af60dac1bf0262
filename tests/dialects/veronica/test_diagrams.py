"""The blocks of the document, each held to the code: three diagrams, and the usage example as it
stands."""

from __future__ import annotations

import re
from dataclasses import fields, is_dataclass
from typing import Any

import pytest

from stanchion.dialects import veronica
from stanchion.dialects.veronica import (
    CircuitBreakerConfig,
    Decision,
    ErrorRateConfig,
    SafeModeConfig,
    SafeModeHook,
    ShieldConfig,
    ShieldPipeline,
    ShieldState,
    ToolCallContext,
    VeronicaIntegration,
    config,
    shield,
)
from stanchion.dialects.veronica.words import STATES
from stanchion.kernel.states import EDGES, Signal
from stanchion.testing import FakeClock
from tests.dialects.listed import text

LAYERS, FLOW, MACHINE, USAGE = (text("veronica", line) for line in (7, 95, 155, 372))
PROTOCOLS = {
    "H1": veronica.PreDispatchHook,
    "H2": veronica.EgressBoundaryHook,
    "H3": veronica.RetryBoundaryHook,
    "H4": veronica.BudgetBoundaryHook,
}
NODES = dict(re.findall(r'^\s*(\w+)\["(.*?)"\]$', LAYERS, re.MULTILINE))
ORIGINS = dict(re.findall(r"--> (\w+)\[\"(.*?)\"\]$", LAYERS, re.MULTILINE))


def plain(label: str) -> str:
    """A label's first name."""
    return label.partition("<br/>")[0].partition(" ")[0]


def test_every_class_of_the_layers_is_there_under_its_name() -> None:
    """All nodes but those of the application and of the systems outside, and the two attributes of
    the integration."""
    named = {key: plain(label) for key, label in {**NODES, **ORIGINS}.items()}
    outside = {"A1", "VI1", "VI2", "LLM", "TOOLS"}
    assert len(named) == 28
    for key in named.keys() - outside:
        assert isinstance(getattr(veronica, named[key]), type), named[key]


def test_the_integration_has_the_attributes_of_the_layers() -> None:
    assert (NODES["VI1"], NODES["VI2"]) == (
        "shield: ShieldConfig | None",
        "_shield_pipeline: ShieldPipeline | None",
    )
    bare, full = VeronicaIntegration(), VeronicaIntegration(shield=ShieldConfig())
    assert (bare.shield, bare._shield_pipeline) == (None, None)
    assert isinstance(full.shield, ShieldConfig)
    assert isinstance(full._shield_pipeline, ShieldPipeline)


def test_the_configuration_has_the_five_parts_of_the_layers_and_the_error_rate() -> None:
    parts = re.findall(r"^\s*SC --> \w+\[\"(\w+)\"\]$", LAYERS, re.MULTILINE)
    assert len(parts) == 5
    assert [type(getattr(ShieldConfig(), one.name)).__name__ for one in fields(ShieldConfig)] == [
        *parts,
        "ErrorRateConfig",
    ]
    assert all(is_dataclass(getattr(config, part)) for part in parts)


def test_the_types_are_those_of_the_layers() -> None:
    members = re.findall(r"[A-Z]{4,}", NODES["DEC"].partition("<br/>")[2])
    assert [member.name for member in Decision] == members
    assert all(isinstance(member, str) and member == member.name for member in Decision)
    assert "(frozen dataclass, 10 fields)" in NODES["TCC"]
    assert len(fields(ToolCallContext)) == 10
    with pytest.raises(AttributeError):
        ToolCallContext("r").tool_name = "x"  # type: ignore[misc]


def test_hooks_implement_what_the_layers_say_and_nothing_else() -> None:
    edges = re.findall(
        r"^\s*(SMH|PH\d) (?:-->|-\.-x|-\.->)\|\"(.*?)\"\| (H\d)$", LAYERS, re.MULTILINE
    )
    assert len(edges) == 6
    made: dict[str, Any] = {
        "SMH": SafeModeHook(),
        "PH1": veronica.BudgetWindowHook(),
        "PH2": veronica.EgressAllowlistHook(),
    }
    for hook, verb, protocol in edges:
        assert isinstance(made[hook], PROTOCOLS[protocol]) == ("NOT" not in verb), (
            hook,
            verb,
            protocol,
        )
    assert isinstance(veronica.SecretGuardHook(), veronica.EgressBoundaryHook)


def test_the_pipeline_asks_all_four_protocols() -> None:
    assert re.findall(r'^\s*SP -->\|"evaluates"\| (H\d)$', LAYERS, re.MULTILINE) == list(PROTOCOLS)
    heard: list[str] = []

    class All:
        def before_llm_call(self, ctx: ToolCallContext) -> None:
            heard.append("H1")

        def before_egress(self, ctx: ToolCallContext, url: str, method: str) -> None:
            heard.append("H2")

        def on_error(self, ctx: ToolCallContext, err: BaseException) -> None:
            heard.append("H3")

        def before_charge(self, ctx: ToolCallContext, cost_usd: float) -> None:
            heard.append("H4")

    hook, ctx = All(), ToolCallContext("r", tool_name="t")
    pipeline = ShieldPipeline(hook, hook, hook, hook)
    answers = [
        pipeline.before_llm_call(ctx),
        pipeline.before_egress(ctx, "https://example.org/", "GET"),
        pipeline.on_error(ctx, ValueError()),
        pipeline.before_charge(ctx, 0.1),
    ]
    assert (heard, answers) == (list(PROTOCOLS), [Decision.ALLOW] * 4)


def test_the_application_reaches_tools_and_models_through_the_integration() -> None:
    """The edges from the application to what is outside."""
    links = re.findall(r"^\s*(A1|VI|CORE) --> (VI|CORE|LLM|TOOLS)$", LAYERS, re.MULTILINE)
    assert links == [("A1", "VI"), ("VI", "CORE"), ("CORE", "LLM"), ("CORE", "TOOLS")]
    vi = VeronicaIntegration(shield=ShieldConfig(), core=[veronica.AgentStepGuard(2)])
    found = object()
    assert vi.execute(ToolCallContext("1", tool_name="look"), lambda: found) is found
    assert (
        vi.execute(ToolCallContext("2", model="large"), lambda messages: messages[0], ["hi"])
        == "hi"
    )
    assert vi.execute(ToolCallContext("3", tool_name="look"), lambda: found) is Decision.HALT, (
        "both steps are used"
    )


def scenarios() -> dict[str, str]:
    """The parts of the flow, by their titles."""
    parts = re.split(r"Note over App,LLM: (.*)", FLOW)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_the_flow_has_these_parts_and_participants() -> None:
    assert [title.partition(" --")[0].partition(" (")[0] for title in scenarios()] == [
        "Happy path",
        "SafeMode enabled",
        "SafeMode enabled",
        "Egress boundary",
    ]
    known = {"Application", "Runtime Core", "LLM Provider"}
    names = set(re.findall(r"participant \w+ as (.+)", FLOW)) - known
    assert all(isinstance(getattr(veronica, name), type) for name in names)
    calls = set(re.findall(r"(\w+)\(ctx", FLOW))
    assert calls == {"before_llm_call", "on_error", "before_egress", "before_charge"}
    assert all(callable(getattr(ShieldPipeline, name)) for name in calls)


@pytest.mark.parametrize("given", [None, ShieldConfig()], ids=["no shield", "nothing switched on"])
def test_flow_the_happy_path(given: ShieldConfig | None) -> None:
    steps = next(iter(scenarios().values()))
    assert "SP-->>VI: Decision.ALLOW" in steps
    assert "Core-->>App: result" in steps
    vi, ctx = VeronicaIntegration(shield=given), ToolCallContext("r", tool_name="t")
    if vi._shield_pipeline is not None:
        assert vi._shield_pipeline.before_llm_call(ctx) is Decision.ALLOW
    assert vi.execute(ctx, lambda x: x * 2, 21) == 42


def test_flow_safe_mode_blocks_a_tool_call() -> None:
    steps = scenarios()["SafeMode enabled -- tool call blocked"]
    assert "VI-->>App: HALT (tool dispatch blocked)" in steps
    vi = VeronicaIntegration(shield=ShieldConfig(safe_mode=SafeModeConfig(enabled=True)))
    ran: list[int] = []
    ctx = ToolCallContext("r", tool_name="t")
    assert SafeModeHook().before_llm_call(ctx) is Decision.HALT
    assert vi._shield_pipeline is not None
    assert vi._shield_pipeline.before_llm_call(ctx) is Decision.HALT
    assert vi.execute(ctx, ran.append, 1) is Decision.HALT
    assert ran == []
    assert vi.execute(ToolCallContext("r", model="m"), lambda _messages: "words", []) == "words"


def test_flow_an_error_is_not_retried_although_the_call_itself_was_let_through() -> None:
    """Safe mode is off for the dispatch of this call, and on for its error."""
    steps = scenarios()["SafeMode enabled -- error retry suppressed"]
    assert "(safe_mode.enabled=False for this call)" in steps
    assert "VI-->>App: HALT (no retry)" in steps
    recovery = {"use": "recovery", "backoff_base_s": 0, "retry_unsafe": True}
    calls: list[int] = []

    def fails() -> None:
        calls.append(1)
        raise ConnectionError("down")

    ctx = ToolCallContext("r", tool_name="t")
    assert (
        VeronicaIntegration(retry=SafeModeHook(), policy={"guards": [recovery]}).execute(ctx, fails)
        is Decision.HALT
    )
    assert len(calls) == 1
    with pytest.raises(ConnectionError):
        VeronicaIntegration(policy={"guards": [recovery]}).execute(ctx, fails)
    assert len(calls) == 5, "without the hook it is tried three times again"


def test_flow_egress_and_charges_are_not_covered_by_safe_mode() -> None:
    steps = scenarios()["Egress boundary (NOT covered by SafeMode)"]
    assert steps.count("Returns Decision.ALLOW.") == 2
    vi = VeronicaIntegration(shield=ShieldConfig(safe_mode=SafeModeConfig(enabled=True)))
    pipeline, ctx = vi._shield_pipeline, ToolCallContext("r", tool_name="t")
    assert pipeline is not None
    assert pipeline.before_egress(ctx, "https://example.org/", "POST") is Decision.ALLOW
    assert pipeline.before_charge(ctx, 5.0) is Decision.ALLOW


WRITTEN = re.findall(r"^\s*(\w+) --> (\w+) : (.*?) \[", MACHINE, re.MULTILINE)
STATE_OF = {
    letter: ShieldState(name) for name, letter in re.findall(r'state "(\w+)" as (\w+)', MACHINE)
}


def test_the_machine_has_these_states_and_the_thirteen_edges() -> None:
    assert list(STATE_OF.values()) == list(ShieldState)
    assert "[*] --> NORMAL" in MACHINE
    assert VeronicaIntegration(shield=ShieldConfig()).state is ShieldState.NORMAL
    edges = [(STATE_OF[start], STATE_OF[end]) for start, end, _ in WRITTEN]
    assert len(edges) == 13
    assert edges == [(STATES[edge.start], STATES[edge.end]) for edge in EDGES]


CAUSES = {
    "error rate exceeds threshold": Signal.FAILING,
    "manual flag via ShieldConfig": Signal.SAFE_ON,
    "emergency halt": Signal.HALT,
    "error rate recovers": Signal.RECOVERED,
    "repeated failures on same tool": Signal.REPEATED,
    "manual flag": Signal.SAFE_ON,
    "budget exhausted": Signal.EXHAUSTED,
    "quarantine timeout expires": Signal.LAPSED,
    "escalation": Signal.ESCALATED,
    "manual flag cleared": Signal.SAFE_OFF,
    "operator decision": Signal.HALT,
    "operator restart": Signal.RESTART,
}


@pytest.mark.parametrize("number", range(13))
def test_each_edge_of_the_machine_is_taken_for_the_reason_that_it_states(number: int) -> None:
    assert CAUSES[WRITTEN[number][2]] in EDGES[number].on


RATE = ErrorRateConfig(
    enabled=True,
    window_calls=4,
    min_calls=2,
    warning_rate=0.5,
    halt_rate=1.0,
    repeated_failures=2,
    recovery_seconds=10,
)


def failing(vi: VeronicaIntegration, *tools: str) -> None:
    for tool in tools:
        with pytest.raises(ConnectionError):
            vi.execute(ToolCallContext("r", tool_name=tool), broken)


def broken() -> None:
    raise ConnectionError("down")


def test_the_machine_goes_to_warning_and_halt_by_its_error_rate_and_back() -> None:
    clock = FakeClock()
    vi = VeronicaIntegration(shield=ShieldConfig(), error_rate=RATE, clock=clock)
    fine = ToolCallContext("r", tool_name="t")
    failing(vi, "a", "b")
    assert vi.state.name == "WARNING"
    assert vi.execute(fine, lambda: 1) == 1, "a warning refuses nothing"
    clock.advance(10_000)
    assert vi.state.name == "NORMAL"
    for _ in range(4):
        vi.execute(fine, lambda: 1)
    failing(vi, "a", "b", "c", "d")
    assert vi.state.name == "HALT"
    clock.advance(10**9)
    assert vi.execute(fine, lambda: 1) is Decision.HALT, "a halt lasts until an operator restarts"
    assert vi._shield_pipeline is not None
    assert vi._shield_pipeline.before_llm_call(ToolCallContext("m")) is Decision.HALT, (
        "all calls do"
    )
    vi.restart("mended")
    assert (vi.state, vi.execute(fine, lambda: 1)) == (ShieldState.NORMAL, 1)


def test_the_machine_isolates_one_tool_and_lets_it_go_on_after_a_time() -> None:
    clock = FakeClock()
    rate = ErrorRateConfig(
        enabled=True,
        window_calls=8,
        min_calls=2,
        repeated_failures=3,
        quarantine_seconds=100,
        recovery_seconds=10,
    )
    vi = VeronicaIntegration(shield=ShieldConfig(), error_rate=rate, clock=clock)
    for _ in range(4):
        vi.execute(ToolCallContext("r", tool_name="good"), lambda: 1)
    failing(vi, "bad", "bad", "bad")
    assert vi.tool_state("bad") is ShieldState.QUARANTINE
    assert vi.execute(ToolCallContext("r", tool_name="bad"), lambda: 1) is Decision.QUARANTINE
    assert vi.execute(ToolCallContext("r", tool_name="good"), lambda: 1) == 1
    clock.advance(100_000)
    assert vi.tool_state("bad") is ShieldState.WARNING
    assert vi.execute(ToolCallContext("r", tool_name="bad"), lambda: 1) == 1


@pytest.mark.parametrize(
    "budget",
    [
        {"core": [veronica.BudgetEnforcer(1.0)]},
        {"shield": ShieldConfig(budget=veronica.BudgetConfig(enabled=True, max_cost_usd=1.0))},
    ],
    ids=["enforcer", "window"],
)
def test_the_machine_halts_a_shield_in_warning_whose_budget_is_exhausted(
    budget: dict[str, Any],
) -> None:
    vi = VeronicaIntegration(error_rate=RATE, **budget)
    dear = ToolCallContext("r", tool_name="buy", cost_usd=2.0)
    assert vi.execute(dear, lambda: 1) is Decision.HALT
    assert vi.state.name == "NORMAL", "a shield that is well only refuses"
    failing(vi, "a", "b")
    assert (vi.state, vi.execute(dear, lambda: 1), vi.state) == (
        ShieldState.WARNING,
        Decision.HALT,
        ShieldState.HALT,
    )


def test_the_machine_follows_operators() -> None:
    vi = VeronicaIntegration(shield=ShieldConfig(safe_mode=SafeModeConfig(enabled=True)))
    assert vi.state.name == "SAFE_MODE"
    vi.set_safe_mode(False)
    assert vi.state.name == "NORMAL"
    vi.set_safe_mode(True, "drill")
    assert vi.execute(ToolCallContext("r", tool_name="t"), lambda: 1) is Decision.HALT
    vi.halt("operator decision")
    assert vi.state.name == "HALT"
    vi.restart()
    assert vi.state.name == "NORMAL"
    vi.quarantine("pay", 60)
    assert vi.tool_state("pay") is ShieldState.QUARANTINE
    vi.release("pay")
    assert vi.execute(ToolCallContext("r", tool_name="pay"), lambda: 1) == 1


@pytest.mark.parametrize("flag", ["1", "0", None])
def test_the_usage_example_runs_as_it_stands(
    flag: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VERONICA_SAFE_MODE", raising=False)
    if flag is not None:
        monkeypatch.setenv("VERONICA_SAFE_MODE", flag)
    seen: list[VeronicaIntegration] = []

    class Noted(VeronicaIntegration):
        def __init__(self, **given: Any) -> None:
            super().__init__(**given)
            seen.append(self)

    names: dict[str, Any] = {}
    monkeypatch.setattr(veronica, "VeronicaIntegration", Noted)
    exec(USAGE.replace("veronica_core", "stanchion.dialects.veronica"), names)  # noqa: S102 - the document's own code
    bare, braked, from_env = seen
    assert bare._shield_pipeline is None
    assert names["vi"] is from_env
    assert names["ShieldConfig"] is shield.ShieldConfig
    ctx = ToolCallContext("r", tool_name="t")
    answers = [vi.execute(ctx, lambda: "done") for vi in seen]
    assert answers == ["done", Decision.HALT, Decision.HALT if flag == "1" else "done"]
    assert (braked.state, from_env.state) == (
        ShieldState.SAFE_MODE,
        ShieldState.SAFE_MODE if flag == "1" else ShieldState.NORMAL,
    )


def test_notes_of_the_machine() -> None:
    """What the notes beside the states promise, each where it is not shown above."""
    assert re.findall(r"note (?:left|right) of (\w+)", MACHINE) == ["N", "SM", "W", "Q", "H"]
    normal = VeronicaIntegration(shield=ShieldConfig())
    ctx = ToolCallContext("r", tool_name="t")
    assert normal._shield_pipeline is not None
    assert normal._shield_pipeline.on_error(ctx, ValueError("x")) is Decision.ALLOW, (
        "pass-through behaviour"
    )
    looped = VeronicaIntegration(
        shield=ShieldConfig(circuit_breaker=CircuitBreakerConfig(enabled=True))
    )
    failing(looped, *["t"] * 5)
    assert looped.state.name == "NORMAL", "safe mode is a manual toggle only"
    assert looped.execute(ctx, lambda: 1) is Decision.HALT
