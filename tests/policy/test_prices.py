"""Prices: the shipped table, what a policy says instead, and what calls cost."""

import re
from datetime import date
from fractions import Fraction
from math import ceil
from typing import Any

import msgspec
import pytest
from hypothesis import given, strategies as st

from stanchion.policy.composed import read_text
from stanchion.policy.errors import PolicyError
from stanchion.policy.load import load_policy
from stanchion.policy.prices.entry import LongPrompt, PricedTokens, PriceEntry, Rates, cost_microusd
from stanchion.policy.prices.lookup import TableFile, UnknownModel, Vendor, price, shipped, table_of

BARE = {"name": "bare"}
CHEAP = {"input_usd_per_mtok": 1, "output_usd_per_mtok": 2}

VENDORS = list(shipped().vendors.items())
ENTRIES = [(name, entry) for _, vendor in VENDORS for name, entry in vendor.models.items()]


def rate(model: str, prices: dict[str, Any] | None = None) -> float:
    """What a million tokens of input cost under a policy with these prices."""
    policy = load_policy({**BARE, "prices": {} if prices is None else prices})
    return price(policy, model).entry.input_usd_per_mtok


@pytest.mark.parametrize(("name", "vendor"), VENDORS, ids=[name for name, _ in VENDORS])
def test_every_vendor_says_where_its_prices_were_read_and_when(name: str, vendor: Vendor) -> None:
    assert re.fullmatch(r"https://[a-z.-]+(/[\w./-]*)?", vendor.source)
    assert (
        date(2026, 1, 1) <= date.fromisoformat(vendor.as_of) <= date.fromisoformat(shipped().as_of)
    )
    assert vendor.models


@pytest.mark.parametrize(("name", "entry"), ENTRIES, ids=[name for name, _ in ENTRIES])
def test_every_entry_makes_sense(name: str, entry: PriceEntry) -> None:
    """A slip of a digit or of a line shows: output costs no less than input, caches save, long
    prompts cost more."""
    tiers: list[Rates] = [entry] if entry.long_prompt is None else [entry, entry.long_prompt]
    for tier in tiers:
        plain = tier.input_usd_per_mtok
        assert 0.01 <= plain <= tier.output_usd_per_mtok <= 20 * plain
        assert (
            tier.cached_input_usd_per_mtok is None
            or 0 < tier.cached_input_usd_per_mtok <= plain / 2
        )
        if tier.cache_write_usd_per_mtok is not None:
            assert tier.cache_write_usd_per_mtok == pytest.approx(1.25 * plain)
        if tier.cache_write_1h_usd_per_mtok is not None:
            assert tier.cache_write_1h_usd_per_mtok == pytest.approx(2 * plain)
    if entry.long_prompt is not None:
        assert entry.long_prompt.above_tokens >= 100_000
        for field in Rates.__struct_fields__:
            base, long = getattr(entry, field), getattr(entry.long_prompt, field)
            assert (base is None and long is None) or 1.2 * base <= long <= 5 * base


def test_no_model_is_listed_twice_and_none_is_a_pattern() -> None:
    names = [name for name, _ in ENTRIES]
    assert len(names) == len(set(names))
    assert not [name for name in names if "*" in name or "?" in name]


@pytest.mark.parametrize(
    ("model", "costs"),
    [
        ("gpt-4o", 2.5),
        ("gpt-4o-2024-11-20", 2.5),
        ("gpt-4o-2024-05-13", 5),
        ("gpt-4o-mini-2024-07-18", 0.15),
        ("claude-opus-4-5-20251101", 5),
        ("meta.llama3-3-70b-instruct-v1:0", 0.72),
    ],
)
def test_a_snapshot_costs_what_its_model_costs_unless_it_has_an_entry(
    model: str, costs: float
) -> None:
    assert rate(model) == costs


