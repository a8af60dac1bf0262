"""Items for async code: tools that yield, async or not, as something to iterate over or to await."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Generator
from typing import Any, Final

END: Final = object()
"""What stands for the end of a generator: `StopIteration` cannot leave a thread for an event loop."""


class Items:
    """The judged items of a tool that yields: `async for item in run.acall(tool)`.

    Awaiting it gives it back, for hosts that await whatever a tool returns.
    """

    __slots__ = ("_items",)

    def __init__(self, items: AsyncGenerator[Any, None]) -> None:
        self._items = items

    def __aiter__(self) -> Items:
        return self

    async def __anext__(self) -> Any:
        return await anext(self._items)

    def __await__(self) -> Generator[Any, None, Items]:
        yield from ()
        return self

    async def aclose(self) -> None:
        """End it early; the tool is closed, and what came of it recorded."""
        await self._items.aclose()


class InThreads:
    """A sync generator for async code: each of its items is made in a thread, so that it never holds up the loop."""

    def __init__(self, source: Generator[Any, Any, Any]) -> None:
        self._source = source
        self._lock = threading.Lock()
        self._busy = False
        self._closed = False

    async def __anext__(self) -> Any:
        value = await asyncio.to_thread(self._next)
        if value is END:
            raise StopAsyncIteration
        return value

    async def aclose(self) -> None:
        """Close the generator. Where nobody waits any more for the item that it is making, its thread does that."""
        with self._lock:
            self._closed = True
            busy = self._busy
        if not busy:
            await asyncio.to_thread(self._source.close)

    def _next(self) -> Any:
        if self._work(True):
            return END
        try:
            return next(self._source, END)
        finally:
            if self._work(False):
                self._source.close()

    def _work(self, busy: bool) -> bool:
        """Begin or end the work on an item; says whether nobody wants one any more."""
        with self._lock:
            self._busy = busy and not self._closed
            return self._closed
