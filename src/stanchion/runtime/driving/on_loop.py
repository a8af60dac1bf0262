"""The async driver: does what a flow asks for on the running event loop."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, Final, NamedTuple, Protocol

from stanchion.kernel.lookups import Ask
from stanchion.kernel.state import Batch, Moved, StoreLost
from stanchion.runtime.driving.flow import (
    Aside,
    Flow,
    Invoke,
    T,
    TimePause,
    TurnWait,
    World,
    as_lost,
    rests,
    told,
    too_late,
    unknown,
)
from stanchion.runtime.driving.sync import Ended, InThread, raised, tell_left
from stanchion.runtime.driving.turns import PATIENCE_S, Courtesy
from stanchion.runtime.values.anatomy import awaits

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


class PlaceInLine(Protocol):
    """The place of a flow among those who begin something: its own until the store has answered for
    the first time."""

    @property
    def late(self) -> StoreLost | None: ...
    def leave(self) -> None: ...


async def adrive(flow: Flow[T], world: World, entry: PlaceInLine | None = None) -> T:
    """Run a flow to its end on the running event loop."""
    line: Courtesy | None = None
    given: Any = None
    away = False
    try:
        need = flow.send(None)
        while True:
            try:
                if type(need) is Batch:
                    if entry is not None and entry.late is not None:
                        raise entry.late
                    given = await world.store.acarry(need)
                    if entry is not None:
                        entry.leave()
                        entry = None
                    if line is not None and not given.stale:
                        line.leave()
                elif type(need) is Moved:
                    line = Courtesy(world.turns) if line is None else line
                    place = line.join(need)
                    given = None
                    if place is not None:
                        await place.await_turn(PATIENCE_S)
                elif type(need) is Aside:
                    away, given = need.away, None
                else:
                    if entry is not None:
                        # Whoever answers may take long, and the store has nothing to do with it
                        entry.leave()
                    given = await _met(need, world)
                    if type(given) is StoppedIteration:
                        raise given.error
            except BaseException as error:  # noqa: BLE001 - the flow decides what every failure means
                away = False
                need = flow.throw(as_lost(need, error))
            else:
                need = await _sent(flow, given) if away else flow.send(given)
    except StopIteration as done:
        result: T = done.value
        return result
    except BaseException as error:
        if not rests(flow):
            raise
        return await adrive(told(flow, error), world)
    finally:
        if line is not None:
            line.leave()


async def _sent(flow: Flow[Any], given: Any) -> Any:
    """What a flow asks for next, where it takes long to get there: it goes on in a thread. Whoever
    is cancelled meanwhile waits for it, because nobody may tell a flow anything that is running."""

    def send() -> Any:
        try:
            return flow.send(given)
        except StopIteration as done:
            return StoppedIteration(done)

    working = asyncio.ensure_future(asyncio.to_thread(send))
    try:
        need = await asyncio.shield(working)
    except asyncio.CancelledError:
        while not working.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait({working})
        raise
    if type(need) is StoppedIteration:
        raise need.error
    return need


async def _met(need: Any, world: World) -> Any:
    """What is given for a need that neither writes state nor waits in line for it."""
    if type(need) is Invoke:
        return await _ainvoke(need)
    if type(need) is Ask:
        return await world.answering.aanswer(need)
    if type(need) is TimePause:
        return await asyncio.sleep(need.seconds)
    if type(need) is TurnWait:
        return await need.place.await_turn(need.patience_s)
    raise unknown(need)


async def _ainvoke(need: Invoke) -> Any:
    """Await an async function, cancelled at its limit; a sync one works in a thread and never holds
    up the loop."""
    if need.leave is not None:
        need.leave.check()
    if need.timeout_s is None:
        return await _work(need)
    inner = None if is_async(need.fn) else InThread(lambda: _call(need), need.ended)
    try:
        return await within(_work(need, inner), need.timeout_s, need.ended)
    except OutOfTime as late:
        if late.goes_on:
            raise too_late(need, ": it was cancelled, and is still running") from None
        if inner is not None and inner.leave():
            raise too_late(need, ", and is still running") from None
        raise too_late(need) from None


async def _work(need: Invoke, inner: InThread | None = None) -> Any:
    if is_async(need.fn):
        value = await need.fn(*need.args, **need.kwargs)
    else:
        value = await (
            asyncio.to_thread(_call, need) if inner is None else asyncio.to_thread(inner)
        )
    return await value if awaits(value) else value


class StoppedIteration(NamedTuple):
    """What a sync function raised that no future and no coroutine can: the flow gets it, its caller
    a `RuntimeError` whose cause it is, as Python has it."""

    error: StopIteration


def _call(need: Invoke) -> Any:
    try:
        if need.leave is not None:
            need.leave.check()
        return need.fn(*need.args, **need.kwargs)
    except StopIteration as error:
        return StoppedIteration(error)


def is_async(fn: Callable[..., Any]) -> bool:
    """Whether what a function gives has to be awaited."""
    return inspect.iscoroutinefunction(fn) or inspect.iscoroutinefunction(
        getattr(fn, "__call__", None)  # noqa: B004
    )