@pytest.mark.parametrize(
    "model", ["gpt-4o-audio", "gpt-4o-latest", "claude-opus-4-5-thinking", "GPT-4o", "openai/o3"]
)
def test_what_only_looks_like_a_known_model_is_unknown(model: str) -> None:
    with pytest.raises(UnknownModel):
        rate(model)


@pytest.mark.parametrize(
    ("prices", "costs"),
    [
        ({"gpt-4o": CHEAP}, 1),
        ({"gpt-*": CHEAP}, 1),
        ({"*": CHEAP, "gpt-*": {**CHEAP, "input_usd_per_mtok": 7}}, 7),
        ({"gpt-?o": CHEAP, "gpt-4*": {**CHEAP, "input_usd_per_mtok": 7}}, 7),
        ({"gpt-4o": {"input_usd_per_mtok": 0, "output_usd_per_mtok": 0}}, 0),
        ({"gpt-4o-mini": CHEAP, "gpt-5*": CHEAP}, 2.5),
    ],
    ids=str,
)
def test_a_policy_is_asked_first_and_its_closest_entry_counts(
    prices: dict[str, Any], costs: float
) -> None:
    assert rate("gpt-4o", prices) == costs


def test_a_policy_adds_models_and_an_environment_changes_them() -> None:
    source = {
        **BARE,
        "prices": {"mine": CHEAP},
        "environments": {"prod": {"prices": {"mine": {"input_usd_per_mtok": 9}}}},
    }
    assert price(load_policy(source), "mine").entry.input_usd_per_mtok == 1
    prod = price(load_policy(source, "prod"), "mine")
    assert (prod.entry.input_usd_per_mtok, prod.entry.output_usd_per_mtok, prod.origin) == (
        9,
        2,
        "the policy",
    )


def test_prices_are_part_of_what_a_policy_is() -> None:
    hashes = {
        load_policy({**BARE, "prices": {"mine": {**CHEAP, "output_usd_per_mtok": n}}}).hash
        for n in (2, 3)
    }
    assert len(hashes | {load_policy(BARE).hash}) == 3


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        ({"input_usd_per_mtok": 1}, "`output_usd_per_mtok` is missing"),
        ({**CHEAP, "input_usd_per_mtok": -1}, "`-1` is out of bounds"),
        ({**CHEAP, "input_usd_per_mtok": "DOLLARS"}, "`DOLLARS`"),
        ({**CHEAP, "input_per_mtok": 1}, "did you mean `input_usd_per_mtok`?"),
        ({**CHEAP, "long_prompt": CHEAP}, "`above_tokens` is missing"),
    ],
    ids=str,
)
def test_a_price_that_is_no_price_is_refused(entry: dict[str, Any], says: str) -> None:
    with pytest.raises(PolicyError) as caught:
        load_policy({**BARE, "prices": {"mine": entry}})
    assert says in str(caught.value)
    assert "mine" in str(caught.value)


def test_an_unknown_model_is_named_with_what_to_do() -> None:
    with pytest.raises(UnknownModel) as caught:
        rate("gpt-4o-miny")
    assert str(caught.value) == (
        "no price is known for the model `gpt-4o-miny`: use `gpt-4o-mini`, `gpt-5.4-mini`, "
        "`gpt-4.1-mini` if that is"
        " meant, give `cost_usd` with the call, or add to the policy what a million tokens cost:\n"
        "prices:\n"
        "  gpt-4o-miny:\n"
        "    {input_usd_per_mtok: DOLLARS, output_usd_per_mtok: DOLLARS}"
    )


@pytest.mark.parametrize(
    "model", ["made-up", "with space: {x}", "-", "null", "a\nb", "x" * 5_000], ids=lambda m: m[:20]
)
def test_what_the_message_says_can_be_added_as_it_stands(model: str) -> None:
    """Only the dollars are missing, and a policy that still lacks them is refused."""
    with pytest.raises(UnknownModel) as caught:
        rate(model)
    message = str(caught.value)
    assert len(message) < 1_000
    snippet = message[message.index("prices:") :]
    with pytest.raises(PolicyError):
        load_policy(read_text(f"name: x\n{snippet}", "x").root.data())
    data = read_text(f"name: x\n{snippet.replace('DOLLARS', '3')}", "x").root.data()
    assert list(data["prices"]) == [model[:200]]
    assert load_policy(data).file.prices[model[:200]].input_usd_per_mtok == 3


