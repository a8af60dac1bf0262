"""Bound functions: they are in their run wherever they are called, also in a thread that begins
with no context."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from stanchion.runtime.calling.at_work import tool_at_work, working
from stanchion.runtime.calling.tool import ToolShape, shape_of


def bound(
    open_runs: ContextVar[tuple[Any, ...]], run: Any, fn: Callable[..., Any]
) -> Callable[..., Any]:
    """A function of the same kind that has the run around it, inside those that are around the
    caller now, and does what it does for the tool that is at work now."""
    shape = shape_of(fn)
    if shape in (ToolShape.GENERATOR, ToolShape.ASYNC_GENERATOR):
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

    if shape is ToolShape.ASYNC:

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


P = ParamSpec("P")
T = TypeVar("T")


class RunThreads(ThreadPoolExecutor):
    """Threads in which the runs around whoever submits something are around it too. Where this
    pool's run is not among them, as when another thread submits, it is the outermost."""

    def __init__(
        self, open_runs: ContextVar[tuple[Any, ...]], run: Any, max_workers: int | None, prefix: str
    ) -> None:
        super().__init__(max_workers, prefix)
        self._open, self._run = open_runs, run

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Have a function called in one of the threads, in the context of the caller."""
        context = copy_context()
        around = self._open.get()
        if self._run not in around:
            context.run(self._open.set, (self._run, *around))
        inside: Callable[..., T] = context.run
        return super().submit(inside, fn, *args, **kwargs)
