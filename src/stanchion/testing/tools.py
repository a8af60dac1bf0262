"""Scripted tools: they return, raise or block as a script says, and remember how they were
called."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


class Blocks:
    """A script's entry for a call that does not come back until the test lets it.

    `entered` is set when the call has begun; `release()` lets it go on, and it then gives `then`
    (or raises it). An async call that is cancelled meanwhile sets `cancelled`.
    """

    def __init__(self, then: Any = None) -> None:
        self.then = then
        self.entered = threading.Event()
        self.cancelled = threading.Event()
        self._released = threading.Event()
        self._waiting: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []
        self._lock = threading.Lock()

    def release(self) -> None:
        """Let every call that waits here go on, and every later one pass."""
        with self._lock:
            self._released.set()
            waiting, self._waiting = self._waiting, []
        for loop, event in waiting:
            loop.call_soon_threadsafe(event.set)

    def wait(self) -> None:
        """Wait in a thread."""
        self.entered.set()
        self._released.wait()

    async def await_release(self) -> None:
        """Wait on an event loop; can be cancelled."""
        event = asyncio.Event()
        with self._lock:
            if self._released.is_set():
                event.set()
            else:
                self._waiting.append((asyncio.get_running_loop(), event))
        self.entered.set()
        try:
            await event.wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise


class ScriptedTool:
    """A tool that follows a script, one entry a call; safe to call from many threads.

    A value is returned, an exception (or its class) is raised, a `Blocks` waits. The last entry is
    used again for every later call; without a script every call gives `None`. It takes keyword
    arguments, as agents give them. `as_async`, `as_generator` and `as_async_generator` are the same
    tool in other shapes: same name, same script, same record of calls.
    """

    def __init__(self, *script: Any, name: str = "tool") -> None:
        self.__name__ = name
        self._script = script
        self._lock = threading.Lock()
        self.calls: list[dict[str, Any]] = []

    @property
    def count(self) -> int:
        """How often it was called."""
        return len(self.calls)

    def __call__(self, **arguments: Any) -> Any:
        entry = self._next(arguments)
        if isinstance(entry, Blocks):
            entry.wait()
            entry = entry.then
        return _given(entry)

    def as_async(self) -> Callable[..., Coroutine[Any, Any, Any]]:
        """The tool as a coroutine function; a call that blocks can be cancelled."""

        async def called(**arguments: Any) -> Any:
            entry = self._next(arguments)
            if isinstance(entry, Blocks):
                await entry.await_release()
                entry = entry.then
            return _given(entry)

        return self._named(called)

    def as_generator(self) -> Callable[..., Iterator[Any]]:
        """The tool as a generator function: each entry of the script is a list of items, given one
        by one."""

        def called(**arguments: Any) -> Iterator[Any]:
            for entry in _items(self._next(arguments)):
                if isinstance(entry, Blocks):
                    entry.wait()
                    entry = entry.then
                yield _given(entry)

        return self._named(called)

    def as_async_generator(self) -> Callable[..., AsyncIterator[Any]]:
        """The tool as an async generator function."""

        async def called(**arguments: Any) -> AsyncIterator[Any]:
            for entry in _items(self._next(arguments)):
                if isinstance(entry, Blocks):
                    await entry.await_release()
                    entry = entry.then
                yield _given(entry)

        return self._named(called)

    def _named(self, called: F) -> F:
        called.__name__ = called.__qualname__ = self.__name__
        return called

    def _next(self, arguments: dict[str, Any]) -> Any:
        with self._lock:
            self.calls.append(arguments)
            place = min(len(self.calls), len(self._script)) - 1
        return self._script[place] if self._script else None


def _given(entry: Any) -> Any:
    """A script's entry as what the call gives: exceptions are raised."""
    if isinstance(entry, BaseException) or (
        isinstance(entry, type) and issubclass(entry, BaseException)
    ):
        raise entry
    return entry


def _items(entry: Any) -> list[Any]:
    if isinstance(entry, list | tuple):
        return list(entry)
    return [] if entry is None else [entry]
