"""Wrapping: a function of the same kind and signature whose every call goes through the current
run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import aclosing
from functools import wraps
from typing import Any, Protocol

from stanchion.runtime.calling.refusal_text import TEXT, widen
from stanchion.runtime.calling.tool import MARK, Shape, Tool


class Calls(Protocol):
    """A run, as far as it calls tools."""

    def call(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Call a tool."""

    def acall(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        """The same for async code."""


RunFor = Callable[[Tool], Calls]
"""Gives the run in which a tool is being called, or raises `NoRun`."""


def wrapped(tool: Tool, run_for: RunFor) -> Callable[..., Any]:
    """The shielded form of a tool's function: plain, async, generator or async generator as it
    was."""
    wrapper = _MAKERS[tool.shape](tool, run_for)
    if tool.refusal == TEXT and tool.shape in (Shape.PLAIN, Shape.ASYNC):
        widen(wrapper)
    setattr(wrapper, MARK, tool)
    return wrapper


def _plain(tool: Tool, run_for: RunFor) -> Callable[..., Any]:
    @wraps(tool.fn)
    def called(*args: Any, **kwargs: Any) -> Any:
        return run_for(tool).call(tool, *args, **kwargs)

    return called


def _async(tool: Tool, run_for: RunFor) -> Callable[..., Any]:
    @wraps(tool.fn)
    async def called(*args: Any, **kwargs: Any) -> Any:
        return await run_for(tool).acall(tool, *args, **kwargs)

    return called


def _generator(tool: Tool, run_for: RunFor) -> Callable[..., Any]:
    @wraps(tool.fn)
    def called(*args: Any, **kwargs: Any) -> Iterator[Any]:
        yield from run_for(tool).call(tool, *args, **kwargs)

    return called


def _async_generator(tool: Tool, run_for: RunFor) -> Callable[..., Any]:
    @wraps(tool.fn)
    async def called(*args: Any, **kwargs: Any) -> Any:
        async with aclosing(run_for(tool).acall(tool, *args, **kwargs)) as items:
            async for item in items:
                yield item

    return called


_MAKERS: dict[Shape, Callable[[Tool, RunFor], Callable[..., Any]]] = {
    Shape.PLAIN: _plain,
    Shape.ASYNC: _async,
    Shape.GENERATOR: _generator,
    Shape.ASYNC_GENERATOR: _async_generator,
}
