"""A question to somebody's code: answered in a thread of the pool, waited for until its deadline
and no longer."""

from __future__ import annotations

import contextvars
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from enum import Enum
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Final, Protocol
from weakref import ReferenceType, finalize, ref

from stanchion.kernel.lookups import Answer, Answered, Failed
from stanchion.locks import Lock

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop, Future


class Listener(Enum):
    """Who listens for an answer: a call that waits, nobody before the run's next event, nobody any
    more."""

    WAITS = "waits"
    LATER = "later"
    NOBODY = "nobody"


class QuestionAccount(Protocol):
    """Keeps account of a question to a deep rule."""

    def checked(self, value: Any, /) -> Any:
        """An answer as it is recorded; raises where it is none."""

    def expired(self) -> None:
        """Somebody has waited for it in vain."""

    def answered(self, answer: Answer | None, /) -> None:
        """It is over: with an answer, or without one where it was never asked."""


class LaneQuestion:
    """One question. `keeps` says that it is asked even where nobody waits for it any more, for the
    run's next event; `stop` is an event that code is given which wants to know when nobody waits;
    `heard` takes a late answer's value, and `ended` is told when it is over. A deep rule's is kept
    `account` of. Nobody ever waits for one that is asked `beside` a call: its deadline is the end
    of its time box."""

    __slots__ = (
        "_account", "_answer", "_begun", "_call", "_cancel", "_context", "_done", "_ended",
        "_heard", "_listener", "_lock", "_payload", "_stop", "_wake", "beside", "deadline", "keeps",
    )  # fmt: skip

    def __init__(
        self,
        call: Callable[..., Any],
        payload: Any,
        deadline: float,
        keeps: bool,
        stop: threading.Event | None,
        heard: Callable[[Any], None],
        ended: Callable[[LaneQuestion], None],
        account: QuestionAccount | None = None,
        beside: bool = False,
    ) -> None:
        self._call, self._payload, self._stop = call, payload, stop
        self.deadline, self.keeps = deadline, keeps
        self._heard, self._ended, self._account = heard, ended, account
        self.beside = beside
        self._context = contextvars.copy_context()
        self._lock = Lock()
        self._done: threading.Lock | None = None
        if not beside:
            self._done = threading.Lock()
            self._done.acquire()
        self._wake: Callable[[], object] | None = None
        self._answer: Answer | None = None
        self._cancel: Callable[[], object] | None = None
        self._listener = Listener.LATER if beside else Listener.WAITS
        self._begun = False

    @property
    def stoppable(self) -> bool:
        """Whether the code at work on it can be cancelled."""
        return self._cancel is not None

    def overdue(self, now: float) -> bool:
        """Whether its deadline is over."""
        return now >= self.deadline

    def work(self) -> None:
        """Ask the code, in the thread that calls this, unless nobody would listen."""
        with self._lock:
            if self._listener is Listener.NOBODY or (
                self._listener is Listener.LATER and not self.keeps
            ):
                return
            self._begun = True
        answer: Answer
        try:
            value = self._context.run(self._called)
            answer = Answered(value if self._account is None else self._account.checked(value))
        except BaseException as error:  # noqa: BLE001 - whatever a user's code raises is its answer
            answer = Failed(type(error).__name__)
        self._give(answer)

    def wait(self) -> Answer | None:
        """The answer, waited for in this thread; `None` where the deadline comes first."""
        try:
            if self._done is not None:
                self._done.acquire(timeout=max(0.0, self.deadline - time.monotonic()))
        except BaseException:
            self.abandon()
            raise
        return self.expire()

    async def await_answer(self) -> Answer | None:
        """The same on the running event loop."""
        import asyncio

        loop = asyncio.get_running_loop()
        woken = loop.create_future()
        with self._lock:
            if self._answer is not None:
                return self._answer
            self._wake = lambda: _soon(loop, lambda: _settle(woken))
        limit = loop.call_later(max(0.0, self.deadline - time.monotonic()), _settle, woken)
        try:
            await woken
        except BaseException:
            self.abandon()
            raise
        finally:
            limit.cancel()
        return self.expire()

    def expire(self) -> Answer | None:
        """Wait no longer; gives the answer where it has come. One that comes now is for the run's
        next event."""
        with self._lock:
            if self._answer is not None:
                return self._answer
            late = self._listener is Listener.WAITS
            if late:
                self._listener = Listener.LATER
            over = not self._begun and not self.keeps
        if late and self._account is not None:
            self._account.expired()
        if self._stop is not None and self._account is None:
            self._stop.set()
        if over:
            self._leave(None)
        return None

    def abandon(self) -> None:
        """Nobody wants the answer any more: what has not begun never does, what can be stopped
        is."""
        with self._lock:
            self._listener = Listener.NOBODY
            cancel, begun, wake = self._cancel, self._begun, self._wake
        if self._stop is not None:
            self._stop.set()
        if cancel is not None:
            cancel()
        if not begun:
            self._leave(None)
        self._rouse(wake)

    def _leave(self, answer: Answer | None) -> None:
        """Tell everybody that it is over."""
        self._ended(self)
        if self._account is not None:
            self._account.answered(answer)

    def _rouse(self, wake: Callable[[], object] | None) -> None:
        """Have whoever waits go on: a loop by its own means, a thread by the lock that it waits
        for."""
        if wake is not None:
            wake()
        elif self._done is not None:
            with suppress(RuntimeError):  # who waits was let go before
                self._done.release()

    def _called(self) -> Any:
        value = (
            self._call(self._payload)
            if self._stop is None
            else self._call(self._payload, stop=self._stop)
        )
        if not hasattr(type(value), "__await__"):
            return value
        import asyncio

        return asyncio.run(self._awaited(value))

    async def _awaited(self, value: Any) -> Any:
        """Await what the code gave, so that it can be cancelled from other threads."""
        import asyncio

        task, loop = asyncio.ensure_future(value), asyncio.get_running_loop()
        with self._lock:
            unwanted = self._listener is Listener.NOBODY
            self._cancel = lambda: _soon(loop, task.cancel)
        try:
            if unwanted:
                task.cancel()
            return await task
        finally:
            with self._lock:
                self._cancel = None

    def _give(self, answer: Answer) -> None:
        with self._lock:
            self._answer = answer
            listener, wake = self._listener, self._wake
        try:
            if listener is Listener.LATER and isinstance(answer, Answered):
                self._heard(answer.value)
        finally:
            self._leave(answer)
            if listener is Listener.WAITS:
                self._rouse(wake)


