"""The cache of advice: what was worded for a context in a style, the least recently used forgotten
first."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

import msgspec

from stanchion.experience.advice_context import AdviceContext
from stanchion.experience.styles import StyleName, advice_in

MOST: Final = 1_024
"""How many texts are kept."""


class AdviceStats(msgspec.Struct, frozen=True):
    """How often advice was at hand, how often it was worded, and how often a resolver's answer
    could not be used."""

    cache_hits: int = 0
    cache_misses: int = 0
    resolver_failures: int = 0

    @property
    def hit_rate(self) -> float:
        """The share of advice that was at hand; 0 where none was given."""
        asked = self.cache_hits + self.cache_misses
        return self.cache_hits / asked if asked else 0.0


class AdviceCache:
    """Words advice, and keeps it by all that it is made from. Whoever shares it between threads
    holds a lock."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._kept: OrderedDict[tuple[StyleName, bytes], str] = OrderedDict()
        self._hits = self._misses = 0

    def advice(self, style: StyleName, context: AdviceContext) -> str:
        """Advice in a style."""
        by = (style, msgspec.json.encode(context))
        known = self._kept.get(by)
        if known is not None:
            self._hits += 1
            self._kept.move_to_end(by)
            return known
        self._misses += 1
        made = self._kept[by] = advice_in(style, context)
        if len(self._kept) > self._most:
            self._kept.popitem(last=False)
        return made

    def asked(self, known: bool) -> None:
        """Count advice that is kept elsewhere, and whether it was at hand there."""
        self._hits, self._misses = self._hits + known, self._misses + (not known)

    def stats(self, resolver_failures: int = 0) -> AdviceStats:
        """How often it was of use."""
        return AdviceStats(self._hits, self._misses, resolver_failures)

    def __len__(self) -> int:
        return len(self._kept)
