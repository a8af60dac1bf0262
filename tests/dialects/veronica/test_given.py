"""What is given to the dialect: arguments of classes, lists, amounts, functions that have to be
awaited, odd texts."""

from __future__ import annotations

import asyncio
import copy
import functools
import json
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from stanchion.dialects import veronica
from stanchion.dialects.veronica import (
    AgentStepGuard,
    BudgetConfig,
    CircuitBreaker,
    Decision,
    DialectError,
    EgressAllowlistHook,
    EgressConfig,
    RetryContainer,
    SecretGuardConfig,
    ShieldConfig,
    ShieldPipeline,
    ToolCallContext,
    VeronicaIntegration,
)

CTX = ToolCallContext("r", tool_name="t")
HALF = "\ud800"
"""Half a character, as JSON of a model can have it, and no encoding."""


class Says:
    """A hook at every boundary with one opinion."""

    def __init__(self, decision: Decision | None) -> None:
        self._decision = decision

    def before_llm_call(self, _ctx: ToolCallContext) -> Decision | None:
        """The opinion."""
        return self._decision

    def before_charge(self, _ctx: ToolCallContext, _cost_usd: float) -> Decision | None:
        """The opinion."""
        return self._decision

    def before_egress(self, _ctx: ToolCallContext, _url: str, _method: str) -> Decision | None:
        """The opinion."""
        return self._decision


def reading() -> VeronicaIntegration:
    """With guards that read what a call says, and count what it costs."""
    budget = BudgetConfig(enabled=True)
    egress, secrets = EgressConfig(enabled=True), SecretGuardConfig(enabled=True)
    return VeronicaIntegration(
        shield=ShieldConfig(budget=budget, egress=egress, secret_guard=secrets)
    )


ARGUMENTS: list[tuple[Callable[[], object], str]] = [
    (lambda: ToolCallContext(), ("`ToolCallContext` is made without `request_id`: give it")),  # type: ignore[call-arg]
    (
        lambda: ToolCallContext(tool_name="t"),  # type: ignore[call-arg]
        "`ToolCallContext` is made without `request_id`: give it",
    ),
    (
        lambda: ToolCallContext("r", request_id="q"),  # type: ignore[misc]
        "`request_id` of `ToolCallContext` is given twice",
    ),
    (lambda: ToolCallContext(*"abcdefghijk"), "is given 11 values and has 10"),
    (lambda: veronica.BudgetWindowHook(1, 1, 1, 1, BudgetConfig()), "is given 5 values and has 4"),  # type: ignore[call-arg]
    (lambda: AgentStepGuard(3, max_steps=4), ("`max_steps` of `AgentStepGuard` is given twice")),  # type: ignore[misc]
]


@pytest.mark.parametrize(("wrong", "says"), ARGUMENTS, ids=[says for _, says in ARGUMENTS])
def test_arguments_that_do_not_fit_are_refused_in_one_line(
    wrong: Callable[[], object], says: str
) -> None:
    with pytest.raises(DialectError) as refused:
        wrong()
    assert says in str(refused.value)


def test_contexts_and_configurations_can_be_copied_and_carried_elsewhere() -> None:
    ctx = ToolCallContext("r", metadata={"a": [1]})
    config = ShieldConfig(egress=EgressConfig(True, ["a.example"]))
    VeronicaIntegration(shield=config)
    for one in (ctx, config):
        for again in (copy.copy(one), copy.deepcopy(one), pickle.loads(pickle.dumps(one))):  # noqa: S301 - it is our own
            assert again == one


def test_a_list_of_a_configuration_in_use_cannot_be_changed() -> None:
    hosts = ["a.example"]
    config = ShieldConfig(
        egress=EgressConfig(True, hosts), secret_guard=SecretGuardConfig(True, ["B-[0-9]{8}"])
    )
    config.egress.allowed_hosts.append("b.example")
    vi = VeronicaIntegration(shield=config)
    listed = config.egress.allowed_hosts
    changes: list[Callable[[], object]] = [
        lambda: listed.append("c.example"),
        lambda: listed.extend(["c.example"]),
        lambda: listed.insert(0, "c.example"),
        lambda: listed.remove("a.example"),
        lambda: listed.pop(),
        lambda: listed.clear(),
        lambda: listed.sort(),
        lambda: listed.reverse(),
        lambda: listed.__setitem__(0, "c.example"),
        lambda: listed.__delitem__(0),
        lambda: listed.__iadd__(["c.example"]),
        lambda: listed.__imul__(2),
        lambda: config.secret_guard.patterns.clear(),
    ]
    for change in changes:
        with pytest.raises(
            DialectError, match="is changed after an integration or a hook was made of it"
        ):
            change()
    hosts.append("d.example")
    assert listed == ["a.example", "b.example"]
    plain = config.to_dict()
    assert type(plain["egress"]["allowed_hosts"]) is list
    assert ShieldConfig.from_dict(json.loads(json.dumps(plain))) == config
    vi.close()
    alone = EgressConfig(True, ["a.example"])
    EgressAllowlistHook(config=alone)
    with pytest.raises(DialectError, match=r"`EgressConfig\.allowed_hosts` is changed"):
        alone.allowed_hosts.append("b.example")


