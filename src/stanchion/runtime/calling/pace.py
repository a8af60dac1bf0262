"""Pacing: the items of a tool or of a stream, made within the time that all of them together may
take."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import TYPE_CHECKING, Any, Final

from stanchion.locks import Lock
from stanchion.runtime.driving.flow import Flow, Invoke
from stanchion.runtime.driving.on_loop import OutOfTime, answered
from stanchion.runtime.driving.sync import Ended, drive
from stanchion.runtime.errors import DeadlineExceeded

if TYPE_CHECKING:
    from stanchion.runtime.deciding.desk import Desk

END: Final = object()
"""What stands for the end of a source: `StopIteration` cannot leave a thread for an event loop."""
FAR_S: Final = 1e9
"""As good as no limit."""
CLOSING_S: Final = 1.0
"""How long a source that has used up its time may take to close; then it is left to do so by
itself."""


class Pace:
    """How long the items of one call may still take to be made: what is left of its own limit, and
    of its run's deadline. The time that a host takes between two items is its own, and counts
    towards the deadline alone."""

    def __init__(self, desk: Desk, name: str, limit_s: float | None) -> None:
        self._desk, self._name, self._limit_s = desk, name, limit_s
        self._left_s = limit_s

    def left_s(self) -> float | None:
        """How long the next item may take; `None` where nothing bounds it."""
        deadline_at_ms = self._desk.deadline_at_ms
        if deadline_at_ms is None:
            return self._left_s
        left_s = max(0, deadline_at_ms - self._desk.shield.clock()) / 1000
        return left_s if self._left_s is None else min(self._left_s, left_s)

    def took(self, seconds: float) -> None:
        """Count the time that something took."""
        if self._left_s is not None:
            self._left_s = max(0.0, self._left_s - seconds)

    def too_late(self, left_s: float | None, how: str = "") -> DeadlineExceeded:
        """The error for what did not give its next item in the time that was left; `how` says what
        became of it."""
        if self._limit_s is None or self._left_s != left_s:
            return DeadlineExceeded(
                f"`{self._name}` did not give all its items before the run's deadline{how}"
            )
        return DeadlineExceeded(
            f"`{self._name}` did not give all its items within {self._limit_s:g} s{how}"
        )


class SourceSteps:
    """A sync source whose items may be made in other threads, one at a time. Where nobody waits any
    more for the item that it is making, it is closed by whoever makes it."""

    def __init__(self, source: Any) -> None:
        self._source = source
        self._items = iter(source)
        self._lock = Lock()
        self.busy = False
        self._closed = False

    def next(self) -> Any:
        """Make an item; `END` where there is none, or nobody wants one any more."""
        if self._work(True):
            return END
        try:
            return next(self._items, END)
        except GeneratorExit as error:
            # Whoever waits for the item would take it for an end of his own.
            raise RuntimeError("generator raised GeneratorExit") from error
        finally:
            if self._work(False):
                self._end()

    def close(self) -> None:
        """Close the source, now or when it has made the item that it is at."""
        with self._lock:
            self._closed = True
            busy = self.busy
        if not busy:
            self._end()

    def _end(self) -> None:
        for end in {id(end): end for end in (self._items, self._source)}.values():
            close = getattr(end, "close", None)
            if callable(close):
                close()

    def _work(self, busy: bool) -> bool:
        """Begin or end the work on an item; says whether nobody wants one any more."""
        with self._lock:
            self.busy = busy and not self._closed
            return self._closed


class InTime:
    """The items of a sync source, each made within the time that is left; with a limit they are
    made in a thread, so that the caller is kept to it."""

    def __init__(self, desk: Desk, source: Any, pace: Pace) -> None:
        self._desk, self._pace = desk, pace
        self._steps = SourceSteps(source)

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        left_s = self._pace.left_s()
        value = self._steps.next() if left_s is None else self._within(left_s)
        if value is END:
            raise StopIteration
        return value

    def _within(self, left_s: float) -> Any:
        began = time.monotonic()
        try:
            return drive(_done(Invoke(self._steps.next, timeout_s=left_s)), self._desk)
        except DeadlineExceeded:
            if self._steps.busy:
                raise self._pace.too_late(left_s) from None
            raise
        finally:
            self._pace.took(time.monotonic() - began)

    def close(self) -> None:
        """Close the source; one that takes longer than it may is left to close by itself."""
        left_s = self._pace.left_s()
        if left_s is None:
            self._steps.close()
            return
        finished = threading.Event()

        def closing() -> None:
            try:
                self._steps.close()
            finally:
                finished.set()

        try:
            drive(_done(Invoke(closing, timeout_s=max(left_s, CLOSING_S))), self._desk)
        except DeadlineExceeded:
            if finished.is_set():
                raise


def _done(need: Invoke) -> Flow[Any]:
    return (yield need)


Close = Callable[[], Awaitable[None]]
"""Closes a source."""


class InTask:
    """An async source whose items are made in a task of its own. It is one task for all of them,
    and closes the source
    too: code between two items may hold what belongs to its task, like a time limit of its own.

    Where nobody waits any more for the item that it is making, it closes the source when that has
    come.
    """

    def __init__(
        self, source: AsyncIterator[Any], close: Close, ended: Ended | None = None
    ) -> None:
        self._source, self._close, self._ended = source, close, ended
        self._orders: asyncio.Queue[asyncio.Future[Any] | None] = asyncio.Queue()
        self._task: asyncio.Task[None] | None = None
        self._left = False

    async def next(self, seconds: float) -> Any:
        """Make an item; `END` where there is none, `OutOfTime` where it does not come in that
        time."""
        loop = asyncio.get_running_loop()
        if self._task is None:
            self._task = loop.create_task(self._serve())
        answer = loop.create_future()
        self._orders.put_nowait(answer)
        try:
            return await answered(answer, self._task, seconds, self._ended)
        finally:
            self._left = not answer.done()

    async def aclose(self) -> None:
        """Close the source; one that takes longer than it may is left to close by itself."""
        if self._task is None:
            await self._close()
        elif not self._left:
            self._orders.put_nowait(None)
            try:
                await answered(self._task, self._task, CLOSING_S, self._ended)
            except OutOfTime as late:
                self._left = late.goes_on

    async def _serve(self) -> None:
        try:
            while (answer := await self._orders.get()) is not None:
                try:
                    value = await self._one()
                except BaseException as error:
                    if self._left:
                        raise
                    if isinstance(error, asyncio.CancelledError):
                        _uncancelled()
                        answer.cancel()
                    elif isinstance(error, Exception):
                        answer.set_exception(error)
                    else:
                        answer.cancel()
                        raise
                else:
                    if self._left:
                        return
                    answer.set_result(value)
        finally:
            await self._close()

    async def _one(self) -> Any:
        return await anext(self._source, END)


def _uncancelled() -> None:
    """The task has heard that an item was cancelled, and goes on to close the source."""
    task = asyncio.current_task()
    if task is not None:
        task.uncancel()


async def next_in_time(source: Any, pace: Pace) -> Any:
    """The next item of an async source, cancelled where it does not come in time; `END` where there
    is none."""
    left_s = pace.left_s()
    limit = asyncio.timeout(left_s)
    began = time.monotonic()
    try:
        if type(source) is InTask:
            return await source.next(FAR_S if left_s is None else left_s)
        async with limit:
            return await anext(source, END)
    except OutOfTime as late:
        how = ": it was cancelled, and is still running" if late.goes_on else ""
        raise pace.too_late(left_s, how) from None
    except TimeoutError:
        if limit.expired():
            raise pace.too_late(left_s) from None
        raise
    finally:
        pace.took(time.monotonic() - began)


def in_time(
    source: Any, close: Callable[[], Awaitable[None]], pace: Pace, ended: Ended | None = None
) -> Any:
    """An async source as `next_in_time` takes it: where its time is bounded, in a task that can be
    left."""
    if pace.left_s() is None:
        return source
    return InTask(source, close, ended)
