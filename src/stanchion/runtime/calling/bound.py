"""Bound functions: they are in their run wherever they are called, also in a thread that begins
with no context."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any

from stanchion.runtime.calling.at_work import tool_at_work, working
from stanchion.runtime.calling.tool import Shape, shape_of


def bound(
    open_runs: ContextVar[tuple[Any, ...]], run: Any, fn: Callable[..., Any]
) -> Callable[..., Any]:
    """A function of the same kind that has the run around it, inside those that are around the
    caller now, and does what it does for the tool that is at work now."""
    shape = shape_of(fn)
    if shape in (Shape.GENERATOR, Shape.ASYNC_GENERATOR):
        name = getattr(fn, "__name__", type(fn).__name__)
        raise TypeError(
            f"`{name}` is a generator, and each item would run outside the run: bind the function "
            f"that iterates over it"
        )
    around = (*[one for one in open_runs.get() if one is not run], run)
    tool = tool_at_work()

    @contextmanager
    def inside() -> Iterator[None]:
        before = open_runs.set(around)
        try:
            with working(tool):
                yield
        finally:
            open_runs.reset(before)

    if shape is Shape.ASYNC:

        async def acalled(*args: Any, **kwargs: Any) -> Any:
            with inside():
                return await fn(*args, **kwargs)

        return _like(fn, acalled)

    def called(*args: Any, **kwargs: Any) -> Any:
        with inside():
            came = fn(*args, **kwargs)
            if inspect.iscoroutine(came):
                came.close()
                raise TypeError(
                    "the bound function returned a coroutine, which would be awaited outside the "
                    "run: bind the async function itself"
                )
            return came

    return _like(fn, called)


def _like(fn: Callable[..., Any], made: Callable[..., Any]) -> Callable[..., Any]:
    """The made one, with the looks of the function that it calls; callable objects have fewer of
    them."""
    return wraps(fn, updated=())(made)