def test_no_field_can_be_deleted() -> None:
    config = ShieldConfig(budget=BudgetConfig(True, max_calls=3))
    for _ in range(2):  # before an integration is made of it, and afterwards
        with pytest.raises(DialectError, match="`max_calls` of `BudgetConfig` cannot be deleted"):
            del config.budget.max_calls
        with pytest.raises(DialectError, match="`budget` of `ShieldConfig` cannot be deleted"):
            del config.budget
        assert config.budget.max_calls == 3
        VeronicaIntegration(shield=config).close()


async def awaited() -> int:
    return 1


async def many() -> Any:
    yield 1


class Awaited:
    """An object that is called like a function, and has to be awaited."""

    async def __call__(self) -> int:
        return 1


ASYNC: list[Callable[[], Any]] = [awaited, many, functools.partial(awaited), Awaited()]


@pytest.mark.parametrize("fn", ASYNC, ids=["function", "generator", "partial", "object"])
def test_what_has_to_be_awaited_is_refused_where_nobody_awaits_it(fn: Callable[[], Any]) -> None:
    for vi in (VeronicaIntegration(), VeronicaIntegration(shield=ShieldConfig())):
        for ctx in (CTX, ToolCallContext("r", model="m")):
            with pytest.raises(
                DialectError, match=r"is async: call it with `await vi.aexecute\(...\)`"
            ):
                vi.execute(ctx, fn)
    for part, says in (
        (RetryContainer(), r"call it with `await container.aexecute"),
        (CircuitBreaker(), r"await it between `check\(\)` and"),
        (AgentStepGuard(), r"await it, and give its result to `step"),
    ):
        with pytest.raises(DialectError, match=rf"is async: {says}"):
            part.execute(fn)
    assert asyncio.run(VeronicaIntegration().aexecute(CTX, awaited)) == 1


def test_where_nobody_counts_no_amount_is_too_large() -> None:
    dear = ToolCallContext("r", tool_name="t", tokens_in=10**30, cost_usd=9e9)
    alone = ShieldPipeline()
    assert alone.before_charge(dear, 9e9) is Decision.ALLOW
    assert asyncio.run(alone.abefore_charge(dear, 9e9)) is Decision.ALLOW
    for vi in (
        VeronicaIntegration(shield=ShieldConfig()),
        VeronicaIntegration(pre_dispatch=Says(None)),
    ):
        assert vi.execute(dear, len, "ab") == 2
        assert (
            vi.execute(
                ToolCallContext("r", model="m", tokens_out=10**30, cost_usd=9e9), lambda: "hi"
            )
            == "hi"
        )
    for counts in (VeronicaIntegration(budget=Says(None)), reading()):
        with pytest.raises(DialectError, match=r"`cost_usd` is `9000000000\.0`"):
            counts.execute(ToolCallContext("r", tool_name="t", cost_usd=9e9), len, "ab")
        with pytest.raises(
            DialectError, match="`tokens_in` and `tokens_out` are more than can be counted"
        ):
            counts.execute(ToolCallContext("r", tool_name="t", tokens_in=10**30), len, "ab")


@pytest.mark.parametrize("boundary", ["pre_dispatch", "budget"])
@pytest.mark.parametrize(
    "ctx",
    [
        ToolCallContext("r", tool_name="t", cost_usd=0.1),
        ToolCallContext("r", model="m", cost_usd=0.1),
    ],
)
def test_a_call_that_nothing_makes_lesser_is_degrade_everywhere(
    boundary: str, ctx: ToolCallContext
) -> None:
    given: dict[str, Any] = {boundary: Says(Decision.DEGRADE)}
    vi = VeronicaIntegration(**given)
    pipeline = vi._shield_pipeline
    assert pipeline is not None
    asked = (
        pipeline.before_llm_call(ctx)
        if boundary == "pre_dispatch"
        else pipeline.before_charge(ctx, 0.1)
    )
    assert asked is Decision.DEGRADE
    assert vi.execute(ctx, lambda: "ran") is Decision.DEGRADE
    assert asyncio.run(vi.aexecute(ctx, lambda: "ran")) is Decision.DEGRADE


