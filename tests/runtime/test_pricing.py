"""Model calls under budgets: what they reserve, what they are settled with, and what happens
without a price."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from stanchion import Action, Refused, Shield, Stage
from stanchion.kernel.findings import Patch
from stanchion.policy.prices.entry import PricedTokens
from stanchion.policy.prices.lookup import UnknownModel, shipped
from stanchion.runtime.calling.model_bill import (
    PER_TOOLSET,
    cost_of,
    prompt_tokens,
    text_tokens,
    usage_of,
)
from stanchion.testing import ScriptedModel, shield_for
from tests.runtime.guards import says
from tests.sources import data_of

MEASURED = data_of((Path(__file__).parent / "token_counts.yaml").read_text("utf-8"))
TABLE = f"its cost is by the price table of {shipped().as_of}, sha256 {shipped().digest[:16]}"
ASKED = [{"role": "user", "content": "hello"}]
MINE = {
    "mine": {"input_usd_per_mtok": 1, "output_usd_per_mtok": 10, "cached_input_usd_per_mtok": 0.1}
}


def policy(prices: dict[str, Any] = MINE, **budget: Any) -> dict[str, Any]:
    """A policy with one budget, a dollar unless something else is said."""
    return {
        "name": "p",
        "prices": prices,
        "guards": [{"use": "budget", **(budget if budget else {"cost_usd": 1})}],
    }


def spent(shield: Shield, unit: str = "cost_microusd") -> int:
    """What the only counter of a budget has."""
    counters = [seen.number for seen in shield.store.look() if f":{unit}:" in seen.key]
    return counters[0] if counters else 0


def last(shield: Shield) -> Any:
    """The last record."""
    return shield.journal.kept()[-1].read()


@pytest.mark.parametrize("case", MEASURED, ids=[case["name"] for case in MEASURED])
def test_no_tokenizer_makes_more_of_a_text_than_is_estimated(case: dict[str, Any]) -> None:
    assert text_tokens(case["text"].encode()) >= max(case["tokens"].values())


@pytest.mark.parametrize(
    "case", [case for case in MEASURED if "prose" in case["name"] or case["name"] == "python"]
)
def test_the_estimate_of_what_people_write_is_within_four_times(case: dict[str, Any]) -> None:
    """A bound that is never reached refuses what would fit."""
    assert text_tokens(case["text"].encode()) <= 4 * min(case["tokens"].values())


def test_messages_and_tools_add_to_a_prompt() -> None:
    assert prompt_tokens(b"", 3, False) - prompt_tokens(b"", 1, False) >= 8
    assert prompt_tokens(b"", 1, True) - prompt_tokens(b"", 1, False) == PER_TOOLSET


@pytest.mark.parametrize("case", MEASURED, ids=[case["name"] for case in MEASURED])
def test_what_is_reserved_covers_a_reply_of_full_length(case: dict[str, Any]) -> None:
    """Whatever the text, the call settles at no more than it had reserved."""
    shield = shield_for(policy())
    held: list[int] = []

    def model(messages: list[Any], max_tokens: int) -> dict[str, Any]:
        held.append(spent(shield))
        return {
            "text": "x",
            "usage": {"input_tokens": max(case["tokens"].values()), "output_tokens": max_tokens},
        }

    shield.run().model(
        model, [{"role": "user", "content": case["text"]}], model="mine", params={"max_tokens": 50}
    )
    assert held[0] >= spent(shield) == max(case["tokens"].values()) + 500
    assert not [note for note in last(shield).notes if "more than reserved" in note]


def test_a_call_is_reserved_before_and_settled_after() -> None:
    shield = shield_for(policy())
    held: list[int] = []

    def model(messages: list[Any], **params: Any) -> dict[str, Any]:
        held.append(spent(shield))
        return {"text": "hi", "usage": {"input_tokens": 7, "output_tokens": 3}}

    shield.run().model(model, ASKED, model="mine", params={"max_tokens": 100})
    assert 1_000 < held[0] < 1_200
    assert spent(shield) == 37
    assert last(shield).notes == ("its cost is by the policy",)


def test_the_shipped_table_is_named_with_its_day_and_hash() -> None:
    shield = shield_for(policy())
    reply = {"text": "hi", "usage": {"input_tokens": 100, "output_tokens": 10}}
    shield.run().model(ScriptedModel(reply), ASKED, model="gpt-4o", params={"max_tokens": 100})
    assert spent(shield) == 350
    assert last(shield).notes[0] == TABLE


@pytest.mark.parametrize(
    ("limits", "reply_tokens"),
    [
        ({"max_tokens": 40}, 40),
        ({"max_completion_tokens": 40}, 40),
        ({"max_output_tokens": 40, "max_tokens": 10}, 40),
        ({"max_tokens": 40, "n": 3}, 120),
        ({"max_tokens": 40, "candidate_count": 2}, 80),
        ({}, 1_024),
        ({"max_tokens": "many"}, 1_024),
    ],
    ids=str,
)
def test_a_reply_is_reserved_by_its_limit(limits: dict[str, Any], reply_tokens: int) -> None:
    shield = shield_for(policy({"mine": {"input_usd_per_mtok": 0, "output_usd_per_mtok": 1}}))
    shield.run().model(ScriptedModel("no usage"), ASKED, model="mine", params=limits)
    assert spent(shield) == reply_tokens


@pytest.mark.parametrize(
    ("params", "per_token"),
    [({}, 3), ({"system": {"cache_control": {"type": "ephemeral", "ttl": "1h"}}}, 4)],
    ids=["cached as usual", "cached for an hour"],
)
def test_a_prompt_is_reserved_as_if_all_of_it_went_into_a_cache(
    params: dict[str, Any], per_token: int
) -> None:
    rates = {
        "input_usd_per_mtok": 2,
        "cache_write_usd_per_mtok": 3,
        "cache_write_1h_usd_per_mtok": 4,
    }
    shield = shield_for(policy({"mine": {**rates, "output_usd_per_mtok": 0}}))
    shield.run().model(ScriptedModel("no usage"), ASKED, model="mine", params=params)
    tokens = [
        kept.read().amounts[1]
        for kept in shield.journal.kept()
        if kept.read().stage == "model_call"
    ]
    assert spent(shield) == (tokens[0] - 1_024) * per_token


def test_what_does_not_fit_is_refused_and_takes_nothing() -> None:
    shield = shield_for(policy(cost_usd=0.01))
    model = ScriptedModel("never")
    with pytest.raises(Refused) as caught:
        shield.run().model(model, ASKED, model="mine", params={"max_tokens": 1_000})
    assert caught.value.decision.code == "budget.exceeded"
    assert (model.count, spent(shield)) == (0, 0)


def test_an_unknown_model_is_not_called_where_cost_is_bounded() -> None:
    shield = shield_for(policy())
    model = ScriptedModel("never")
    run = shield.run()
    for options in ({"model": "unheard-of"}, {"model": "unheard-of", "tokens": 5}, {}):
        with pytest.raises(UnknownModel):
            run.model(model, ASKED, **options)
        with pytest.raises(UnknownModel):
            asyncio.run(run.amodel(model.as_async(), ASKED, **options))
    assert (model.count, spent(shield)) == (0, 0)


def test_a_child_with_money_of_its_own_needs_a_price_too() -> None:
    child = shield_for(policy()).run().spawn("child", budget={"cost_usd": 0.5})
    with pytest.raises(UnknownModel):
        child.model(ScriptedModel("never"), ASKED, model="unheard-of")


@pytest.mark.parametrize(
    "budget",
    [
        {"tokens": 9_999},
        {"calls": 3},
        {"cost_usd": 1, "mode": "shadow"},
        {"cost_usd": 1, "stages": ["tool_call"]},
    ],
    ids=str,
)
def test_an_unknown_model_is_no_obstacle_where_nothing_bounds_its_cost(
    budget: dict[str, Any],
) -> None:
    shield = shield_for(policy(**budget))
    assert shield.run().model(ScriptedModel("hi"), ASKED, model="unheard-of") == "hi"


@pytest.mark.parametrize("cost_usd", [0.25, 0, 0.0])
def test_an_unknown_model_with_a_cost_is_charged_that(cost_usd: float) -> None:
    """Nothing else is known of it, even where its usage is."""
    shield = shield_for(policy())
    reply = {"text": "hi", "usage": {"input_tokens": 7, "output_tokens": 3}}
    shield.run().model(ScriptedModel(reply), ASKED, model="unheard-of", cost_usd=cost_usd)
    assert spent(shield) == cost_usd * 1_000_000


def test_a_model_named_among_the_parameters_is_priced_by_that_name() -> None:
    shield = shield_for(policy())
    reply = {"text": "hi", "usage": {"input_tokens": 7, "output_tokens": 3}}
    shield.run().model(ScriptedModel(reply), ASKED, params={"model": "mine"})
    assert spent(shield) == 37


def test_a_hint_is_what_is_reserved_and_never_what_is_charged() -> None:
    shield = shield_for(policy())
    held: list[int] = []

    def model(messages: list[Any]) -> dict[str, Any]:
        held.append(spent(shield))
        return {"text": "hi", "usage": {"input_tokens": 50_000, "output_tokens": 9_000}}

    shield.run().model(model, ASKED, model="mine", tokens=10, cost_usd=0.000_001)
    assert held == [1]
    assert spent(shield) == 50_000 + 90_000
    assert "it used 0.14 dollars, 0.139999 more than reserved" in last(shield).notes


def test_tokens_that_are_hinted_are_priced() -> None:
    """So many at most: what the prompt does not take is left to the reply."""
    shield = shield_for(policy())
    shield.run().model(ScriptedModel("no usage"), ASKED, model="mine", tokens=1_000)
    prompt = (10_000 - spent(shield)) // 9
    assert 20 < prompt < 100
    assert spent(shield) == prompt + (1_000 - prompt) * 10


@pytest.mark.parametrize(
    "reply",
    [
        "plain",
        {"text": "hi"},
        {"text": "hi", "usage": None},
        {"text": "hi", "usage": {"output_tokens": 3}},
    ],
    ids=str,
)
def test_a_reply_that_does_not_say_what_it_used_stays_charged_as_reserved(reply: Any) -> None:
    shield = shield_for(policy())
    shield.run().model(
        ScriptedModel(reply), ASKED, model="mine", params={"max_tokens": 100}, cost_usd=0.002
    )
    assert spent(shield) == 2_000
    assert last(shield).notes == (
        "its cost is the amount that was reserved: nothing else is known about it",
    )


@pytest.mark.parametrize("driver", ["sync", "async"])
def test_a_call_that_fails_stays_charged_as_reserved(driver: str) -> None:
    shield = shield_for(policy())
    model = ScriptedModel(
        OSError("down"), {"text": "hi", "usage": {"input_tokens": 7, "output_tokens": 3}}
    )
    run = shield.run()

    def ask() -> Any:
        if driver == "sync":
            return run.model(model, ASKED, model="mine", cost_usd=0.002)
        return asyncio.run(run.amodel(model.as_async(), ASKED, model="mine", cost_usd=0.002))

    with pytest.raises(OSError, match="down"):
        ask()
    assert spent(shield) == 2_000
    ask()
    assert spent(shield) == 2_037


@pytest.mark.parametrize(
    "reply",
    [
        {"text": "hi", "usage": {"input_tokens": 7, "output_tokens": 3, "cost": 0.5}},
        {"text": "hi", "usage": {"prompt_tokens": 7, "completion_tokens": 3, "cost_usd": 0.5}},
        {"text": "hi", "cost_usd": 0.5},
        SimpleNamespace(text="hi", usage=SimpleNamespace(cost=0.5)),
    ],
    ids=str,
)
def test_what_the_provider_says_it_cost_beats_every_table(reply: Any) -> None:
    shield = shield_for(policy())
    shield.run().model(ScriptedModel(reply), ASKED, model="mine")
    assert spent(shield) == 500_000
    assert last(shield).notes[0] == "its cost was reported by the provider"


@pytest.mark.parametrize(
    "cost", [-1, float("nan"), float("inf"), True, "0.5", {"total": 1}, None], ids=str
)
def test_a_cost_that_is_no_amount_of_money_is_not_believed(cost: Any) -> None:
    assert cost_of({"usage": {"cost": cost}}) is None


def test_absurd_usage_is_charged_as_the_most_there_is() -> None:
    shield = shield_for(policy())
    reply = {"text": "hi", "usage": {"input_tokens": 10**40, "output_tokens": 1, "cost": 1e300}}
    shield.run().model(ScriptedModel(reply), ASKED, model="mine")
    assert spent(shield) == 10**15 - 1


def test_a_model_of_ones_own_that_costs_nothing_is_bounded_by_nothing() -> None:
    shield = shield_for(
        policy({"local/*": {"input_usd_per_mtok": 0, "output_usd_per_mtok": 0}}, cost_usd=0.000_001)
    )
    run = shield.run()
    for _ in range(3):
        reply = {"text": "hi", "usage": {"input_tokens": 10**6, "output_tokens": 10**6}}
        run.model(ScriptedModel(reply), ASKED, model="local/llama")
    assert spent(shield) == 0


def test_a_degraded_call_is_settled_at_the_price_of_the_model_that_was_asked() -> None:
    guard = says(Action.DEGRADE, Stage.MODEL_CALL, patches=(Patch(("model",), "small"),))
    small = {"small": {"input_usd_per_mtok": 0.5, "output_usd_per_mtok": 1}}
    shield = shield_for(policy({**MINE, **small}), guards=[guard])
    reply = {"text": "hi", "usage": {"input_tokens": 100, "output_tokens": 10}}
    shield.run().model(ScriptedModel(reply), ASKED, model="mine")
    assert spent(shield) == 60


def test_every_attempt_is_paid_for() -> None:
    guard = says(Action.RETRY, Stage.MODEL_REPLY, guidance="again")
    shield = shield_for(policy(), guards=[guard])
    reply = {"text": "hi", "usage": {"input_tokens": 100, "output_tokens": 10}}
    model = ScriptedModel(*[reply] * 10)
    with pytest.raises(Refused):
        shield.run().model(model, ASKED, model="mine")
    assert model.count > 1
    assert spent(shield) == model.count * 200


def test_a_budget_of_tokens_alone_asks_for_no_price() -> None:
    shield = shield_for(policy(tokens=5_000))
    held: list[int] = []

    def model(messages: list[Any], **params: Any) -> dict[str, Any]:
        held.append(spent(shield, "tokens"))
        return {"text": "hi", "usage": {"input_tokens": 7, "output_tokens": 3}}

    shield.run().model(model, ASKED, model="unheard-of", params={"max_tokens": 100})
    assert 120 < held[0] < 250
    assert spent(shield, "tokens") == 10
    assert last(shield).notes == ()


def test_a_guard_of_charges_sees_what_a_call_may_cost() -> None:
    seen: list[Any] = []

    class Watching:
        id = "watching"
        stages = (Stage.CHARGE,)

        def judge(self, event: Any) -> None:
            seen.append((event.tokens, event.cost_microusd))

    shield = shield_for({"name": "p", "prices": MINE}, guards=[Watching()])
    run = shield.run()
    run.model(ScriptedModel("hi"), ASKED, model="mine", params={"max_tokens": 100})
    run.model(ScriptedModel("hi"), ASKED, model="unheard-of", params={"max_tokens": 100})
    (tokens, cost), (again, nothing) = seen
    assert cost == tokens - 100 + 1_000
    assert again > 100
    assert nothing == 0


def test_without_budgets_nothing_is_estimated() -> None:
    shield = shield_for({"name": "p", "prices": MINE})
    shield.run().model(ScriptedModel("hi"), ASKED, model="mine")
    assert [
        kept.read().amounts for kept in shield.journal.kept() if kept.read().stage == "model_call"
    ] == [(1, 0, 0, 0, 0)]


USAGES: list[tuple[str, Any, PricedTokens]] = [
    (
        "anthropic",
        {"usage": {"input_tokens": 10, "output_tokens": 5, "cache_read_input_tokens": 100,
         "cache_creation_input_tokens": 40,
         "cache_creation": {"ephemeral_5m_input_tokens": 30, "ephemeral_1h_input_tokens": 10}}},
        PricedTokens(input=10, cached=100, written=30, written_1h=10, output=5),
    ),
    (
        "openai chat",
        {"usage": {"prompt_tokens": 110, "completion_tokens": 5, "total_tokens": 115,
         "prompt_tokens_details": {"cached_tokens": 100}}},
        PricedTokens(input=10, cached=100, output=5),
    ),
    (
        "openai responses",
        SimpleNamespace(
            usage=SimpleNamespace(
                input_tokens=150, output_tokens=5, total_tokens=155,
                input_tokens_details=SimpleNamespace(cached_tokens=100, cache_write_tokens=40),
            )
        ),
        PricedTokens(input=10, cached=100, written=40, output=5),
    ),
    (
        "deepseek",
        {"usage": {"prompt_tokens": 110, "completion_tokens": 5, "prompt_cache_hit_tokens": 100}},
        PricedTokens(input=10, cached=100, output=5),
    ),
    (
        "gemini",
        {"usageMetadata": {"promptTokenCount": 110, "candidatesTokenCount": 5, "thoughtsTokenCount": 20,  # noqa: E501
         "cachedContentTokenCount": 100, "totalTokenCount": 135}},
        PricedTokens(input=10, cached=100, output=25),
    ),
    (
        "bedrock",
        {"usage": {"inputTokens": 10, "outputTokens": 5, "totalTokens": 155, "cacheReadInputTokens": 100,  # noqa: E501
         "cacheWriteInputTokens": 40}},
        PricedTokens(input=10, cached=100, written=40, output=5),
    ),
    (
        "langchain",
        {"usage_metadata": {"input_tokens": 150, "output_tokens": 5, "total_tokens": 155,
         "input_token_details": {"cache_read": 100, "cache_creation": 40}}},
        PricedTokens(input=10, cached=100, written=40, output=5),
    ),
    (
        "a gateway that counts caches among the input and names them as if beside it",
        {"usage": {"prompt_tokens": 150, "completion_tokens": 5, "cache_read_input_tokens": 100,
         "cache_creation_input_tokens": 40}},
        PricedTokens(input=10, cached=100, written=40, output=5),
    ),
    ("thoughts only in the sum", {"usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 40}},  # noqa: E501
     PricedTokens(input=10, output=30)),
    ("an embedding", {"usage": {"prompt_tokens": 10, "total_tokens": 10}}, PricedTokens(input=10)),
    ("only the sum", {"usage": {"total_tokens": 15}}, PricedTokens(unsorted=15)),
    ("more cached than there is", {"usage": {"prompt_tokens": 10, "completion_tokens": 5,
     "prompt_tokens_details": {"cached_tokens": 99}}}, PricedTokens(cached=10, output=5)),
]  # fmt: skip


@pytest.mark.parametrize(
    ("reply", "usage"), [case[1:] for case in USAGES], ids=[case[0] for case in USAGES]
)
def test_the_usage_of_many_vendors_is_read(reply: Any, usage: PricedTokens) -> None:
    assert usage_of(reply) == usage


@pytest.mark.parametrize(
    "usage",
    [
        None, {}, 5, "many", [], {"input_tokens": 5}, {"input_tokens": -5, "output_tokens": 3},
        {"input_tokens": 5.0, "output_tokens": 3}, {"input_tokens": True, "output_tokens": 3},
        {"input_tokens": "5", "output_tokens": 3},
    ],
    ids=str,
)  # fmt: skip
def test_a_usage_that_says_too_little_is_none(usage: Any) -> None:
    assert usage_of({"text": "hi", "usage": usage}) is None
    assert usage_of(SimpleNamespace(usage=usage)) is None
