"""What a model charges, as a policy or the shipped table says it."""

from __future__ import annotations

from typing import Annotated

import msgspec

Dollars = Annotated[float, msgspec.Meta(ge=0, le=1_000_000)]


class Rates(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Dollars for a million tokens. What is read from a cache or written to one costs as much as
    other input, unless it has a rate of its own."""

    input_usd_per_mtok: Dollars
    output_usd_per_mtok: Dollars
    cached_input_usd_per_mtok: Dollars | None = None
    cache_write_usd_per_mtok: Dollars | None = None
    cache_write_1h_usd_per_mtok: Dollars | None = None


class LongPrompt(Rates, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Rates of a call, all of it, whose prompt is longer than this."""

    above_tokens: Annotated[int, msgspec.Meta(ge=0)]


class PriceEntry(Rates, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a model charges, or all models whose names match a glob."""

    long_prompt: LongPrompt | None = None
    max_output_tokens: Annotated[int, msgspec.Meta(ge=1, lt=10**9)] | None = None
