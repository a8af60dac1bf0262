"""What a model charges, as a policy or the shipped table says it, and what a call costs by that:
whole millionths of a dollar, rounded up."""

from __future__ import annotations

from typing import Annotated, Final

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


FINE: Final = 10**9
"""In how many parts a rate is counted: as many as anybody writes decimals, so that sums are
exact."""


class PricedTokens(msgspec.Struct, frozen=True, kw_only=True):
    """The tokens of one call, each counted once: input that no cache had a part in, what a cache
    gave, what was written to one for a while or for an hour, output, and what is known only as a
    sum."""

    input: int = 0
    cached: int = 0
    written: int = 0
    written_1h: int = 0
    output: int = 0
    unsorted: int = 0

    @property
    def prompt(self) -> int:
        """The tokens that went in."""
        return self.input + self.cached + self.written + self.written_1h

    @property
    def total(self) -> int:
        """All tokens."""
        return self.prompt + self.output + self.unsorted


def cost_microusd(entry: PriceEntry, usage: PricedTokens) -> int:
    """What so many tokens cost at these rates. One dollar for a million tokens is a millionth for
    one."""
    long = entry.long_prompt
    rates: Rates = (
        long if long is not None and usage.prompt + usage.unsorted > long.above_tokens else entry
    )
    read, wrote, wrote_1h = (
        rates.cached_input_usd_per_mtok,
        rates.cache_write_usd_per_mtok,
        rates.cache_write_1h_usd_per_mtok,
    )
    plain = rates.input_usd_per_mtok
    wrote = plain if wrote is None else wrote
    charged = (
        (usage.input, plain),
        (usage.cached, plain if read is None else read),
        (usage.written, wrote),
        (usage.written_1h, wrote if wrote_1h is None else wrote_1h),
        (usage.output, rates.output_usd_per_mtok),
        (usage.unsorted, max(plain, rates.output_usd_per_mtok)),
    )
    return -(-sum([tokens * round(rate * FINE) for tokens, rate in charged]) // FINE)
