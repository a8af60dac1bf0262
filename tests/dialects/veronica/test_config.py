"""The configuration: off by default, from the environment, JSON and YAML, and what nobody could act
on refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import copy
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from stanchion.dialects import veronica
from stanchion.dialects.veronica import (
    BudgetConfig,
    CircuitBreakerConfig,
    Decision,
    DialectError,
    EgressConfig,
    ErrorRateConfig,
    SafeModeConfig,
    SecretGuardConfig,
    ShieldConfig,
    ShieldPipeline,
    ToolCallContext,
    VeronicaIntegration,
)
from stanchion.dialects.veronica.config import SECTIONS, variables

CTX = ToolCallContext("r", tool_name="t")
DEAR = ToolCallContext("r", tool_name="t", cost_usd=1e9)
ALL_ON: dict[str, Any] = {
    "safe_mode": {"enabled": True},
    "budget": {
        "enabled": True,
        "max_tokens": 5,
        "max_calls": 6,
        "max_cost_usd": 0.5,
        "window_seconds": 60.0,
    },
    "circuit_breaker": {"enabled": True, "failure_threshold": 2, "recovery_timeout_seconds": 7.0},
    "egress": {"enabled": True, "allowed_hosts": ["example.org", "10.0.0.1"]},
    "secret_guard": {"enabled": True, "patterns": ["zz-[0-9]{8}", "a,b"]},
    "error_rate": {
        "enabled": True,
        "window_calls": 30,
        "min_calls": 5,
        "warning_rate": 0.25,
        "halt_rate": 0.5,
        "recovery_seconds": 9.0,
        "repeated_failures": 3,
        "quarantine_seconds": 90.0,
    },
}
ENVIRONMENT = {
    "VERONICA_SAFE_MODE": "1",
    "VERONICA_BUDGET": "on",
    "VERONICA_BUDGET_MAX_TOKENS": "5",
    "VERONICA_BUDGET_MAX_CALLS": "6",
    "VERONICA_BUDGET_MAX_COST_USD": "0.5",
    "VERONICA_BUDGET_WINDOW_SECONDS": "60",
    "VERONICA_CIRCUIT_BREAKER": "true",
    "VERONICA_CIRCUIT_BREAKER_FAILURE_THRESHOLD": "2",
    "VERONICA_CIRCUIT_BREAKER_RECOVERY_TIMEOUT_SECONDS": "7",
    "VERONICA_EGRESS": "yes",
    "VERONICA_EGRESS_ALLOWED_HOSTS": "example.org, 10.0.0.1",
    "VERONICA_SECRET_GUARD": "1",
    "VERONICA_SECRET_GUARD_PATTERNS": "zz-[0-9]{8}\na,b",
    "VERONICA_ERROR_RATE": "1",
    "VERONICA_ERROR_RATE_WINDOW_CALLS": "30",
    "VERONICA_ERROR_RATE_MIN_CALLS": "5",
    "VERONICA_ERROR_RATE_WARNING_RATE": "0.25",
    "VERONICA_ERROR_RATE_HALT_RATE": "0.5",
    "VERONICA_ERROR_RATE_RECOVERY_SECONDS": "9",
    "VERONICA_ERROR_RATE_REPEATED_FAILURES": "3",
    "VERONICA_ERROR_RATE_QUARANTINE_SECONDS": "90",
}


def test_everything_is_off_by_default() -> None:
    assert not ShieldConfig().is_any_enabled
    assert not any(part["enabled"] for part in ShieldConfig().to_dict().values())
    assert VeronicaIntegration()._shield_pipeline is None
    budget, breaker = BudgetConfig(), CircuitBreakerConfig()
    assert (budget.max_tokens, budget.max_calls, budget.max_cost_usd, budget.window_seconds) == (
        100_000,
        1_000,
        10,
        3600,
    )
    assert (breaker.failure_threshold, breaker.recovery_timeout_seconds) == (5, 60)


@pytest.mark.parametrize("section", SECTIONS)
def test_one_feature_alone_is_any(section: str) -> None:
    assert ShieldConfig.from_dict({section: {"enabled": True}}).is_any_enabled


def test_it_is_read_alike_from_the_environment_json_and_yaml(tmp_path: Path) -> None:
    (tmp_path / "shield.json").write_text(json.dumps(ALL_ON), encoding="utf-8")
    (tmp_path / "shield.yaml").write_text(json.dumps(ALL_ON), encoding="utf-8")
    (tmp_path / "plain.yaml").write_text("safe_mode:\n  enabled: true\n", encoding="utf-8")
    (tmp_path / "none.yaml").write_text("{}", encoding="utf-8")
    read = ShieldConfig.from_dict(ALL_ON)
    assert read.to_dict() == ALL_ON
    assert ShieldConfig.from_json(tmp_path / "shield.json") == read
    assert ShieldConfig.from_yaml(tmp_path / "shield.yaml") == read
    assert ShieldConfig.from_yaml(tmp_path / "shield.json") == read
    assert ShieldConfig.from_env(ENVIRONMENT) == read
    assert ShieldConfig.from_yaml(tmp_path / "plain.yaml") == ShieldConfig(
        safe_mode=SafeModeConfig(enabled=True)
    )
    assert ShieldConfig.from_yaml(tmp_path / "none.yaml") == ShieldConfig()
    assert ENVIRONMENT.keys() == variables().keys(), (
        "every option has a variable, and each is tried here"
    )


@pytest.mark.parametrize(
    ("flag", "on"), [("1", True), ("TRUE", True), ("on", True), ("0", False), ("", False)]
)
def test_the_environment_switches_safe_mode(
    flag: str, on: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VERONICA_SAFE_MODE", flag)
    assert ShieldConfig.from_env().safe_mode.enabled is on
    answer = VeronicaIntegration(shield=ShieldConfig.from_env()).execute(CTX, lambda: 1)
    assert answer == (Decision.HALT if on else 1)
    assert VeronicaIntegration(shield=ShieldConfig()).execute(CTX, lambda: 1) == 1, (
        "only `from_env` reads it"
    )


def test_the_brake_of_the_house_holds_here_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STANCHION_SAFE_MODE", "1")
    assert VeronicaIntegration(shield=ShieldConfig()).execute(CTX, lambda: 1) is Decision.HALT


WRONG: list[tuple[Callable[[], object], str]] = [
    (
        lambda: ShieldConfig.from_dict({"safemode": {}}),
        "there is no feature `safemode`: did you mean `safe_mode`?",
    ),
    (
        lambda: ShieldConfig.from_dict({"budget": {"enabled": True, "max_call": 1}}),
        "did you mean `max_calls`?",
    ),
    (
        lambda: ShieldConfig.from_dict({"budget": {"max_calls": 5}}),
        "nothing acts on it while `budget` is off",
    ),
    (lambda: ShieldConfig.from_dict({"budget": 5}), "`budget` is of the type `int`"),
    (lambda: ShieldConfig.from_dict([]), ("`ShieldConfig` is read from a `list`")),  # type: ignore[arg-type]
    (lambda: ShieldConfig(safe_mode=True), ("`safe_mode` is of the type `bool`")),  # type: ignore[arg-type]
    (lambda: SafeModeConfig(enabled="no"), ("`safe_mode.enabled`: the text `no` was found where")),  # type: ignore[arg-type]
    (lambda: BudgetConfig(max_calls=-1), "`budget.max_calls`: `-1` is out of bounds"),
    (
        lambda: BudgetConfig(max_cost_usd=float("nan")),
        "`budget.max_cost_usd`: this number is not a finite number",
    ),
    (lambda: BudgetConfig(window_seconds=0), "`budget.window_seconds`: `0` is out of bounds"),
    (
        lambda: CircuitBreakerConfig(failure_threshold=0),
        "`circuit_breaker.failure_threshold`: `0` is out of bounds",
    ),
    (
        lambda: CircuitBreakerConfig(failure_threshold=True),
        "`circuit_breaker.failure_threshold`: `true` was found where",
    ),
    (lambda: EgressConfig(allowed_hosts="example.org"), ("put it in brackets")),  # type: ignore[arg-type]
    (lambda: SecretGuardConfig(patterns=[""]), "`secret_guard.patterns[0]`: 0 characters"),
    (lambda: ErrorRateConfig(halt_rate=1.5), "give a number of at most 1"),
    (
        lambda: ShieldConfig.from_env({"VERONICA_SAFE_MOD": "1"}),
        "did you mean `VERONICA_SAFE_MODE`?",
    ),
    (
        lambda: ShieldConfig.from_env({"VERONICA_EGRESS_X": "1"}),
        "nothing reads `VERONICA_EGRESS_X`",
    ),
    (lambda: ShieldConfig.from_env({"VERONICA_SAFE_MODE": "perhaps"}), "give 1 or 0"),
    (
        lambda: ShieldConfig.from_env({"VERONICA_BUDGET_MAX_CALLS": "5"}),
        (
            "nothing acts on it while `VERONICA_BUDGET` is off: add `VERONICA_BUDGET=1`, or "
            "`VERONICA_BUDGET=0`"
        ),
    ),
    (
        lambda: ShieldConfig.from_env({"VERONICA_BUDGET": "1", "VERONICA_BUDGET_MAX_CALLS": "x"}),
        "give a number",
    ),
    (lambda: VeronicaIntegration(shield={}), ("`shield` is of the type `dict`")),  # type: ignore[arg-type]
    (lambda: VeronicaIntegration(store="memory:"), "nothing acts on `store` without a shield"),
    (lambda: VeronicaIntegration(error_rate=5), ("`error_rate` is of the type `int`")),  # type: ignore[arg-type]
    (lambda: VeronicaIntegration(core=[object()]), "`core` has a `object`"),
    (lambda: VeronicaIntegration().halt(), "there is no shield whose state could change"),
    (lambda: VeronicaIntegration().abort(), "there is no shield, so calls belong to no run"),
    (
        lambda: VeronicaIntegration().spawn(budget_usd=1.0),
        "nothing acts on `budget_usd` without a shield",
    ),
    (lambda: VeronicaIntegration().execute("r", len), ("give a `ToolCallContext`")),  # type: ignore[arg-type]
    (lambda: ShieldPipeline(pre_dispatch=object()), "`object`, which has no `before_llm_call`"),
    (lambda: ShieldPipeline(retry=[veronica.EgressAllowlistHook()]), "which has no `on_error`"),
    (
        lambda: ShieldPipeline(egress=veronica.EgressAllowlistHook),
        "give an object of it, as `EgressAllowlistHook()`",
    ),
    (lambda: ShieldPipeline(budget=Short()), "write `def before_charge(self, ctx, cost_usd)`"),
    (lambda: ShieldPipeline(policy={"guards": [{"use": "budgett"}]}), "budget"),
    (lambda: ShieldPipeline(egress=veronica.SecretGuardHook(["("])), "`secret_guard.patterns`"),
    (
        lambda: ShieldPipeline(egress=veronica.SecretGuardHook(["a+"])),
        "write `{1,100}` in place of `+`",
    ),
    (
        lambda: ShieldPipeline(egress=veronica.EgressAllowlistHook(["http://x/"])),
        "`egress.allowed_hosts`",
    ),
    (lambda: ShieldPipeline().before_llm_call(None), ("`ctx` is of the type `NoneType`")),  # type: ignore[arg-type]
    (lambda: ShieldPipeline().before_charge(CTX, -1.0), "`cost_usd` is `-1.0`"),
    (lambda: ShieldPipeline().before_charge(CTX, float("nan")), "`cost_usd` is `nan`"),
    (lambda: ShieldPipeline().on_error(CTX, "text"), ("give the exception itself")),  # type: ignore[arg-type]
    (
        lambda: ShieldPipeline(stoer="memory:"),
        "`ShieldPipeline` has no option `stoer`: did you mean `store`?",
    ),
    (
        lambda: VeronicaIntegration(shield=ShieldConfig()).execute(CTX, later),
        "call it with `await vi.aexecute(...)`",
    ),
    (lambda: VeronicaIntegration(shield=ShieldConfig()).execute(CTX, 5), "cannot be called"),  # type: ignore[arg-type]
    (lambda: ToolCallContext("r", tool_name=5), ("`tool_name` of the context is `5`")),  # type: ignore[arg-type]
    (lambda: ToolCallContext(None), ("`request_id` of the context is `None`")),  # type: ignore[arg-type]
    (lambda: ToolCallContext("r", tokens_in=-1), "`tokens_in` of the context is `-1`"),
    (lambda: ToolCallContext("r", cost_usd=float("nan")), "`cost_usd` of the context is `nan`"),
    (lambda: ToolCallContext("r", metadata=None), ("`metadata` of the context")),  # type: ignore[arg-type]
    (lambda: veronica.BudgetEnforcer(float("inf")), "`limit_usd` is `inf`"),
    (lambda: veronica.BudgetEnforcer(1.0).spend(-1.0), "`amount_usd` is `-1.0`"),
    (lambda: veronica.CircuitBreaker(0), "`failure_threshold` is `0`"),
    (lambda: veronica.CircuitBreaker(recovery_timeout=float("nan")), "`recovery_timeout` is `nan`"),
    (lambda: veronica.RetryContainer(-1), "`max_retries` is `-1`"),
    (lambda: veronica.RetryContainer(jitter=2.0), "give a share from 0 to 1"),
    (lambda: veronica.AgentStepGuard(0), "`max_steps` is `0`"),
    (lambda: veronica.PartialResultBuffer(0), "`max_chunks` is `0`"),
    (lambda: on().set_safe_mode(None), ("`enabled` is `None`: give `True` or `False`")),  # type: ignore[arg-type]
    (lambda: on().set_safe_mode(""), ("`enabled` is `''`: give `True` or `False`")),  # type: ignore[arg-type]
    (lambda: halted().set_safe_mode(False), "only `restart` lets it go on"),
    (lambda: on().spawn(5), "`budget_usd` is `5`, and so much is not left"),
    (lambda: on().spawn(-1), "`budget_usd` is `-1`"),
    (lambda: on().quarantine("t", -1), "`for_seconds` is `-1`"),
    (lambda: on().quarantine(None), "`tool_name` is `None`"),  # type: ignore[arg-type]
    (lambda: on().release(3), "`tool_name` is `3`"),  # type: ignore[arg-type]
    (lambda: on().tool_state(""), "`tool_name` is `''`"),
    (lambda: on().halt(3), "`why` is `3`: give a text"),  # type: ignore[arg-type]
    (lambda: on().execute(CTX, None), ("`fn` is `None`, which cannot be called")),  # type: ignore[arg-type]
    (lambda: VeronicaIntegration().execute(CTX, None), "`fn` is `None`"),  # type: ignore[arg-type]
    (lambda: veronica.AgentStepGuard().execute(3), "`fn` is `3`"),  # type: ignore[arg-type]
    (lambda: VeronicaIntegration(core=3), "`core` is of the type `int`"),
    (lambda: VeronicaIntegration(core={}), "`core` is of the type `dict`"),
    (lambda: VeronicaIntegration(core=""), "`core` is of the type `str`"),
    (lambda: ShieldPipeline(pre_dispatch={}), "`pre_dispatch` is of the type `dict`"),
    (
        lambda: ShieldPipeline(egress=""),
        "`egress` is of the type `str`: give a hook, which has a method `before_egress`",
    ),
    (lambda: ShieldPipeline(retry=b""), "`retry` is of the type `bytes`"),
    (lambda: VeronicaIntegration(budget={}), "`budget` is of the type `dict`"),
    (lambda: ShieldPipeline(policy={"guards": {}}), "`policy.guards` is of the type `dict`"),
    (lambda: ShieldPipeline(policy={"guards": None}), "`policy.guards` is of the type `NoneType`"),
    (lambda: VeronicaIntegration(policy={"guards": ["budget"]}), "`policy.guards` has a `str`"),
    (lambda: ShieldPipeline().before_charge(CTX, None), ("`cost_usd` is `None`")),  # type: ignore[arg-type]
    (lambda: ShieldPipeline().on_error(CTX, None), ("`err` is of the type `NoneType`")),  # type: ignore[arg-type]
    (
        lambda: ToolCallContext("r", toolname="x"),  # type: ignore[call-arg]
        "`ToolCallContext` has no field `toolname`: did you mean `tool_name`",
    ),
    (lambda: veronica.RetryContainer(retries=3), ("`RetryContainer` has no field `retries`")),  # type: ignore[call-arg]
    (lambda: veronica.CircuitBreaker(threshold=3), ("`CircuitBreaker` has no field `threshold`")),  # type: ignore[call-arg]
    (
        lambda: veronica.BudgetEnforcer(limit=3),  # type: ignore[call-arg]
        "`BudgetEnforcer` has no field `limit`: did you mean `limit_usd`",
    ),
    (lambda: veronica.AgentStepGuard(steps=3), ("`AgentStepGuard` has no field `steps`")),  # type: ignore[call-arg]
    (lambda: veronica.PartialResultBuffer(bytes=3), "`PartialResultBuffer` has no field `bytes`"),  # type: ignore[call-arg]
    (lambda: veronica.SafeModeHook(on=True), ("`SafeModeHook` has no field `on`")),  # type: ignore[call-arg]
    (lambda: veronica.BudgetWindowHook(max_call=3), ("did you mean `max_calls`")),  # type: ignore[call-arg]
    (lambda: veronica.EgressAllowlistHook(hosts=[]), "`EgressAllowlistHook` has no field `hosts`"),  # type: ignore[call-arg]
    (lambda: veronica.SecretGuardHook(pattern=[]), ("did you mean `patterns`")),  # type: ignore[call-arg]
    (
        lambda: ErrorRateConfig(window_calls=4, min_calls=2, repeated_failures=10),
        "`repeated_failures` is `10` and `window_calls` is `4`",
    ),
    (
        lambda: ErrorRateConfig(window_calls=100),
        "`error_rate.window_calls`: `100` is out of bounds: give a whole number of at most 50",
    ),
    (lambda: VeronicaIntegration(policy=3), ("`policy` is of the type `int`")),  # type: ignore[arg-type]
    (lambda: ShieldPipeline(policy=3), "`policy` is of the type `int`"),  # type: ignore[arg-type]
    (lambda: ShieldPipeline(safe_mode="no"), "`safe_mode` is `'no'`"),  # type: ignore[arg-type]
    (lambda: ShieldConfig(budgt=BudgetConfig()), ("did you mean `budget`?")),  # type: ignore[call-arg]
    (lambda: BudgetConfig(max_call=1), ("`BudgetConfig` has no field `max_call`")),  # type: ignore[call-arg]
    (lambda: SafeModeConfig(True, 1), "is given 2 values and has 1"),  # type: ignore[call-arg]
    (lambda: ShieldConfig.from_json(3), "`path` is `3`"),  # type: ignore[arg-type]
    (lambda: ErrorRateConfig(halt_rate=0.1), "`warning_rate` is `0.5` and `halt_rate` is `0.1`"),
    (lambda: ErrorRateConfig(window_calls=5), "`min_calls` is `10` and `window_calls` is `5`"),
    (
        lambda: ShieldConfig.from_env({"VERONICA_BUDGET_MAX_CALLS": "-1"}),
        "`VERONICA_BUDGET_MAX_CALLS`: `-1` is out of bounds",
    ),
    (lambda: on()._shield_pipeline.before_charge(CTX, 1e9), ("below 1,000,000,000")),  # type: ignore[union-attr]
    (lambda: on().execute(DEAR, int), "below 1,000,000,000"),
    (lambda: ToolCallContext("r", cost_usd=float("inf")), "`cost_usd` of the context is `inf`"),
    (lambda: ShieldPipeline().before_egress(CTX, "https://192.0.2.1/", ""), "`method` is `''`"),
    (
        lambda: ShieldPipeline().before_egress(CTX, "https://192.0.2.1/", "G\nET"),
        "`method` is `'G\\nET'`",
    ),
    (lambda: ShieldPipeline().before_egress(CTX, 3, "GET"), ("`url` is `3`: give a text")),  # type: ignore[arg-type]
    (
        lambda: veronica.VeronicaIntegration(ShieldConfig(), safe_mode=True),
        "say `ShieldConfig(safe_mode=SafeModeConfig",
    ),
    (lambda: veronica.BudgetWindowHook(config=3), ("give a `BudgetConfig`")),  # type: ignore[arg-type]
    (
        lambda: veronica.BudgetWindowHook(max_calls=1, config=BudgetConfig(enabled=True)),
        "`max_calls` is given beside `config`",
    ),
    (lambda: veronica.EgressAllowlistHook(resolver=3), ("`resolver` cannot be called")),  # type: ignore[arg-type]
    (
        lambda: ShieldPipeline(
            egress=[veronica.EgressAllowlistHook(resolver=one) for one in (max, min)]
        ),
        "two hooks have a `resolver` each",
    ),
    (
        lambda: VeronicaIntegration(shield=ShieldConfig(budget=BudgetConfig(max_calls=3))),
        (
            "`budget.max_calls` is given, and nothing acts on it while `budget` is off: add "
            "`enabled=True`"
        ),
    ),
    (
        lambda: VeronicaIntegration(error_rate=ErrorRateConfig(min_calls=2)),
        "nothing acts on it while `error_rate`",
    ),
]


def on() -> VeronicaIntegration:
    return VeronicaIntegration(
        shield=ShieldConfig(budget=BudgetConfig(enabled=True, max_cost_usd=1.0))
    )


def halted() -> VeronicaIntegration:
    vi = on()
    vi.halt()
    return vi


async def later() -> int:
    return 1


class Short:
    def before_charge(self, ctx: ToolCallContext) -> None:
        """It does not take the cost."""


@pytest.mark.parametrize(("wrong", "says"), WRONG, ids=[says[:40] for _, says in WRONG])
def test_what_cannot_be_carried_out_is_refused_in_one_line(
    wrong: Callable[[], object], says: str
) -> None:
    with pytest.raises(DialectError) as refused:
        wrong()
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)


NUMBERS = [
    (kind, one.name, value)
    for kind in (BudgetConfig, CircuitBreakerConfig, ErrorRateConfig)
    for one in fields(kind)
    for value in {"int": (0, 1, 51, 10**15, 10**30), "float": (1e-12, 0.5, 1e9, 1e300)}.get(
        str(one.type), ()
    )
]
PARTS = [
    (kind, name, value)
    for kind, names in (
        (veronica.RetryContainer, ("max_retries", "backoff_base", "backoff_max")),
        (veronica.CircuitBreaker, ("failure_threshold", "recovery_timeout")),
        (veronica.BudgetEnforcer, ("limit_usd",)),
        (veronica.AgentStepGuard, ("max_steps",)),
    )
    for name in names
    for value in (1e-12, 1_001, 10**6, 10**15, 10**30, 1e300)
]


def made(kind: Any, **given: Any) -> tuple[Any, str]:
    """An object, or why there is none."""
    try:
        return kind(**given), ""
    except DialectError as refused:
        return None, str(refused)


@pytest.mark.parametrize(("kind", "name", "value"), NUMBERS)
def test_a_number_acts_or_is_refused_by_its_own_name(kind: Any, name: str, value: float) -> None:
    """What a guard does not take is known to the configuration: nobody reads of options that are
    Stanchion's."""
    config, why = made(kind, enabled=True, **{name: value})
    if config is None:
        assert f"`{kind.section}.{name}`: " in why or f"`{name}` is `" in why
        return
    given = (
        {"error_rate": config}
        if kind is ErrorRateConfig
        else {"shield": ShieldConfig(**{kind.section: config})}
    )
    VeronicaIntegration(**given).close()


