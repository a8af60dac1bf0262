"""The pool: threads in which the code behind guards answers, a bounded number for each guard.

Each guard has a lane of its own, so that one whose code hangs takes no thread from the others.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakSet, finalize, ref

from stanchion.locks import Lock
from stanchion.runtime.answers.question import LaneQuestion, Lingering

if TYPE_CHECKING:
    from stanchion.runtime.answers.deep import DeepRule, DeepRules
    from stanchion.runtime.answers.unpaid import Unpaid

SIZE: Final = 32
"""How many questions of one guard are worked on at a time."""
ROOM: Final = 8
"""How many wait for each of these."""
IDLE_S: Final = 10.0
"""After so long without work a thread ends."""
STOP: Final = "stop"
CONTEXT: Final = "context"
OFFERED: Final = frozenset({STOP, CONTEXT})
"""What code is given beside its question, where it takes it by that name."""
MOST_LANES: Final = 1_024
"""How many guards are remembered; then those without work are forgotten."""


class LanePool:
    """The lanes of a shield's guards. It starts threads when there is work, and they end when there
    is none, or when nobody has the pool any more."""

    def __init__(
        self, size: int = SIZE, rules: Callable[[], DeepRules | None] = lambda: None
    ) -> None:
        if isinstance(size, bool) or not isinstance(size, int) or not 0 < size <= 10_000:
            raise ValueError(f"answer_threads is `{size}`: give a whole number from 1 to 10,000")
        self._size = size
        self._rules = rules
        self._closed = False
        self.epoch = 0
        self._afterwards: Afterwards | None = None
        self._unpaid: Unpaid | None = None
        self._lanes: dict[str, Lane] = {}
        self._begin()
        _pools.add(self)
        finalize(self, _forsake, self._lanes).atexit = False

    def _begin(self) -> None:
        self._lock = Lock()
        self._lanes.clear()

    @property
    def afterwards(self) -> Afterwards:
        """What is yet to be judged, and nobody waits for."""
        with self._lock:
            if self._afterwards is None:
                self._afterwards = Afterwards()
            return self._afterwards

    @property
    def unpaid(self) -> Unpaid:
        """The budgets that have refused something lately."""
        from stanchion.runtime.answers.unpaid import Unpaid

        with self._lock:
            if self._unpaid is None:
                self._unpaid = Unpaid()
            return self._unpaid

    def lane(self, guard: str) -> Lane:
        """The lane of a guard, by its id."""
        lane = self._lanes.get(guard)
        if lane is not None:
            return lane
        with self._lock:
            if len(self._lanes) >= MOST_LANES:
                for idle in [name for name, one in self._lanes.items() if not one.busy]:
                    del self._lanes[idle]
            lane = self._lanes.setdefault(guard, Lane(self._size, guard))
            if self._closed:
                lane.close()
            return lane

    def rule(self, policy: str, guard: str) -> DeepRule | None:
        """The deep rule that a guard is, by its policy's hash and its id; `None` where it is
        none."""
        rules = self._rules()
        return None if rules is None else rules.of(policy, guard)

    @property
    def at_rest(self) -> bool:
        """Whether every question was answered, and heard, or is abandoned."""
        with self._lock:
            lanes = list(self._lanes.values())
        return all(lane.at_rest for lane in lanes)

    @property
    def closed(self) -> bool:
        """Whether nobody is asked any more."""
        return self._closed

    def counted(self) -> dict[tuple[str, str], int]:
        """How many questions to deep rules came to what, by rule and outcome."""
        rules = self._rules()
        return {} if rules is None else rules.counted()

    def close(self) -> None:
        """Take no more questions; who is at work is told to stop, and its thread ends with its
        work. What nobody waits for is finished first, if it can be in time."""
        if self._afterwards is not None:
            self._afterwards.finish()
        with self._lock:
            self._closed = True
            lanes = list(self._lanes.values())
        for lane in lanes:
            lane.close()
        rules = self._rules()
        if rules is not None:
            rules.close()

    def _forked(self) -> None:
        """In a forked process: the threads are the parent's, and so is their work."""
        self.epoch += 1
        self._afterwards = None
        self._begin()
        rules = self._rules()
        if rules is not None:
            rules.forked()


