"""Wrapping: a function of the same kind and signature whose every call goes through the current run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import aclosing
from functools import wraps
from typing import Any

from stanchion.runtime.run import Run
from stanchion.runtime.tool import MARK, Shape, Tool

RunFor = Callable[[Tool], Run]
"""Gives the run in which a tool is being called, or raises `NoRun`."""


def wrapped(tool: Tool, run_for: RunFor) -> Callable[..., Any]:
    """The shielded form of a tool's function: plain, async, generator or async generator as it was."""
    wrapper = _MAKERS[tool.shape](tool, run_for)
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
