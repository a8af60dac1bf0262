"""The sync driver: does what a flow asks for in the calling thread. `loop` has the one for event loops."""

from __future__ import annotations

import contextvars
import queue
import threading
import time
from collections.abc import Generator
from types import CoroutineType
from typing import Any, Protocol, TypeVar

from stanchion.kernel.lookups import Ask
from stanchion.kernel.state import Batch, Moved, StoreLost
from stanchion.runtime.effects import Invoke, Pause, Turn
from stanchion.runtime.errors import DeadlineExceeded
from stanchion.runtime.leaving import InThread
from stanchion.runtime.turns import PATIENCE_S, Courtesy, Turns
from stanchion.runtime.values.anatomy import awaits

T = TypeVar("T")
Flow = Generator[Any, Any, T]
"""A flow yields needs (`Batch`, `Ask`, `Invoke`, `Pause`, `Turn`) and returns its result."""


class World(Protocol):
    """What a driver reaches: the store, whatever answers lookups, and the lines of those who race."""

    @property
    def store(self) -> Any: ...

    @property
    def answering(self) -> Any: ...

    @property
    def turns(self) -> Turns: ...


def drive(flow: Flow[T], world: World) -> T:
    """Run a flow to its end in this thread."""
    try:
        return _driven(flow, world)
    except BaseException as error:
        if not rests(flow):
            raise
        return drive(told(flow, error), world)


def _driven(flow: Flow[T], world: World) -> T:
    """The same, for somebody who tells the flow where this is cut off. That stands around the whole function: what
    strikes where a `try` begins passes the one around it."""
    line: Courtesy | None = None
    stopped: StopIteration | None = None
    try:
        need = flow.send(None)
        while True:
            try:
                if type(need) is Batch:
                    given: Any = world.store.carry(need)
                    if line is not None and not given.stale:
                        line.leave()
                elif type(need) is Invoke:
                    given = _invoke(need)
                elif type(need) is Ask:
                    given = world.answering.answer(need)
                elif type(need) is Pause:
                    given = None
                    time.sleep(need.seconds)
                elif type(need) is Turn:
                    given = need.place.wait(need.patience_s)
                elif type(need) is Moved:
                    line = Courtesy(world.turns) if line is None else line
                    place = line.join(need)
                    given = None
                    if place is not None:
                        place.wait(PATIENCE_S)
                else:
                    raise TypeError(f"a flow asked for `{type(need).__name__}`, which no driver does")
            except BaseException as error:  # noqa: BLE001 - the flow decides what every failure means
                stopped = error if isinstance(error, StopIteration) else stopped
                need = flow.throw(as_lost(need, error))
            else:
                need = flow.send(given)
    except StopIteration as done:
        result: T = done.value
        return result
    except RuntimeError as error:
        # What a generator raises in place of a `StopIteration`, which it cannot let out.
        if stopped is None or error.__cause__ is not stopped:
            raise
    finally:
        if line is not None:
            line.leave()
    assert stopped is not None
    try:
        raise stopped
    finally:
        stopped = None


def as_lost(need: Any, error: BaseException) -> BaseException:
    """What a flow gets where a need was not met. A store may raise anything: to whoever asked it, it is lost."""
    if type(need) is not Batch or isinstance(error, StoreLost) or not isinstance(error, Exception):
        return error
    lost = StoreLost(f"it failed with `{type(error).__name__}`: {error}")
    lost.__cause__ = error
    return lost


def rests(flow: Any) -> bool:
    """Whether a flow waits for its driver still: what its driver raises then is not what it raised."""
    return getattr(flow, "gi_frame", None) is not None


def told(flow: Flow[T], error: BaseException) -> Flow[T]:
    """The rest of a flow whose driver was cut off: it is told why, as of any other failure, and decides what it means.
    One that was dropped instead would leave what it has reserved, and no outcome."""
    try:
        need = flow.throw(error)
        while True:
            try:
                given = yield need
            except BaseException as trouble:  # noqa: BLE001 - the flow decides what every failure means
                need = flow.throw(trouble)
            else:
                need = flow.send(given)
    except StopIteration as done:
        result: T = done.value
        return result


def _invoke(need: Invoke) -> Any:
    """Call a sync function. With a time limit it works in a thread of its own, so that the caller is kept to it."""
    if need.timeout_s is None:
        if need.leave is not None:
            need.leave.check()
        return _not_awaitable(need.fn(*need.args, **need.kwargs))
    answer: queue.SimpleQueue[tuple[bool, Any]] = queue.SimpleQueue()
    context = contextvars.copy_context()

    def called() -> Any:
        if need.leave is not None:
            need.leave.check()
        return context.run(need.fn, *need.args, **need.kwargs)

    inner = InThread(called, need.ended)

    def work() -> None:
        try:
            answer.put((True, inner()))
        except BaseException as error:  # noqa: BLE001 - handed to the caller as it is
            answer.put((False, error))

    threading.Thread(target=work, name="stanchion-tool", daemon=True).start()
    try:
        done, value = answer.get(timeout=max(0.0, need.timeout_s))
    except queue.Empty:
        if inner.leave():
            raise too_late(need, ", and is still running") from None
        done, value = answer.get()  # it has ended at the last moment
    if not done:
        raise value
    return _not_awaitable(value)


def _not_awaitable(value: Any) -> Any:
    if awaits(value):
        if type(value) is CoroutineType:
            value.close()
        raise TypeError("the tool is async: call it with `await run.acall(...)`")
    return value


def too_late(need: Invoke, how: str = "") -> DeadlineExceeded:
    """The error for a function that did not finish in time; `how` says what became of it."""
    name = getattr(need.fn, "__name__", type(need.fn).__name__)
    return DeadlineExceeded(f"`{name}` did not finish within {need.timeout_s:g} s{how}")