class Key:
    """A key that has no text."""


UNNAMED: list[dict[Any, Any]] = [
    {5: "x"},
    {None: 1},
    {("a", 1): {3: 4}},
    {Key(): 1},
    {"a": 1, b"b": 2},
]


@pytest.mark.parametrize("tool", ["t", None])
@pytest.mark.parametrize("metadata", UNNAMED, ids=["number", "none", "tuple", "object", "bytes"])
def test_metadata_whose_keys_are_no_texts_get_a_decision(
    metadata: dict[Any, Any], tool: str | None
) -> None:
    """They cannot be read: HALT where somebody would read them, and no matter where nobody does."""
    ctx = ToolCallContext("r", tool_name=tool, metadata=metadata)
    makes: list[tuple[Callable[[], VeronicaIntegration], bool]] = [
        (
            lambda: VeronicaIntegration(
                shield=ShieldConfig(secret_guard=SecretGuardConfig(enabled=True))
            ),
            True,
        ),
        (
            lambda: VeronicaIntegration(
                shield=ShieldConfig(egress=EgressConfig(True, ["192.0.2.1"]))
            ),
            True,
        ),
        (
            lambda: VeronicaIntegration(shield=ShieldConfig(budget=BudgetConfig(enabled=True))),
            False,
        ),
        (lambda: VeronicaIntegration(pre_dispatch=Says(None), egress=Says(None)), False),
    ]
    for make, reads in makes:
        vi = make()
        pipeline = vi._shield_pipeline
        assert pipeline is not None
        ran, said = (Decision.HALT, Decision.HALT) if reads else (["ran"], Decision.ALLOW)
        assert vi.execute(ctx, lambda *given: ["ran", *given]) == ran
        assert asyncio.run(vi.aexecute(ctx, lambda *given: ["ran", *given])) == ran
        assert pipeline.before_llm_call(ctx) is said
        assert asyncio.run(pipeline.abefore_llm_call(ctx)) is said
        assert pipeline.before_egress(ctx, "https://192.0.2.1/", "GET") is said
        assert pipeline.on_error(ctx, ValueError("wrong")) is said
        assert pipeline.on_result(ctx, 1) is said
        assert pipeline.before_charge(ctx, 0.1) is Decision.ALLOW


def test_a_failure_counts_whatever_the_metadata_of_its_call_are() -> None:
    on = ShieldConfig.from_dict(
        {
            "circuit_breaker": {"enabled": True, "failure_threshold": 2},
            "secret_guard": {"enabled": True},
        }
    )
    pipeline = VeronicaIntegration(shield=on)._shield_pipeline
    assert pipeline is not None
    assert pipeline.before_llm_call(CTX) is Decision.ALLOW
    for _ in range(2):
        failed = ToolCallContext("r", tool_name="t", metadata={5: "x"})  # type: ignore[dict-item]
        assert pipeline.on_error(failed, ConnectionError("down")) is Decision.HALT
    assert pipeline.before_llm_call(CTX) is Decision.HALT


HOOKS: list[tuple[Callable[[], object], str]] = [
    (
        lambda: veronica.BudgetWindowHook(config=BudgetConfig(enabled=False, max_calls=1)),
        "a `BudgetConfig` that is off",
    ),
    (
        lambda: veronica.BudgetWindowHook(config=BudgetConfig(max_calls=1)),
        "a `BudgetConfig` that is off",
    ),
    (
        lambda: EgressAllowlistHook(config=EgressConfig(False, ["a.example"])),
        "an `EgressConfig` that is off",
    ),
    (
        lambda: veronica.SecretGuardHook(config=SecretGuardConfig()),
        "a `SecretGuardConfig` that is off",
    ),
    (lambda: veronica.SecretGuardHook(["("]), "`secret_guard.patterns`: the pattern `(` has a `(`"),
    (
        lambda: veronica.SecretGuardHook(["[0-9]+"]),
        "`secret_guard.patterns`: the matches of the pattern `[0-9]+`",
    ),
    *[
        (
            lambda url=url: ShieldPipeline().before_egress(CTX, url, "GET"),
            f"`url` is `{url!r}`: give a text",
        )
        for url in (b"https://192.0.2.1/", None, 5)
    ],
]


