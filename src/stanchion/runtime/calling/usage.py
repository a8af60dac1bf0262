"""What a model's reply says it used, in whichever words its vendor has for it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from typing import Any

import msgspec

from stanchion.policy.prices.entry import PricedTokens


def usage_of(reply: Any) -> PricedTokens | None:
    """The tokens of a call; `None` where the reply does not say what went in and what came out, or
    the sum."""
    said = _first(reply, "usage", "usage_metadata")
    prompt, plain = (
        _count(said, "prompt_tokens", "prompt_token_count"),
        _count(said, "input_tokens"),
    )
    output, total = (
        _count(said, "output_tokens", "completion_tokens", "candidates_token_count"),
        _total(said),
    )
    whole = plain if prompt is None else prompt
    if total is None and (whole is None or output is None):
        return None
    if whole is None and output is None:
        return PricedTokens(unsorted=_or_none(total))
    output = _or_none(output) + _or_none(_count(said, "thoughts_token_count"))
    details = _first(said, "prompt_tokens_details", "input_tokens_details", "input_token_details")
    usage = _cached(
        said, details, _or_none(whole), output, beside=prompt is None and details is None
    )
    missing = _or_none(total) - usage.total
    return usage if missing <= 0 else msgspec.structs.replace(usage, output=output + missing)


def _cached(said: Any, details: Any, whole: int, output: int, beside: bool) -> PricedTokens:
    """The tokens with those sorted out that a cache gave or took. Some vendors count them among the
    input, others beside it (then there are neither `prompt_tokens` nor details)."""
    read = _or_none(
        _count(details, "cached_tokens", "cache_read"),
        _count(
            said, "cache_read_input_tokens", "prompt_cache_hit_tokens", "cached_content_token_count"
        ),
    )
    wrote = _or_none(
        _count(details, "cache_write_tokens", "cache_creation"),
        _count(said, "cache_creation_input_tokens", "cache_write_input_tokens"),
    )
    if not beside:
        read = min(read, whole)
        wrote = min(wrote, whole - read)
        whole -= read + wrote
    hour = min(_or_none(_count(_first(said, "cache_creation"), "ephemeral_1h_input_tokens")), wrote)
    return PricedTokens(
        input=whole, cached=read, written=wrote - hour, written_1h=hour, output=output
    )


def cost_of(reply: Any) -> float | None:
    """What the provider itself says the call has cost, in dollars."""
    said = _first(reply, "usage", "usage_metadata")
    for value in (field(said, "cost_usd"), field(said, "cost"), field(reply, "cost_usd")):
        if type(value) in (int, float) and value >= 0 and math.isfinite(value):
            return float(value)
    return None


def field(value: Any, name: str) -> Any:
    """A field of a mapping or an object; `None` where it has none."""
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)


def _total(said: Any) -> int | None:
    return _count(said, "total_tokens", "total_token_count")


def _first(value: Any, *names: str) -> Any:
    """The first of these fields that there is, under its name or as JSON of some vendors spells
    it."""
    if value is None:
        return None
    for name in _spelled(names):
        found = field(value, name)
        if found is not None:
            return found
    return None


def _count(value: Any, *names: str) -> int | None:
    """The same for a number of tokens."""
    for name in names:
        count = _first(value, name)
        if type(count) is int and count >= 0:
            return count
    return None


@cache
def _spelled(names: tuple[str, ...]) -> tuple[str, ...]:
    """Names as they are and as some vendors spell them. They are those of this file, so they are
    few."""
    return tuple([spelling for name in names for spelling in (name, _camel(name))])


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join([word.title() for word in rest])


def _or_none(*counts: int | None) -> int:
    """The first that is known, or none at all."""
    return next((count for count in counts if count is not None), 0)
