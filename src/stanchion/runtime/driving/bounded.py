"""Bounded work: async code is waited for until its time is up, also where it does not let itself be
cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, Final

from stanchion.runtime.driving.sync import Ended, raised, tell_left

GRACE_S: Final = 1.0
"""How long code that is cancelled at its limit may take to end; then it is left to go on by
itself."""


class OutOfTime(Exception):
    """The time is up; `goes_on` says that the code was cancelled and has not ended."""

    def __init__(self, goes_on: bool) -> None:
        super().__init__(goes_on)
        self.goes_on = goes_on


async def within(work: Coroutine[Any, Any, Any], seconds: float, ended: Ended | None) -> Any:
    """What a coroutine gives, or raises; `OutOfTime` where it does not in that time. It works in a
    task of its own: nobody can leave code that works in his own task. Who cancels the caller
    cancels it."""
    task = asyncio.get_running_loop().create_task(work)
    return await answered(task, task, seconds, ended)


async def answered(
    answer: asyncio.Future[Any], task: asyncio.Task[Any], seconds: float, ended: Ended | None
) -> Any:
    """The same for an answer that a task has yet to give."""
    cancelled, late = await _waited(answer, task, seconds), False
    if not answer.done():
        late = task.cancel()
        cancelled = await _waited(answer, task, GRACE_S) or cancelled
    if not answer.done():
        leave(task, ended)
    if cancelled:
        # Whatever came of it just then: nobody is kept from being cancelled.
        error = answer.exception() if answer.done() and not answer.cancelled() else None
        raise asyncio.CancelledError from error
    if not answer.done() or (
        late and (answer.cancelled() or isinstance(answer.exception(), TimeoutError))
    ):
        raise OutOfTime(goes_on=not answer.done())
    return answer.result()


def leave(task: asyncio.Task[Any], ended: Ended | None) -> None:
    """Let a task go on that nobody waits for. It is kept until it ends, and what it raises then
    troubles nobody."""
    _at_large.add(task)

    def over(task: asyncio.Task[Any]) -> None:
        _at_large.discard(task)
        if task.cancelled():
            how = "it was cancelled"
        else:
            error = task.exception()
            how = "it returned" if error is None else raised(error)
        tell_left(ended, how)

    task.add_done_callback(over)


async def _waited(answer: asyncio.Future[Any], task: asyncio.Task[Any], seconds: float) -> bool:
    """Wait for an answer so long; says whether the caller was cancelled meanwhile. The task is
    cancelled then, and waited for no longer than code may take to end that is."""
    loop = asyncio.get_running_loop()
    until, cancelled = loop.time() + seconds, False
    while True:
        try:
            await asyncio.wait((answer,), timeout=max(0.0, until - loop.time()))
            return cancelled
        except asyncio.CancelledError:
            cancelled, until = True, min(until, loop.time() + GRACE_S)
            task.cancel()


_at_large: Final[set[asyncio.Task[Any]]] = set()
"""Tasks that were left: an event loop keeps no task that nobody else does."""