@pytest.mark.parametrize(("kind", "name", "value"), PARTS)
def test_a_number_of_the_core_acts_or_is_refused_by_its_own_name(
    kind: Any, name: str, value: float
) -> None:
    part, why = made(kind, **{name: value})
    assert f"`{name}` is " in why if part is None else part.check() is Decision.ALLOW


def test_what_is_made_of_named_arguments_can_be_copied() -> None:
    ctx = ToolCallContext("r", tool_name="t", cost_usd=0.5, metadata={"a": 1})
    assert copy(ctx) == ctx
    assert replace(ctx, tool_name="u").tool_name == "u"
    assert not hasattr(ctx, "__dict__")


def test_without_a_shield_nothing_raises_that_did_not_before() -> None:
    child = VeronicaIntegration().spawn()
    assert child.execute(DEAR, len, "ab") == 2
    assert child._shield_pipeline is None
    child.close()


@pytest.mark.parametrize(
    ("ending", "content", "says"),
    [
        (".json", "{", "1:2: is not YAML"),
        (".yaml", "a: [", "YAML"),
        (".yaml", "", "is empty: name the features"),
        (".yaml", "# safe_mode:\n", "is empty: name the features"),
        (".yaml", "- 1", "from a `list`"),
        (".json", "[]", "from a `list`"),
        (
            ".json",
            '{"safe_mode": {"enabled": true, "enabled": false}}',
            "appears here a second time",
        ),
        (
            ".yaml",
            "safe_mode: {enabled: true}\nsafe_mode: {enabled: false}",
            "appears here a second time",
        ),
        (".json", "[" * 100_000, "nested deeper"),
        (".yaml", "[" * 1_000, "nested deeper"),
        (".yaml", "budget: {max_calls: 3}", "nothing acts on it"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(
    ending: str, content: str, says: str, tmp_path: Path
) -> None:
    file = tmp_path / f"shield{ending}"
    with pytest.raises(DialectError, match="cannot be read"):
        ShieldConfig.from_yaml(file)
    file.write_text(content, encoding="utf-8")
    with pytest.raises(DialectError) as refused:
        ShieldConfig.from_yaml(file)
    assert str(file) in str(refused.value)
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)


def test_variables_of_others_are_left_alone() -> None:
    assert ShieldConfig.from_env({"VERONICA_OTEL_ENDPOINT": "x", "HOME": "/"}) == ShieldConfig()


def test_a_value_that_was_changed_afterwards_is_checked_too() -> None:
    config = ShieldConfig(budget=BudgetConfig(enabled=True))
    config.budget.max_calls = -5
    with pytest.raises(DialectError, match="max_calls"):
        VeronicaIntegration(shield=config)


def test_a_value_that_nobody_would_see_any_more_cannot_be_set() -> None:
    config, rate = ShieldConfig(), ErrorRateConfig(enabled=True)
    config.safe_mode.enabled = True
    vi = VeronicaIntegration(shield=config, error_rate=rate)
    assert vi.execute(CTX, lambda: 1) is Decision.HALT
    for late in (config.safe_mode, config.budget, rate):
        with pytest.raises(DialectError, match="is set after an integration was made of it"):
            late.enabled = False
    with pytest.raises(DialectError, match="`budget` of `ShieldConfig`"):
        config.budget = BudgetConfig(enabled=True)
    assert VeronicaIntegration(shield=config).execute(CTX, lambda: 1) is Decision.HALT, (
        "it may be read again"
    )


def test_options_of_a_feature_that_is_said_to_be_off_are_kept() -> None:
    for off in (BudgetConfig(enabled=False, max_calls=3), BudgetConfig(False, 5)):
        assert VeronicaIntegration(shield=ShieldConfig(budget=off)).execute(CTX, lambda: 1) == 1
    later_off = BudgetConfig(max_calls=3)
    later_off.enabled = False
    assert VeronicaIntegration(shield=ShieldConfig(budget=later_off)).execute(CTX, lambda: 1) == 1


def test_a_field_that_is_set_by_a_wrong_name_is_an_error() -> None:
    config = ShieldConfig()
    with pytest.raises(
        DialectError, match="`ShieldConfig` has no field `safemode`: did you mean `safe_mode`"
    ):
        config.safemode = SafeModeConfig(enabled=True)
    with pytest.raises(
        DialectError, match="`SafeModeConfig` has no field `enable`: did you mean `enabled`"
    ):
        config.safe_mode.enable = True
    assert not config.is_any_enabled


@pytest.mark.parametrize("wrong", [0, -1, "100", float("nan"), True])
def test_a_hook_with_a_wrong_deadline_is_an_error(wrong: object) -> None:
    class Hook:
        deadline_ms = wrong

        def before_llm_call(self, _ctx: object) -> None:
            """Pass."""

    with pytest.raises(DialectError, match="`deadline_ms` is "):
        VeronicaIntegration(pre_dispatch=Hook())
