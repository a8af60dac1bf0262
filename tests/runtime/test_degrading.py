"""The ladder of lesser requests: what a degraded request asks for, what it costs, and what nothing
acts on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from stanchion import Action, Finding, Patch, Refused, Shield, Stage
from stanchion.kernel.state import Batch
from stanchion.policy.differences import PolicyChange, differences
from stanchion.policy.errors import PolicyError
from stanchion.policy.load import load_policy
from stanchion.runtime.calling import model_bill as pricing
from stanchion.runtime.calling.model_call import converse
from stanchion.runtime.calling.reports import report
from stanchion.runtime.deciding import degrade as degrading
from stanchion.runtime.deciding.degrade import shorter
from stanchion.runtime.driving.flow import TimePause
from stanchion.runtime.keywords import ModelOptions
from stanchion.testing import ScriptedModel, shield_for
from tests.runtime.guards import says

PRICES = {
    "large": {"input_usd_per_mtok": 10, "output_usd_per_mtok": 100},
    "small": {"input_usd_per_mtok": 1, "output_usd_per_mtok": 10},
    "tiny-*": {"input_usd_per_mtok": 0, "output_usd_per_mtok": 1},
}
HELLO = [{"role": "user", "content": "hello"}]
Ask = Callable[..., Any]


def policy(ladder: dict[str, Any], **budget: Any) -> dict[str, Any]:
    """A dollar of which everything is above the degrade mark."""
    entry = {"use": "budget", **({"cost_usd": 1, "degrade_at": 0.001} | budget)}
    return {"name": "p", "prices": PRICES, "degrade": ladder, "guards": [entry]}


def spent(shield: Shield) -> int:
    """What the budget has, in millionths of a dollar."""
    return next((seen.number for seen in shield.store.look() if ":cost_microusd:" in seen.key), 0)


def records(shield: Shield) -> list[Any]:
    return [entry for kept in shield.journal.kept() if (entry := kept.read()).stage == "model_call"]


def by_run_model(shield: Shield, fn: Ask, **options: Any) -> Any:
    return shield.run().model(fn, **options)


def by_run_amodel(shield: Shield, fn: Ask, **options: Any) -> Any:
    async def asked(messages: list[Any], **params: Any) -> Any:
        return fn(messages, **params)

    async def talk() -> Any:
        return await shield.run().amodel(asked, **options)

    return asyncio.run(talk())


def by_run_model_call(shield: Shield, fn: Ask, **options: Any) -> Any:
    """As a host does that asks the model itself."""
    run = shield.run()
    decision = run.model_call(**options, cost_usd=0.1)
    assert decision.proceeds
    content = {"model": "", "params": {}, **options}
    request = decision.patched({name: content[name] for name in ("model", "messages", "params")})
    reply = fn(request["messages"], model=request["model"], **request["params"])
    used = reply["usage"]
    run.model_reply(reply["text"], call=decision.id, tokens=sum(used.values()), cost_usd=0.000_019)
    return reply


WAYS = [by_run_model, by_run_amodel, by_run_model_call]
REPLY = {"text": "hi", "usage": {"input_tokens": 9, "output_tokens": 1}}


@pytest.mark.parametrize("ask", WAYS)
def test_a_lesser_request_is_what_the_model_gets(ask: Ask) -> None:
    ladder = {"models": {"large": "small"}, "keep_messages": 1, "max_tokens": 50}
    shield = shield_for(policy(ladder))
    model = ScriptedModel(REPLY)
    system = {"role": "system", "content": "be brief"}
    old = [{"role": "user", "content": "one"}, {"role": "assistant", "content": "two"}]
    ask(
        shield,
        model,
        messages=[system, *old, *HELLO],
        model="large",
        params={"max_tokens": 900, "n": 1},
    )
    assert model.asked == [[system, *HELLO]]
    assert model.params == [{"model": "small", "max_tokens": 50, "n": 1}]
    assert spent(shield) == 19, "9 tokens in and 1 out, at the price of the cheaper model"
    first, second = records(shield)
    assert (first.action, first.content["model"], len(first.content["messages"])) == (
        "DEGRADE",
        "large",
        4,
    )
    assert second.content == {
        "model": "small",
        "messages": [system, *HELLO],
        "params": {"max_tokens": 50, "n": 1},
    }, "what is recorded is what was asked, whole"


@pytest.mark.parametrize(
    ("degrade_at", "least", "most"), [(0.001, 500, 600), (99, 500_000, 502_000)]
)
def test_what_is_reserved_is_the_price_of_the_request_that_is_made(
    degrade_at: float, least: int, most: int
) -> None:
    """50 tokens at 10 dollars a million and a short prompt, or 5,000 at 100 dollars where nothing
    is degraded."""
    shield = shield_for(
        policy({"models": {"large": "small"}, "max_tokens": 50}, degrade_at=degrade_at)
    )
    held: list[int] = []

    def model(messages: list[Any], **params: Any) -> Any:
        held.append(spent(shield))
        return REPLY

    shield.run().model(model, HELLO, model="large", params={"max_tokens": 5_000})
    assert least <= held[0] <= most
    assert spent(shield) == (19 if degrade_at < 1 else 190), (
        "and it is settled at the price of the same model"
    )


def test_a_request_that_failed_stays_charged_at_the_lesser_estimate() -> None:
    shield = shield_for(policy({"models": {"large": "small"}, "max_tokens": 50}))
    with pytest.raises(ConnectionError):
        shield.run().model(ScriptedModel(ConnectionError("gone")), HELLO, model="large")
    assert 500 <= spent(shield) <= 600


def test_below_the_mark_nothing_is_changed() -> None:
    shield = shield_for(
        policy({"models": {"large": "small"}, "keep_messages": 1, "max_tokens": 5}, degrade_at=50)
    )
    model = ScriptedModel(REPLY)
    shield.run().model(model, [*HELLO, *HELLO], model="large", params={"max_tokens": 100})
    assert (model.asked, model.params) == ([[*HELLO, *HELLO]], [{"max_tokens": 100}])
    assert [entry.action for entry in records(shield)] == ["ALLOW"]


@pytest.mark.parametrize("ask", [by_run_model, by_run_amodel])
@pytest.mark.parametrize(
    ("ladder", "params"),
    [
        ({"models": {"other": "small"}}, {"max_tokens": 100}),
        ({"max_tokens": 100}, {"max_tokens": 100}),
        ({"max_tokens": 100, "keep_messages": 1}, {"max_tokens": 20}),
    ],
    ids=str,
)
def test_a_request_that_the_ladder_leaves_as_it_is_is_refused(
    ask: Ask, ladder: dict[str, Any], params: dict[str, Any]
) -> None:
    shield = shield_for(policy(ladder))
    model = ScriptedModel(REPLY)
    with pytest.raises(Refused) as refused:
        ask(shield, model, messages=HELLO, model="large", params=params)
    assert (refused.value.decision.code, model.count, spent(shield)) == ("kernel.no_lesser", 0, 0)
    assert [entry.action for entry in records(shield)] == ["DEGRADE", "BLOCK"], (
        "both judgements are in the trail"
    )


def test_a_host_is_told_that_a_request_which_stays_as_it_is_does_not_go() -> None:
    shield = shield_for(policy({"models": {"other": "small"}}))
    decision = shield.run().model_call(HELLO, model="large", cost_usd=0.1)
    assert (decision.action, decision.code, decision.patches) == (
        Action.BLOCK,
        "kernel.no_lesser",
        (),
    )


class Hides:
    """A guard that takes something out of every request, which makes none of them lesser."""

    id = "hides"
    stages = (Stage.MODEL_CALL, Stage.TOOL_CALL)

    def judge(self, event: Any) -> Finding:
        at = ("args", "q") if event.stage is Stage.TOOL_CALL else ("messages",)
        return Finding(
            Action.REDACT, "own.hidden", patches=(Patch(at[-1:], "***" if at[0] == "args" else []),)
        )


@pytest.mark.parametrize("stage", [Stage.TOOL_CALL, Stage.MODEL_CALL])
@pytest.mark.parametrize("others", [[], [Hides()]], ids=["alone", "beside-a-redaction"])
def test_a_guard_of_ones_own_that_makes_nothing_lesser_refuses(
    stage: Stage, others: list[Any]
) -> None:
    run = shield_for({"name": "p"}, guards=[says(Action.DEGRADE, stage), *others]).run()
    told = run.check("t", {"q": "x"}) if stage is Stage.TOOL_CALL else run.model_call(HELLO, "m")
    assert (told.action, told.code) == (Action.BLOCK, "kernel.no_lesser")


def test_a_lesser_request_that_is_still_too_much_is_refused() -> None:
    shield = shield_for(
        policy({"models": {"large": "small"}, "pause_s": 0.001}, cost_usd=0.2), guards=[]
    )
    model = ScriptedModel()
    run = shield.run()
    assert run.check("buy", {}, cost_usd=0.199).proceeds
    with pytest.raises(Refused) as caught:
        run.model(model, HELLO, model="large", params={"max_tokens": 1_000})
    assert (caught.value.decision.code, model.count, spent(shield)) == (
        "budget.exceeded",
        0,
        199_000,
    )


def test_a_lesser_request_is_judged_by_every_guard() -> None:
    """A guard has something against the cheaper model, of which the first request said nothing."""

    class NotSmall:
        id = "not-small"
        stages = (Stage.MODEL_CALL,)

        def judge(self, event: Any) -> str | None:
            return "not that one" if event.model == "small" else None

    shield = shield_for(policy({"models": {"large": "small"}}), guards=[NotSmall()])
    with pytest.raises(Refused, match="not that one"):
        shield.run().model(ScriptedModel(), HELLO, model="large", params={"max_tokens": 10})
    assert spent(shield) == 0


@pytest.mark.parametrize(
    ("asked", "got"),
    [
        ("large", "small"),
        ("tiny-1", "tiny-0"),
        ("tiny-vision-2", "tiny-vision"),
    ],
)
def test_the_closest_pattern_names_the_cheaper_model(asked: str, got: str) -> None:
    models = {"large": "small", "tiny-*": "tiny-0", "tiny-vision*": "tiny-vision"}
    shield = shield_for(policy({"models": models}, cost_usd=0.002))
    model = ScriptedModel(REPLY, REPLY)
    shield.run().model(model, HELLO, model=asked, params={"max_tokens": 10})
    assert model.params[0].get("model", asked) == got


@pytest.mark.parametrize("ask", WAYS)
def test_a_model_that_is_named_among_the_parameters_is_degraded_too(ask: Ask) -> None:
    shield = shield_for(policy({"models": {"large": "small"}}))
    asked: list[dict[str, Any]] = []

    def model(messages: list[Any], model: str, **params: Any) -> Any:
        asked.append({"model": model, **params})
        return REPLY

    if ask is by_run_model_call:
        decision = shield.run().model_call(HELLO, params={"model": "large"}, cost_usd=0.1)
        assert decision.patched({"model": "", "messages": HELLO, "params": {"model": "large"}})[
            "params"
        ] == {"model": "small"}
        return
    ask(shield, model, messages=HELLO, params={"model": "large", "max_tokens": 10})
    assert asked == [{"model": "small", "max_tokens": 10}]


def test_the_pause_comes_before_the_second_judgement() -> None:
    """Driven by hand: nothing in the test waits."""
    shield = shield_for(policy({"pause_s": 7}))
    run = shield.run()
    for flow in (
        converse(run.desk, ScriptedModel(), HELLO, ModelOptions("large", {"max_tokens": 10})),
        report(run.desk, Stage.TOOL_CALL, {"tool": "t", "args": {}, "cost_usd": 0.1}),
    ):
        needs: list[Any] = []
        given: Any = None
        try:
            while True:
                needs.append(need := flow.send(given))
                given = shield.store.carry(need) if isinstance(need, Batch) else REPLY
        except StopIteration:
            pass
        pauses = [at for at, need in enumerate(needs) if isinstance(need, TimePause)]
        assert [needs[at].seconds for at in pauses] == [7.0]
        before, after = needs[: pauses[0]], needs[pauses[0] + 1 :]
        assert any(isinstance(need, Batch) for need in before)
        assert any(isinstance(need, Batch) for need in after)


def test_the_whole_budget_is_usable_in_lesser_requests() -> None:
    """Fault 9 of VERONICA: its degraded calls were refused, so a fifth of every budget could not be
    used."""
    shield = shield_for(policy({"models": {"large": "small"}}, cost_usd=0.1, degrade_at=80))
    exact = {"text": "hi", "usage": {"input_tokens": 0, "output_tokens": 10}}
    model = ScriptedModel(*[exact] * 300)
    run = shield.run()

    def until_refused() -> None:
        while True:
            run.model(model, HELLO, model="large", params={"max_tokens": 10})

    with pytest.raises(Refused):
        until_refused()
    asked = [params.get("model", "large") for params in model.params]
    larges = asked.count("large")
    assert asked == ["large"] * larges + ["small"] * (len(asked) - larges)
    assert (larges, spent(shield)) == (79, 79_000 + 100 * (len(asked) - larges))
    assert spent(shield) > 98_000, "what is left is less than the request as it is would reserve"


def test_guards_of_ones_own_degrade_by_the_same_ladder() -> None:
    ladder = {"models": {"large": "small"}}
    shield = shield_for(
        policy(ladder, degrade_at=100), guards=[says(Action.DEGRADE, Stage.MODEL_CALL)]
    )
    model = ScriptedModel(REPLY)
    shield.run().model(model, HELLO, model="large", params={"max_tokens": 10})
    assert model.params == [{"model": "small", "max_tokens": 10}]


@pytest.mark.parametrize(
    ("params", "limited"),
    [
        ({}, {"max_tokens": 50}),
        ({"max_tokens": 900}, {"max_tokens": 50}),
        ({"max_tokens": 20}, {"max_tokens": 20}),
        ({"max_completion_tokens": 900}, {"max_completion_tokens": 50}),
        ({"max_output_tokens": 900, "max_tokens": 9}, {"max_output_tokens": 50, "max_tokens": 9}),
        ({"max_completion_tokens": None}, {"max_completion_tokens": 50}),
        ({"max_tokens": -1}, {"max_tokens": 50}),
        ({"max_tokens": "many"}, {"max_tokens": 50}),
        ({"max_tokens": True}, {"max_tokens": 50}),
        ({"max_tokens": 900.0}, {"max_tokens": 50}),
        ({"top_p": 1}, {"top_p": 1, "max_tokens": 50}),
    ],
    ids=str,
)
def test_a_reply_is_limited_under_the_name_that_the_request_uses(
    params: dict[str, Any], limited: dict[str, Any]
) -> None:
    given = dict(params)
    assert shorter(params, 50) == limited
    assert params == given, "the caller's own parameters stay as they are"


def test_what_limits_a_reply_is_what_is_reserved_for_it() -> None:
    assert degrading.LIMITS == pricing.LIMITS


BUDGET = {"use": "budget", "cost_usd": 1, "degrade_at": 80}
OWN = {"use": "python", "call": "tests.guards.house_rules:graded", "stages": ["tool_call"]}
NONE = "nothing acts on `degrade`: no guard answers `degrade`"


@pytest.mark.parametrize(
    ("ladder", "guards", "said"),
    [
        ({"max_tokens": 5}, [], NONE),
        ({"pause_s": 5}, [{**BUDGET, "degrade_at": None}], NONE),
        ({"max_tokens": 5}, [{**BUDGET, "enabled": False}], NONE),
        (
            {"max_tokens": 5},
            [OWN],
            "nothing acts on `degrade.max_tokens`: no guard answers `degrade` about a request",
        ),
        (
            {"keep_messages": 5},
            [{**BUDGET, "stages": ["tool_call"]}],
            "nothing acts on `degrade.keep_messages`",
        ),
        (
            {"models": {"a": "b"}},
            [{**BUDGET, "applies_to": {"tools": ["t"]}}],
            "nothing acts on `degrade.models`",
        ),
        ({"models": {"a": "a"}}, [BUDGET], "`a` replaces itself"),
        ({"models": {"a": "b", "b": "c", "c": "a"}}, [BUDGET], "`a`, `b`, `c` replace each other"),
        ({"models": {"x-*": "x-0", "x-0": "x-1"}}, [BUDGET], "`x-0`, `x-1` replace each other"),
        ({"models": {"a": "b-*"}}, [BUDGET], "`b-*` is a pattern"),
        ({"models": {"a": ""}}, [BUDGET], "a model without a name"),
        ({"models": {"": "a"}}, [BUDGET], "a model without a name"),
        ({"keep_messages": 0}, [BUDGET], "out of bounds"),
    ],
    ids=str,
)
def test_a_ladder_that_nothing_acts_on_is_an_error(
    ladder: dict[str, Any], guards: list[dict[str, Any]], said: str
) -> None:
    entries = [
        {name: value for name, value in guard.items() if value is not None} for guard in guards
    ]
    with pytest.raises(PolicyError) as raised:
        load_policy({"name": "p", "degrade": ladder, "guards": entries})
    (fault,) = raised.value.faults
    assert said in fault.message
    assert "degrade" in fault.place


@pytest.mark.parametrize(
    ("ladder", "guards"),
    [
        ({}, []),
        ({"models": {"a": "b", "b": "c"}, "max_tokens": 5}, [BUDGET]),
        ({"models": {"*": "b"}}, [BUDGET]),
        ({"models": {"a": "b"}}, [{**BUDGET, "stages": ["charge"]}]),
        ({"pause_s": 5}, [OWN]),
        ({"models": {"a": "b"}}, [{**OWN, "stages": ["model_call"]}]),
    ],
    ids=str,
)
def test_a_ladder_that_something_acts_on_loads(
    ladder: dict[str, Any], guards: list[dict[str, Any]]
) -> None:
    assert load_policy({"name": "p", "degrade": ladder, "guards": guards}).file.degrade is not None


def test_a_guard_that_is_wrong_itself_says_nothing_about_the_ladder() -> None:
    """Whether it would act on the ladder is not known."""
    wrong = {"use": "budget", "cost_usd": 1, "warn_at": 90, "degrade_at": 80}
    with pytest.raises(PolicyError) as raised:
        load_policy({"name": "p", "degrade": {"max_tokens": 5}, "guards": [wrong]})
    assert [fault for fault in raised.value.faults if "nothing acts on" in fault.message] == []


def test_another_ladder_is_a_difference_between_policies() -> None:
    old, new = (load_policy(policy({"max_tokens": limit})) for limit in (5, 6))
    assert differences(old, new) == (
        PolicyChange("changed", "policy", {"degrade.max_tokens": (5, 6)}),
    )
