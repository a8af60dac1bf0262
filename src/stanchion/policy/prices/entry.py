"""What a model charges, as a policy or the shipped table says it."""

from __future__ import annotations

from typing import Annotated

import msgspec

Dollars = Annotated[float, msgspec.Meta(ge=0, le=1_000_000)]


class Rates(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Dollars for a million tokens. What is read from a cache or written to one costs as much as
    other input, unless it has a rate of its own."""

    input_usd_per_mtok: Dollars
    """US dollars per million prompt tokens."""
    output_usd_per_mtok: Dollars
    """US dollars per million reply tokens."""
    cached_input_usd_per_mtok: Dollars | None = None
    """US dollars per million prompt tokens read from a cache; if absent, the price of other prompt
    tokens."""
    cache_write_usd_per_mtok: Dollars | None = None
    """US dollars per million tokens written to a cache; if absent, the price of other prompt
    tokens."""
    cache_write_1h_usd_per_mtok: Dollars | None = None
    """US dollars per million tokens written to a cache that keeps them for an hour; if absent, the
    price of other cache writes."""


class LongPrompt(Rates, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Rates of a call, all of it, whose prompt is longer than this."""

    above_tokens: Annotated[int, msgspec.Meta(ge=0)]
    """A prompt with more tokens than this is long."""


class PriceEntry(Rates, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a model charges, or all models whose names match a glob."""

    long_prompt: LongPrompt | None = None
    """Other prices for calls with a long prompt; if absent, there are none."""
    max_output_tokens: Annotated[int, msgspec.Meta(ge=1, lt=10**9)] | None = None
    """The most tokens a reply can have if the request sets no limit; if absent, unknown."""
