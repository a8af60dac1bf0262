"""What a call costs, in whole millionths of a dollar, rounded up."""

from __future__ import annotations

from typing import Final

import msgspec

from stanchion.policy.prices.entry import PriceEntry, Rates

FINE: Final = 10**9
"""In how many parts a rate is counted: as many as anybody writes decimals, so that sums are
exact."""


class Usage(msgspec.Struct, frozen=True, kw_only=True):
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


def cost_microusd(entry: PriceEntry, usage: Usage) -> int:
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