def test_a_policys_own_names_are_near_too() -> None:
    with pytest.raises(UnknownModel) as caught:
        rate("house-modle", {"house-model": CHEAP})
    assert caught.value.near == ("house-model",)


def test_a_call_without_a_model_is_told_so() -> None:
    with pytest.raises(UnknownModel, match="names no model"):
        rate("")


def test_the_tables_hash_follows_what_it_says() -> None:
    table = shipped()
    assert (
        price(load_policy(BARE), "o3").origin
        == f"the price table of {table.as_of}, sha256 {table.digest[:16]}"
    )
    assert table_of(TableFile(table.vendors)).digest == table.digest
    fewer = dict(list(table.vendors.items())[1:])
    assert table_of(TableFile(fewer)).digest != table.digest


RATES = st.decimals(0, 1_000, places=6).map(float)
COUNTS = st.integers(0, 10**7)


@given(st.tuples(*[RATES] * 5), st.tuples(*[COUNTS] * 5))
def test_costs_are_exact_and_rounded_up_once(
    rates: tuple[float, ...], counts: tuple[int, ...]
) -> None:
    entry = msgspec.convert(dict(zip(Rates.__struct_fields__, rates, strict=True)), PriceEntry)
    plain, output, cached, written, hour = counts
    usage = PricedTokens(
        input=plain, output=output, cached=cached, written=written, written_1h=hour
    )
    exact = sum(Fraction(str(each)) * count for each, count in zip(rates, counts, strict=True))
    assert cost_microusd(entry, usage) == ceil(exact)


def test_a_cache_without_a_rate_costs_what_input_costs() -> None:
    entry = PriceEntry(input_usd_per_mtok=3, output_usd_per_mtok=9)
    assert (
        cost_microusd(entry, PricedTokens(cached=10))
        == cost_microusd(entry, PricedTokens(written=10))
        == 30
    )
    five = PriceEntry(input_usd_per_mtok=3, output_usd_per_mtok=9, cache_write_usd_per_mtok=5)
    assert cost_microusd(five, PricedTokens(written_1h=10)) == 50


def test_what_is_not_told_apart_costs_the_dearer_rate() -> None:
    assert (
        cost_microusd(
            PriceEntry(input_usd_per_mtok=3, output_usd_per_mtok=9), PricedTokens(unsorted=10)
        )
        == 90
    )
    assert (
        cost_microusd(
            PriceEntry(input_usd_per_mtok=3, output_usd_per_mtok=0), PricedTokens(unsorted=10)
        )
        == 30
    )


def test_a_long_prompt_makes_the_whole_call_dearer() -> None:
    long = LongPrompt(above_tokens=100, input_usd_per_mtok=10, output_usd_per_mtok=20)
    entry = PriceEntry(
        input_usd_per_mtok=1, output_usd_per_mtok=2, cached_input_usd_per_mtok=0.5, long_prompt=long
    )
    assert cost_microusd(entry, PricedTokens(input=60, cached=40, output=500)) == 60 + 20 + 1_000
    assert cost_microusd(entry, PricedTokens(input=60, cached=41, output=500)) == 1_010 + 10_000


def test_dollars_for_hosts_that_count_for_themselves() -> None:
    known = price(load_policy(BARE), "gpt-4o")
    assert known.cost_usd(1_000, 500) == 0.0075
    assert known.cost_usd(1_000, 500, cached_tokens=400) == 0.007
    wrong: list[tuple[Any, ...]] = [(-1, 0), (1.5, 0), (True, 0), (1, 1, 2)]
    for counts in wrong:
        with pytest.raises(ValueError, match="tokens is `"):
            known.cost_usd(*counts)
