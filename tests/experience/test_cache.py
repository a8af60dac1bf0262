"""Advice is worded once for the same knowledge, and the cache is bounded."""

from __future__ import annotations

from stanchion.experience.advice_context import AdviceContext, ToolText
from stanchion.experience.styles import AdviceCache


def test_the_same_context_and_style_are_at_hand() -> None:
    cache = AdviceCache()
    one = AdviceContext("search", 1)
    assert cache.advice("concise", one) == cache.advice("concise", AdviceContext("search", 1))
    assert cache.advice("friendly", one) != cache.advice("concise", one)
    stats = cache.stats()
    assert (stats.cache_hits, stats.cache_misses, stats.hit_rate) == (2, 2, 0.5)


def test_whatever_differs_in_a_context_is_worded_anew() -> None:
    cache = AdviceCache()
    said = [
        cache.advice("expert", AdviceContext("t", 1, ToolText(words)))
        for words in ("timeout", "system")
    ]
    assert said[0] != said[1]
    assert cache.stats().cache_hits == 0


def test_the_least_recently_used_is_forgotten() -> None:
    cache = AdviceCache(most=2)
    for tool in ("a", "b", "a", "c", "a"):
        cache.advice("concise", AdviceContext(tool, 1))
    assert len(cache) == 2
    assert cache.stats().cache_hits == 2
    assert AdviceCache().stats().hit_rate == 0.0
