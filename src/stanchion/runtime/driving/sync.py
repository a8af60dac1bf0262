"""The sync driver: does what a flow asks for in the calling thread. `on_loop` has the one for event
loops."""

from __future__ import annotations

import contextvars
import os
import queue
import threading
import time
from collections.abc import Callable, Mapping
from types import CoroutineType
from typing import Any

from stanchion.kernel.compare_and_set import ChangedRecord, Together, change, change_together
from stanchion.kernel.lookups import Ask
from stanchion.kernel.state import Batch, Moved
from stanchion.locks import Lock
from stanchion.runtime.asides import aside
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
from stanchion.runtime.driving.turns import PATIENCE_S, Courtesy
from stanchion.runtime.values.anatomy import awaits


def change_now(
    shield: Any, what: str, tenant: str, key: str, new: Callable[[Any, int], Any]
) -> ChangedRecord:
    """Write a record, for callers outside of a flow, as `compare_and_set.change` does; `what`
    begins the batch's id."""
    return drive(change(shield.records, new_batch(what), tenant, key, new), shield)


def change_together_now(
    shield: Any,
    what: str,
    tenant: str,
    keys: tuple[str, ...],
    new: Callable[[int], Mapping[str, Any]],
) -> Together:
    """Write several records of a tenant at once, or none, as `change_together` does."""
    flow = change_together(shield.records, new_batch(what), tenant, lambda: keys, new)
    return drive(flow, shield)


def new_batch(what: str) -> str:
    """An id that no other batch has."""
    return f"{what}-{os.urandom(8).hex()}"


def drive(flow: Flow[T], world: World) -> T:
    """Run a flow to its end in this thread."""
    try:
        return _driven(flow, world)
    except BaseException as error:
        if not rests(flow):
            raise
        return drive(told(flow, error), world)


def _driven(flow: Flow[T], world: World) -> T:
    """The same, for somebody who tells the flow where this is cut off. That stands around the whole
    function: what strikes where a `try` begins passes the one around it."""
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
                elif type(need) is Moved:
                    line = Courtesy(world.turns) if line is None else line
                    place = line.join(need)
                    given = None
                    if place is not None:
                        place.wait(PATIENCE_S)
                else:
                    given = _met(need, world)
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


def _met(need: Any, world: World) -> Any:
    """What is given for a need that neither writes state nor waits in line for it."""
    if type(need) is Invoke:
        return _invoke(need)
    if type(need) is Ask:
        return world.answering.answer(need)
    if type(need) is TimePause:
        return time.sleep(need.seconds)
    if type(need) is TurnWait:
        return need.place.wait(need.patience_s)
    if type(need) is Aside:
        return None
    raise unknown(need)


def _invoke(need: Invoke) -> Any:
    """Call a sync function. With a time limit it works in a thread of its own, so that the caller
    is kept to it."""
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
        raise TypeError(
            "the function is async: write `await run.acall(...)` for a tool, `await "
            "run.amodel(...)` for a model"
        )
    return value


Ended = Callable[[str], None]
"""Is told how work has ended that was left."""


class InThread:
    """A function as a thread calls it, which may be left meanwhile."""

    def __init__(self, work: Callable[[], Any], ended: Ended | None) -> None:
        self._work, self._ended = work, ended
        self._lock = Lock()
        self._begun = self._done = self._left = False

    def __call__(self) -> Any:
        """Call it, in the thread."""
        how = "it has ended"
        with self._lock:
            self._begun = True
        try:
            value = self._work()
            how = "it returned"
            return value
        except BaseException as error:
            how = raised(error)
            raise
        finally:
            with self._lock:
                self._done = True
                left = self._left
            if left:
                tell_left(self._ended, how)

    def leave(self) -> bool:
        """Wait for it no longer; says whether it is at work still."""
        with self._lock:
            self._left = True
            return self._begun and not self._done


def raised(error: BaseException) -> str:
    """How work ended that raised; the words of an error may hold secrets."""
    return f"it raised `{type(error).__name__}`"


def tell_left(ended: Ended | None, how: str) -> None:
    """Tell of the end of work that was left; nobody is there who could be given an error."""
    if ended is not None:
        try:
            ended(how)
        except Exception as error:  # noqa: BLE001 - the trail may be lost, or closed
            aside("there is no record of the end of a call that was left running", error)