@pytest.mark.parametrize(("wrong", "says"), HOOKS, ids=[says for _, says in HOOKS])
def test_hooks_and_requests_that_could_not_act_are_refused_at_once(
    wrong: Callable[[], object], says: str
) -> None:
    with pytest.raises(DialectError) as refused:
        wrong()
    assert says in str(refused.value)


def cyclic() -> dict[str, Any]:
    held: dict[str, Any] = {}
    held["me"] = held
    return held


@pytest.mark.parametrize(
    "make", [reading, lambda: VeronicaIntegration(egress=Says(None))], ids=["guards", "hook"]
)
def test_a_model_is_not_asked_with_what_holds_itself(
    make: Callable[[], VeronicaIntegration],
) -> None:
    """Where requests are judged, a place is looked for in all that is said; what has no end has no
    place in it."""
    vi = make()
    assert vi.execute(ToolCallContext("r"), lambda _: 1, cyclic()) is Decision.HALT
    assert asyncio.run(vi.aexecute(ToolCallContext("r"), lambda _: 1, cyclic())) is Decision.HALT
    if make is reading:
        assert vi.execute(ToolCallContext("r", metadata=cyclic()), lambda: 1) is Decision.HALT


@pytest.mark.parametrize("odd", [HALF, "a\0b"], ids=["half", "nul"])
@pytest.mark.parametrize(
    "field", ["request_id", "user_id", "session_id", "tool_name", "model", "endpoint", "metadata"]
)
def test_odd_texts_of_a_context_are_judged_like_others(field: str, odd: str) -> None:
    given: dict[str, Any] = {"request_id": "r", field: {odd: odd} if field == "metadata" else odd}
    ctx = ToolCallContext(**given)
    for vi in (VeronicaIntegration(shield=ShieldConfig()), reading()):
        pipeline = vi._shield_pipeline
        assert pipeline is not None
        assert vi.execute(ctx, lambda: "ran") == "ran"
        assert pipeline.before_llm_call(ctx) is Decision.ALLOW
        assert pipeline.on_error(ctx, ValueError(odd)) is Decision.ALLOW
        assert pipeline.before_charge(ctx, 0.1) is Decision.ALLOW
        assert pipeline.on_result(ctx, odd) is Decision.ALLOW


def test_an_operator_is_told_of_half_a_character() -> None:
    vi = VeronicaIntegration(shield=ShieldConfig())
    wrong: list[tuple[str, Callable[[], object]]] = [
        ("tool_name", lambda: vi.quarantine(HALF)),
        ("tool_name", lambda: vi.release(HALF)),
        ("tool_name", lambda: vi.tool_state(HALF)),
        ("why", lambda: vi.halt(HALF)),
        ("why", lambda: vi.restart(HALF)),
        ("why", lambda: vi.set_safe_mode(True, HALF)),
        ("why", lambda: vi.abort(HALF)),
    ]
    for name, call in wrong:
        with pytest.raises(DialectError, match=rf"`{name}` is .*, which has half a character"):
            call()


LONG = "x" * 200_000
UNKNOWN: dict[str, Any] = {LONG: 1}
SHORT: list[Callable[[], object]] = [
    lambda: VeronicaIntegration(shield=ShieldConfig()).execute(
        ToolCallContext("r", tool_name=LONG), len, "ab"
    ),
    lambda: ShieldPipeline().before_egress(CTX, "https://192.0.2.1/", LONG),
    lambda: ToolCallContext("r", tokens_in=LONG),  # type: ignore[arg-type]
    lambda: ToolCallContext("r", **UNKNOWN),
    lambda: ShieldConfig.from_dict({LONG: {}}),
    lambda: ShieldConfig.from_dict({"budget": {LONG: 1}}),
    lambda: ShieldConfig.from_env({"VERONICA_BUDGET": LONG}),
    lambda: ShieldConfig.from_json(LONG[:5_000]),
    lambda: VeronicaIntegration(shield=ShieldConfig(), **UNKNOWN),
    lambda: SecretGuardConfig(True, [LONG, 3]),  # type: ignore[list-item]
    lambda: AgentStepGuard("`" * 9_000),  # type: ignore[arg-type]
    lambda: AgentStepGuard("a\nb\u202e"),  # type: ignore[arg-type]
]


@pytest.mark.parametrize("wrong", SHORT, ids=range(len(SHORT)))
def test_an_error_is_one_line_however_long_the_value_is_that_it_names(
    wrong: Callable[[], object],
) -> None:
    with pytest.raises(DialectError) as refused:
        wrong()
    said = str(refused.value)
    assert len(said) <= 2_100
    assert said.isprintable()