class Lingering:
    """A task whose answer nobody waits for any more, on its own loop."""

    __slots__ = ("_account", "_loop", "_stop", "task")

    def __init__(
        self,
        task: Future[Any],
        loop: AbstractEventLoop,
        account: QuestionAccount | None = None,
        stop: threading.Event | None = None,
    ) -> None:
        self.task, self._loop, self._account, self._stop = task, loop, account, stop

    def expired(self) -> None:
        """Somebody has waited for it in vain."""
        if self._account is not None:
            self._account.expired()

    def dropped(self) -> None:
        """Nobody wants its answer any more."""
        if self._account is not None:
            self._account.answered(None)

    def over(self, answer: Answer) -> Answer:
        """The answer as it counts, and told to whoever keeps account of it."""
        if self._account is None:
            return answer
        if isinstance(answer, Answered):
            try:
                answer = Answered(self._account.checked(answer.value))
            except Exception as error:  # noqa: BLE001 - whatever is wrong with an answer, it is none
                answer = Failed(type(error).__name__)
        self._account.answered(None if self.task.cancelled() else answer)
        return answer

    def abandon(self) -> None:
        """Cancel it, from whichever thread."""
        if self._stop is not None:
            self._stop.set()
        _soon(self._loop, self.task.cancel)


def _soon(loop: AbstractEventLoop, do: Callable[[], object]) -> None:
    """Have a loop do something, from any thread; one that is closed has nothing left to do."""
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(do)


def _settle(future: Future[None]) -> None:
    if not future.done():
        future.set_result(None)


FOREVER: Final = float("inf")
LONGEST_S: Final = 3_600.0
"""After so long it looks anew, however far away the next time is."""


class TimeBoxes:
    """Calls `sweep` at the time that it gave when it was last called; `due` says when that is."""

    def __init__(
        self, due: Callable[[], float], sweep: Callable[[], None], clock: Callable[[], float]
    ) -> None:
        self._due, self._sweep, self._clock = due, sweep, clock
        self._closed = False
        self._bells: list[SimpleQueue[None]] = []
        self._begin()
        finalize(self, _ring, self._bells).atexit = False

    def _begin(self) -> None:
        self._lock = Lock()
        # A queue, because it can be rung wherever garbage is collected, even by the thread that
        # waits for it.
        self._sooner: SimpleQueue[None] = SimpleQueue()
        self._bells[:] = [self._sooner]
        self._next = FOREVER
        self._at_work = False

    def by(self, due: float) -> None:
        """See that somebody looks by then. Who calls this has said before what `due` is to give."""
        with self._lock:
            if self._closed:
                return
            if self._at_work:
                if due < self._next:
                    self._sooner.put(None)
                return
            self._at_work = self._started()

    def close(self) -> None:
        """Look no more."""
        with self._lock:
            self._closed = True
            self._sooner.put(None)

    def forked(self) -> None:
        """In a forked process: the thread is the parent's."""
        self._begin()

    def _started(self) -> bool:
        try:
            given = (ref(self), self._sooner)
            threading.Thread(
                target=_work, args=given, name="stanchion-time-boxes", daemon=True
            ).start()
        except RuntimeError:  # the system has no more threads to give: the next to ask looks
            return False
        return True

    def look(self, waited: bool) -> float | None:
        """Sweep where the time has come without a bell, and say how long nothing is due then;
        `None` where nothing is any more, and the thread ends."""
        if waited:
            self._sweep()
        with self._lock:
            while not self._sooner.empty():
                self._sooner.get_nowait()
            self._next = FOREVER if self._closed else self._due()
            if self._next == FOREVER:
                self._at_work = False
                return None
            return self._next - self._clock()


def _work(whose: ReferenceType[TimeBoxes], sooner: SimpleQueue[None]) -> None:
    """What the thread does. It keeps nobody alive whose questions they are, and ends with them."""
    waited = False
    while (wait_s := _looked(whose, waited)) is not None:
        waited = wait_s <= 0 or not _rung(sooner, min(wait_s, LONGEST_S))


def _looked(whose: ReferenceType[TimeBoxes], waited: bool) -> float | None:
    boxes = whose()
    return None if boxes is None else boxes.look(waited)


def _rung(sooner: SimpleQueue[None], wait_s: float) -> bool:
    try:
        sooner.get(timeout=wait_s)
    except Empty:
        return False
    return True


def _ring(bells: list[SimpleQueue[None]]) -> None:
    for bell in bells:
        bell.put(None)
