"""A pool of threads for what a run does at once: whatever is handed to it stays in its run."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import ContextVar, copy_context
from typing import Any, ParamSpec, TypeVar

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
