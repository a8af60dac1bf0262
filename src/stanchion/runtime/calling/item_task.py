"""Async items in time: one task makes them all, so that whoever waits for one is kept to his
time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from stanchion.runtime.calling.pace import CLOSING_S, END, FAR_S, Pace
from stanchion.runtime.driving.bounded import OutOfTime, answered
from stanchion.runtime.driving.left_work import Ended

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
