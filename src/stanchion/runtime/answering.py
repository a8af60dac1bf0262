"""Answering lookups: a user's code judges in a thread or a task, within its deadline."""

from __future__ import annotations

import contextvars
import queue
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from stanchion.kernel.lookups import Answer, Answered, Ask, Expired, Failed, Lookup, Recall

if TYPE_CHECKING:
    from asyncio import Future

Answerer = Callable[[Any], Any]
Find = Callable[[str, str], Answerer | None]
"""Gives the code that answers for a guard of a policy, by the policy's hash and the guard's id."""
Recalls = Callable[[Recall], Any]
"""Answers from the run's own memory."""
OnLate = Callable[[str, Lookup, Any], None]
"""Called with the policy's hash, a lookup and the value of its answer when that comes after the deadline."""


class Answering:
    """Asks the code that is known for each guard; what it does not know fails closed."""

    def __init__(self, find: Find, on_late: OnLate, recalls: Recalls) -> None:
        self._find = find
        self._on_late = on_late
        self._recalls = recalls

    def answer(self, ask: Ask) -> tuple[Answer, ...]:
        """All answers, asked side by side, each an answer or its expiry."""
        if len(ask.lookups) == 1 and type(ask.lookups[0].payload) is Recall:
            return (self._recalled(ask.lookups[0].payload),)
        begun = time.monotonic()
        asked = [(lookup, self._ask_in_thread(ask.policy, lookup)) for lookup in ask.lookups]
        return tuple(slot.take(begun + lookup.deadline_ms / 1000) for lookup, slot in asked)

    async def aanswer(self, ask: Ask) -> tuple[Answer, ...]:
        """The same on an event loop."""
        import asyncio

        return tuple(await asyncio.gather(*[self._ask_in_loop(ask.policy, lookup) for lookup in ask.lookups]))

    def _recalled(self, question: Recall) -> Answer:
        try:
            return Answered(self._recalls(question))
        except Exception as error:  # noqa: BLE001 - a memory that fails answers nothing, and the guard fails closed
            return Failed(type(error).__name__)

    def _ask_in_thread(self, policy: str, lookup: Lookup) -> _Slot:
        slot = _Slot(policy, lookup, self._on_late)
        if type(lookup.payload) is Recall:
            slot.give(self._recalled(lookup.payload))
            return slot
        answerer = self._find(policy, lookup.guard)
        if answerer is None:
            slot.give(Failed("NoAnswerer"))
            return slot
        context = contextvars.copy_context()

        def ask() -> None:
            try:
                value = context.run(answerer, lookup.payload)
                if hasattr(type(value), "__await__"):
                    import asyncio

                    value = asyncio.run(_await(value))
                slot.give(Answered(value))
            except BaseException as error:  # noqa: BLE001 - whatever a user's code raises is its answer
                slot.give(Failed(type(error).__name__))

        threading.Thread(target=ask, name=f"stanchion-{lookup.guard}", daemon=True).start()
        return slot

    async def _ask_in_loop(self, policy: str, lookup: Lookup) -> Answer:
        if type(lookup.payload) is Recall:
            return self._recalled(lookup.payload)
        import asyncio
        import inspect

        answerer = self._find(policy, lookup.guard)
        if answerer is None:
            return Failed("NoAnswerer")
        if inspect.iscoroutinefunction(answerer):
            task = asyncio.ensure_future(answerer(lookup.payload))
            done, _ = await asyncio.wait({task}, timeout=lookup.deadline_ms / 1000)
            if done:
                return _answer_of(task)
            task.add_done_callback(lambda late: self._late(policy, lookup, _answer_of(late)))
            return Expired(lookup.deadline_ms)
        slot = self._ask_in_thread(policy, lookup)
        deadline = time.monotonic() + lookup.deadline_ms / 1000
        return await asyncio.to_thread(slot.take, deadline)

    def _late(self, policy: str, lookup: Lookup, answer: Answer) -> None:
        if isinstance(answer, Answered):
            self._on_late(policy, lookup, answer.value)


class _Slot:
    """Where an answer is put by one thread and taken by another, at most until the deadline."""

    def __init__(self, policy: str, lookup: Lookup, on_late: OnLate) -> None:
        self._policy = policy
        self._lookup = lookup
        self._on_late = on_late
        self._queue: queue.SimpleQueue[Answer] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._expired = False

    def give(self, answer: Answer) -> None:
        with self._lock:
            if not self._expired:
                self._queue.put(answer)
                return
        if isinstance(answer, Answered):
            self._on_late(self._policy, self._lookup, answer.value)

    def take(self, deadline: float) -> Answer:
        try:
            return self._queue.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            pass
        with self._lock:
            if not self._queue.empty():
                return self._queue.get()
            self._expired = True
        return Expired(self._lookup.deadline_ms)


def _answer_of(task: Future[Any]) -> Answer:
    if task.cancelled():
        return Failed("CancelledError")
    error = task.exception()
    return Answered(task.result()) if error is None else Failed(type(error).__name__)


async def _await(value: Any) -> Any:
    return await value
