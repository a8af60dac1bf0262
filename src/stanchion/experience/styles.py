"""Styles: the same knowledge of a tool in words for small models, for large ones, and for agents
that face users."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from functools import partial
from typing import Final, Literal

import msgspec

from stanchion.experience.advice_context import AdviceContext
from stanchion.experience.quoting import error, marked, name, what_differs

StyleName = Literal["concise", "expert", "friendly"]

UNSTEADY: Final = 0.8
"""A tool that works less often is spoken of."""
ENOUGH: Final = 5
"""Of a tool that was called less often nothing is said but its failures in this run."""


def advice_in(style: StyleName, context: AdviceContext) -> str:
    """What is known of a tool, as advice in a style; empty where there is nothing to say."""
    if not context.failure_count and unsteady(context) is None:
        return ""
    return STYLES[style](context)


def unsteady(context: AdviceContext) -> int | None:
    """How often of a hundred a tool works that does not work well; `None` for others, and where too
    little is known."""
    known = context.reliability
    if known is None or known.recent is None or known.successes + known.failures < ENOUGH:
        return None
    return int(100 * known.recent) if known.recent < UNSTEADY else None


def _sentences(failed: str, works: str, context: AdviceContext) -> str:
    """Advice in sentences: that a tool failed, how a call that worked differs, and how often the
    tool works."""
    share, differs = unsteady(context), what_differs(context.similar_success)
    words = {"tool": marked(context.tool_name), "times": context.failure_count, "share": share}
    said = []
    if context.failure_count:
        said.append(failed.format_map(words))
        said += [f"Beside a call that worked: {differs}."] if differs else []
    said += [works.format_map(words)] if share is not None else []
    return " ".join(said)


def _expert(context: AdviceContext) -> str:
    share, differs = unsteady(context), what_differs(context.similar_success)
    said = ["[SELF-AWARENESS]", f"- Tool: {name(context.tool_name)}"]
    if context.failure_count:
        said.append(f"- Failure count: {context.failure_count}")
        said += (
            [f"- Last error: {error(context.last_error)}"] if context.last_error is not None else []
        )
    said += [f"- Works in {share}% of calls"] if share is not None else []
    compared = bool(context.failure_count and differs)
    said += [f"- Beside a call that worked: {differs}"] if compared else []
    said.append(f"- RECOMMENDATION: {'Change these arguments' if compared else 'Use alternative'}")
    return "\n".join(said)


STYLES: Final[dict[StyleName, Callable[[AdviceContext], str]]] = {
    "concise": partial(
        _sentences,
        "Tool {tool} failed {times}x. Try different approach.",
        "Tool {tool} works in {share}% of calls.",
    ),
    "expert": _expert,
    "friendly": partial(
        _sentences,
        "Hey, I noticed {tool} didn't work last time. Double-check parameters!",
        "{tool} works in {share}% of calls, so keep another way in mind!",
    ),
}


# The cache of advice: what was worded for a context in a style, the least recently used forgotten
# first.

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
