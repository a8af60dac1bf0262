"""Items for async code: tools that yield, async or not, as something to iterate over or to
await."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Generator
from typing import Any, Generic, TypeVar

from stanchion.runtime.calling.pace import END, Steps

Y = TypeVar("Y")


class Items(Generic[Y]):
    """The judged items of a tool that yields: `async for item in run.acall(tool)`.

    Awaiting it gives it back, for hosts that await whatever a tool returns.
    """

    __slots__ = ("_items",)

    def __init__(self, items: AsyncGenerator[Y, None]) -> None:
        self._items = items

    def __aiter__(self) -> Items[Y]:
        return self

    async def __anext__(self) -> Y:
        return await anext(self._items)

    def __await__(self) -> Generator[Any, None, Items[Y]]:
        yield from ()
        return self

    async def aclose(self) -> None:
        """End it early; the tool is closed, and what came of it recorded."""
        await self._items.aclose()


class InThreads:
    """A sync source for async code: each of its items is made in a thread, so that it never holds
    up the loop."""

    def __init__(self, source: Any) -> None:
        self._steps = Steps(source)

    async def __anext__(self) -> Any:
        value = await asyncio.to_thread(self._steps.next)
        if value is END:
            raise StopAsyncIteration
        return value

    async def aclose(self) -> None:
        """Close the source. Where nobody waits any more for the item that it is making, its thread
        does that."""
        await asyncio.to_thread(self._steps.close)