class Lane:
    """The threads of one guard, and the questions that wait for one."""

    def __init__(self, size: int, guard: str) -> None:
        self._size, self._guard = size, guard
        self._lock = Lock()
        self._calls: SimpleQueue[None] = SimpleQueue()
        self._waiting: deque[LaneQuestion] = deque()
        self._at_work: set[LaneQuestion] = set()
        self._lingering: dict[Any, Lingering] = {}
        self._threads = 0
        self._idle = 0
        self._coming = False
        """Whether a thread was called that has not come yet: who comes takes what waits, and calls
        the next."""
        self._closed = False
        self._known: tuple[Callable[[], Any], frozenset[str]] = (_nothing, frozenset())

    @property
    def busy(self) -> bool:
        """Whether anybody is at work here."""
        return bool(self._threads or self._lingering)

    @property
    def at_rest(self) -> bool:
        """Whether no question waits, or is worked on."""
        with self._lock:
            return not (self._waiting or self._at_work or self._lingering)

    def takes(self, call: Callable[..., Any]) -> frozenset[str]:
        """What code takes beside its question; looked up once for as long as it is the same
        code."""
        known, wanted = self._known
        if known() is not call:
            wanted = takes(call)
            self._known = (_weakly(call), wanted)
        return wanted

    def enter(self, question: LaneQuestion) -> bool:
        """Take a question; says whether it is worth waiting for.

        Cases, in this order: nobody ever waits for it, and a thread is on its way: that one sees to
        it. A thread is free, or can be started: it is. All are at work on questions of which one is
        in time: it waits for its turn, where there is room. All are late: one that can be stopped
        makes way. Where none can, no thread would be there in time: what is also asked for the
        run's next event waits for its turn, without anybody waiting for it. The rest is abandoned.
        """
        with self._lock:
            if (
                question.beside
                and self._coming
                and not self._closed
                and len(self._waiting) < self._size
            ):
                question.keeps = True
                self._waiting.append(question)
                return True
            idle = not self._closed and self._idle > len(self._waiting)
            free = idle or (not self._closed and self._started())
            late = [] if free else self._late()
            hopeless = not free and len(late) >= self._threads
            giving_way = [one for one in late if one.stoppable] if hopeless else []
            room = free or (not self._closed and len(self._waiting) < self._size * ROOM)
            worth = room and (not hopeless or bool(giving_way))
            taken = worth or (room and question.keeps)
            if free:
                question.keeps = (
                    True  # a thread is there for it: however short its deadline, it is asked
                )
            if taken:
                self._line_up(question)
            self._coming = self._coming or free
        if idle:
            self._calls.put(None)
        if worth and giving_way:
            min(giving_way, key=lambda one: one.deadline).abandon()
        if not taken:
            question.abandon()
        return worth

    def _line_up(self, question: LaneQuestion) -> None:
        """Have a question wait for its turn: before those that nobody waits for. The caller holds
        the lock."""
        if question.beside or not self._waiting or not self._waiting[-1].beside:
            self._waiting.append(question)
        else:
            first = next(at for at, one in enumerate(self._waiting) if one.beside)
            self._waiting.insert(first, question)

    def leave(self, question: LaneQuestion) -> None:
        """Forget a question that waits for its turn."""
        with self._lock:
            if question in self._waiting:
                self._waiting.remove(question)

    def linger(self, one: Lingering) -> None:
        """Keep a task that is late; where there are too many, the one that has been for longest is
        cancelled."""
        with self._lock:
            self._lingering[one.task] = one
            oldest = (
                next(iter(self._lingering.values())) if len(self._lingering) > self._size else None
            )
            if oldest is not None:
                del self._lingering[oldest.task]
        if oldest is not None:
            oldest.abandon()

    def gone(self, task: Any) -> None:
        """A late task has ended."""
        with self._lock:
            self._lingering.pop(task, None)

    def close(self) -> None:
        """Take no more, and have everybody stop."""
        with self._lock:
            self._closed = True
            left: list[LaneQuestion | Lingering] = [
                *self._waiting,
                *self._at_work,
                *self._lingering.values(),
            ]
            self._waiting.clear()
            idle = self._idle
        for _ in range(idle):
            self._calls.put(None)
        for one in left:
            one.abandon()

    def forsake(self) -> None:
        """Let every thread end with its work, because nobody can ask any more. This runs wherever
        garbage is collected, even in a thread that holds the lock: it takes none. A call that no
        thread is there for goes unheard."""
        self._closed = True
        for _ in range(self._threads):
            self._calls.put(None)

    def _late(self) -> list[LaneQuestion]:
        """The questions at work whose deadline is over; the caller holds the lock."""
        now = time.monotonic()
        return [one for one in self._at_work if one.overdue(now)]

    def _started(self) -> bool:
        """Start one more thread, where there may be one; the caller holds the lock."""
        if self._threads >= self._size:
            return False
        thread = threading.Thread(target=self._work, name=f"stanchion-{self._guard}", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # the system has no more threads to give
            return False
        self._threads += 1
        return True

    def _work(self) -> None:
        """What a thread does: one question after another, until there is none for a while."""
        while (question := self._next()) is not None:
            try:
                question.work()
            except BaseException:
                with self._lock:
                    self._threads -= 1
                raise
            finally:
                with self._lock:
                    self._at_work.discard(question)
            del question

    def _next(self) -> LaneQuestion | None:
        """The next question, waited for; `None` where the thread is to end, which then counts no
        more."""
        idle, called = False, True
        while True:
            with self._lock:
                self._idle -= idle
                self._coming = False
                question = self._first()
                if question is None and (self._closed or not called):
                    self._threads -= 1
                    return None
                self._idle += question is None
                calls = self._coming and self._idle > 0
            if question is not None:
                if calls:
                    self._calls.put(None)
                return question
            idle = True
            try:
                self._calls.get(timeout=IDLE_S)
            except Empty:
                called = False

    def _first(self) -> LaneQuestion | None:
        """Take the question that has waited for longest, and see that somebody comes for the
        others; the caller holds the lock, and calls whoever is idle."""
        if not self._waiting:
            return None
        question = self._waiting.popleft()
        self._at_work.add(question)
        self._coming = bool(self._waiting) and (self._idle > 0 or self._started())
        return question


def takes(call: Callable[..., Any]) -> frozenset[str]:
    """What code takes beside its question: a `stop` that says when nobody waits, the `context` of
    the event."""
    import inspect

    try:
        return OFFERED & inspect.signature(call).parameters.keys()
    except (TypeError, ValueError):
        return frozenset()


def wants_context(calls: Iterable[Callable[..., Any]]) -> bool:
    """Whether any code takes a context; none of Stanchion's own does, but for what a dialect wraps
    round a user's."""
    foreign = [call for call in calls if not _is_own(call)]
    return any(CONTEXT in takes(call) for call in foreign)


def _is_own(call: Any) -> bool:
    home = getattr(call, "__module__", None)
    return (
        isinstance(home, str)
        and home.split(".")[0] == "stanchion"
        and not home.startswith("stanchion.dialects.")
    )


def _weakly(call: Callable[..., Any]) -> Callable[[], Any]:
    """Gives the code for as long as somebody else has it: a thread without work keeps nothing of it
    alive."""
    try:
        return ref(call)
    except TypeError:
        return lambda: call


def _nothing() -> None:
    """No code is known yet."""


def _forsake(lanes: dict[str, Lane]) -> None:
    for lane in lanes.values():
        lane.forsake()


_pools: Final[WeakSet[LanePool]] = WeakSet()


def _after_fork() -> None:
    for pool in list(_pools):
        pool._forked()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


FINISH_S: Final = 5.0
"""How long whoever closes waits for what is under way."""

Work = tuple[str, Callable[[], Any]]
"""What it is, in words, and what does it."""


class Left(Exception):
    """Work was left because there was no time for it."""


class Afterwards:
    """Work that nobody waits for. What fails or is left is told to operators."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waiting: deque[Work] = deque()
        self._at_work = False

    def put(self, what: str, does: Callable[[], Any]) -> None:
        """Have something done, behind what was put before it."""
        with self._changed:
            self._waiting.append((what, does))
            if self._at_work:
                return
            self._at_work = True
        threading.Thread(target=self._work, name="stanchion-afterwards", daemon=True).start()

    def finish(self, wait_s: float = FINISH_S) -> bool:
        """Wait until all is done, at most so long; says whether it is. What is left then has no one
        to do it."""
        with self._changed:
            done = self._changed.wait_for(lambda: not self._at_work, wait_s)
            left, self._waiting = list(self._waiting), deque()
        from stanchion.runtime.asides import aside

        for what, _ in left:
            aside(f"{what} was left", Left("there was no time for it"))
        return done and not left

    def _work(self) -> None:
        while True:
            with self._changed:
                if not self._waiting:
                    self._at_work = False
                    self._changed.notify_all()
                    return
                what, does = self._waiting.popleft()
            try:
                does()
            except Exception as error:  # noqa: BLE001 - nobody is there who could be given it, and the next has its turn
                from stanchion.runtime.asides import aside

                aside(f"{what} failed", error)
