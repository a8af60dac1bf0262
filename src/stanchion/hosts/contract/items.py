"""Items that come one by one: a refusal among them is said in the host's words, as the last of
them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from typing import Any

from stanchion.hosts.contract.refusal import Refusal
from stanchion.hosts.contract.terms import Terms
from stanchion.kernel.stages import Stage
from stanchion.runtime.errors import Refused


def items_in_words(
    host: Terms, items: Iterator[Any], stage: Stage, tool: str, about: Any
) -> Iterator[Any]:
    """The items, and what the host says where they end early."""
    try:
        yield from items
    except Refused as refused:
        yield host.say(Refusal(refused, stage, tool, about))


async def aitems_in_words(
    host: Terms, items: AsyncIterator[Any], stage: Stage, tool: str, about: Any
) -> AsyncGenerator[Any, None]:
    """The same for items that are awaited."""
    try:
        try:
            async for item in items:
                yield item
        finally:
            await items.aclose()  # type: ignore[attr-defined] # what judges items is a generator
    except Refused as refused:
        yield host.say(Refusal(refused, stage, tool, about))
