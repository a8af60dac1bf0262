"""Layer 4: what is known of tools, in words for the agent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stanchion.dialects.errors import DialectError
from stanchion.dialects.guardian.caches import ProvidedTexts, held
from stanchion.dialects.guardian.contexts import AdviceContext, known, resolving
from stanchion.dialects.guardian.interfaces import CacheProvider
from stanchion.dialects.guardian.settings import AdviceStyle, seconds, style_name, takes_one
from stanchion.runtime.driving.on_loop import is_async
from stanchion.runtime.learning.advising import Adviser

TTL_S = 3600


class AdviceGenerator:
    """Words advice in a style, or as a program's own resolver does."""

    def __init__(
        self,
        style: AdviceStyle | str = AdviceStyle.CONCISE,
        cache_provider: CacheProvider | None = None,
        cache_ttl: float = TTL_S,
    ) -> None:
        self._join(style, cache_provider, cache_ttl, Adviser(), None)

    def _join(
        self,
        style: Any,
        provider: Any,
        ttl_s: float,
        adviser: Adviser,
        restyle: Callable[[AdviceStyle], None] | None,
    ) -> None:
        seconds("cache_ttl", ttl_s)
        self._adviser, self._restyle = adviser, restyle
        self._style = AdviceStyle(style_name(style))
        if provider is not None:
            adviser.texts = ProvidedTexts(held(provider), ttl_s)

    @classmethod
    def within(
        cls,
        style: Any,
        provider: Any,
        ttl_s: float,
        adviser: Adviser,
        restyle: Callable[[AdviceStyle], None],
    ) -> AdviceGenerator:
        """The generator of a guardian; `restyle` has it advise in another style."""
        made = cls.__new__(cls)
        made._join(style, provider, ttl_s, adviser, restyle)
        return made

    def generate(self, context: AdviceContext) -> str:
        """Advice from what is known; empty where there is nothing to say."""
        return self._adviser.words(style_name(self._style), known(context))

    def set_style(self, style: AdviceStyle | str) -> None:
        """Advise in another style."""
        self._style = AdviceStyle(style_name(style))
        if self._restyle is not None:
            self._restyle(self._style)

    def set_custom_resolver(self, resolver: Any) -> None:
        """Have a function word advice from an `AdviceContext`; `None` takes it away."""
        if resolver is not None and not callable(resolver):
            said = f"the advice resolver is `{type(resolver).__name__}`"
            raise DialectError(f"{said}: give a function of an `AdviceContext`, or None")
        if resolver is not None:
            takes_one(resolver, "the advice resolver", "an `AdviceContext`")
            if is_async(resolver):
                raise DialectError(
                    "the advice resolver has to be awaited: give a function that gives the text at "
                    "once"
                )
        self._adviser.resolver = None if resolver is None else resolving(resolver)

    def get_cache_stats(self) -> dict[str, Any]:
        """How often advice was at hand."""
        stats = self._adviser.stats()
        return {
            "cache_hits": stats.cache_hits,
            "cache_misses": stats.cache_misses,
            "hit_rate": stats.hit_rate,
        }
