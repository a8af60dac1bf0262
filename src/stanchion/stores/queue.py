"""Queues before a store: everybody goes in the order in which they came, no more of them wait than
there is room for, and nobody waits for longer than said.

A queue is ours and not the store's. So who has to leave it unserved is told that it is crowded, and
the time spent in it is no time that the store has taken. Threads and tasks stand in the same queue.
Who is where is written in one place alone, and whatever is cut off in the middle is gone through
once more by whoever leaves next.
"""

from __future__ import annotations

import asyncio
from _thread import LockType, allocate_lock
from collections import OrderedDict, deque
from collections.abc import Callable
from time import monotonic
from typing import Any, Final

from stanchion.kernel.state import Batch, Crowded, StoreLost
from stanchion.locks import Lock
from stanchion.stores.protocol import StoreError

# Deadlines on an event loop that count only time in which the loop could have done something.
#
# Ten thousand tasks that begin at once hold their loop up for seconds before it can look at a
# single answer. Had all their deadlines passed by then, they would all be refused, and nothing
# done. So time goes by in beats, of which there is at most one in each turn of the loop.

BEATS: Final = 10
"""How many beats somebody waits."""


class Beat:
    """The beat of one loop: calls whoever has waited for `BEATS` of them, which take `patience_s`
    on an idle loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop, patience_s: float) -> None:
        self._loop: Final = loop
        self._step_s: Final = patience_s / BEATS
        self._beats = 0
        self._due = 0.0
        self._waiting: Final[OrderedDict[Any, tuple[int, Callable[[], object]]]] = OrderedDict()

    @property
    def is_over(self) -> bool:
        """Whether the loop is closed."""
        return self._loop.is_closed()

    def watch(self, who: Any, call: Callable[[], object]) -> None:
        """Call somebody when its time is over."""
        self._waiting[who] = (self._beats + BEATS, call)
        # A beat that does not come was cut off, and is begun anew by the next who waits.
        if not self._due or self._loop.time() > self._due + self._step_s * BEATS:
            self._next()

    def forget(self, who: Any) -> None:
        """Let somebody wait no longer."""
        self._waiting.pop(who, None)

    def _next(self) -> None:
        self._due = self._loop.time() + self._step_s
        self._loop.call_at(self._due, self._beat)

    def _beat(self) -> None:
        self._due = 0.0
        if self._waiting:
            self._next()
        self._beats += 1
        for who, (until, call) in list(self._waiting.items()):
            if until > self._beats:
                return
            self._waiting.pop(who, None)
            call()


MOST: Final = 10_000
"""How many wait for a store in one process."""
PATIENCE_S: Final = 30.0
"""How long each of them waits."""
PATIENT_S: Final = 1.0
"""How long one who leaves waits for the lock. It may be a coroutine that is collected as garbage in
the thread that has the lock, and then it waits in vain: whoever comes next takes it out."""


class Visit:
    """Somebody's place: first in a queue, then at the store. Made before it is taken, so that it
    can always be left."""

    __slots__ = ("link", "over", "wake", "why")

    def __init__(self) -> None:
        self.link: Any = None
        """The connection that goes with it."""
        self.over = False
        self.why = ""
        """Why there is nothing to wait for."""
        self.wake: Callable[[], bool] = _nobody
        """Tells whoever waits to look; `False` where that can no longer be told."""


Line = OrderedDict[Visit, None]


class Room:
    """The room to wait in before one store: all its queues together are bounded by it."""

    def __init__(
        self,
        name: str,
        most: int = MOST,
        patience_s: float = PATIENCE_S,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        if most < 1 or not patience_s > 0:
            raise StoreError(
                f"queue is `{most}` and patience_s `{patience_s}`: both must be above zero"
            )
        self.most: Final = most
        self.patience_s: Final = patience_s
        self.clock: Final = clock
        self.lock: Final = Lock()
        self.waiting: Final[dict[Visit, Line]] = {}
        """Who waits, and in which line."""
        self.left: Final[deque[tuple[VisitQueue, Visit]]] = deque()
        """Who has left, and is still to be taken out."""
        self._beats: Final[dict[asyncio.AbstractEventLoop, Beat]] = {}
        self._name = name

    def beat(self, loop: asyncio.AbstractEventLoop) -> Beat:
        """The beat by which those wait who are on a loop."""
        beat = self._beats.get(loop)
        if beat is None:
            for other in [other for other, its in list(self._beats.items()) if its.is_over]:
                self._beats.pop(other, None)
            beat = self._beats.setdefault(loop, Beat(loop, self.patience_s))
        return beat

    def turn_away(self, why: str) -> None:
        """Tell everybody who waits that the store is lost."""
        with self.lock:
            for place in list(self.waiting):
                place.why = why
                place.wake()
                self.drop(place)

    def drop(self, place: Visit) -> None:
        """Take somebody out of its line; whoever calls has the lock."""
        line = self.waiting.get(place)
        if line is not None:
            line.pop(place, None)
            self.waiting.pop(place, None)

    def crowded(self, others: int, waited_s: float) -> Crowded:
        """What to say to somebody who is not served."""
        why = (
            f"{others:,} other calls in this process wait for `{self._name}`, and this one has "
            f"waited {waited_s:.3g} s: try again in a moment, or do fewer things at once"
        )
        return Crowded(why, others, int(waited_s * 1000))


class VisitQueue:
    """A queue for so many places. Whoever finishes something goes first: it has a hold to give
    back."""

    def __init__(self, places: int, room: Room) -> None:
        self.places: Final = places
        self.room: Final = room
        self.seated: Final[set[Visit]] = set()
        """Who has a place now."""
        self._first: Final[Line] = OrderedDict()
        self._rest: Final[Line] = OrderedDict()

    def take(self, place: Visit, finishes: bool = False) -> None:
        """Wait for a place in the calling thread; `Crowded` where none gets free in time."""
        if self._at_once(place):
            return
        woken = allocate_lock()
        woken.acquire()
        place.wake = lambda: ring(woken)
        began = self.room.clock()
        self._join(place, finishes)
        woken.acquire(timeout=self.room.patience_s)
        self._served(place, began)

    async def atake(self, place: Visit, finishes: bool = False) -> None:
        """The same for the running task."""
        if self._at_once(place):
            return
        loop = asyncio.get_running_loop()
        woken = loop.create_future()
        place.wake = lambda: tell(loop, woken)
        began = self.room.clock()
        self._join(place, finishes)
        beat = self.room.beat(loop)
        beat.watch(place, place.wake)
        try:
            await woken
        finally:
            beat.forget(place)
        self._served(place, began)

    def leave(self, place: Visit) -> None:
        """Give a place up, wherever it is, and let the next one have it. To leave twice does no
        harm."""
        if place.over:
            return
        with self.room.lock.within(PATIENT_S) as held:
            self.room.left.append((self, place))
            if held:
                self._serve()
        place.over = True

    def _at_once(self, place: Visit) -> bool:
        if self._rest:
            return False
        with self.room.lock:
            if self.room.left:
                self._serve()
            if self._first or self._rest or len(self.seated) >= self.places:
                return False
            self.seated.add(place)
            return True

    def _join(self, place: Visit, finishes: bool) -> None:
        with self.room.lock:
            others = len(self.room.waiting)
            # Those who finish are as many as have begun, so they are let in where nobody may begin
            # any more.
            if others >= (2 * self.room.most if finishes else self.room.most):
                raise self.room.crowded(others, 0)
            line = self._first if finishes else self._rest
            self.room.waiting[place] = (
                line  # before it is in line, so that it can always be taken out of it
            )
            line[place] = None
            self._serve()

    def _serve(self) -> None:
        """Give what is free to those who wait. Whoever was about to be told, when that was cut off,
        is told now."""
        while self.room.left:
            queue, gone = self.room.left[0]
            queue.seated.discard(gone)
            self.room.drop(gone)
            self.room.left.popleft()
        for line in (self._first, self._rest):
            while line and len(self.seated) < self.places:
                place = next(iter(line))
                self.seated.add(place)
                if not place.wake():
                    self.seated.discard(place)
                self.room.drop(place)

    def _served(self, place: Visit, began: float) -> None:
        """Go on where there is a place."""
        if place in self.seated:
            return
        with self.room.lock:
            self._serve()
            if place in self.seated:
                return
            others = max(0, len(self.room.waiting) - 1)
        if place.why:
            raise StoreLost(place.why)
        raise self.room.crowded(others, self.room.clock() - began)


FIRST_S: Final = 0.1
LONGEST_S: Final = 1.0
"""How long a server is left alone after a failure: twice as long after each one."""


class ServerCircuit:
    """While a server is known to be lost nobody waits for it, and one at a time tries again."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self.why = ""
        """Why the server is lost; empty while it works."""
        self._clock: Final = clock
        self._lock: Final = Lock()
        self._pause_s = self._retry_at = 0.0
        self._trying = False

    @property
    def is_resting(self) -> bool:
        """Whether the last attempt failed, and it is too early for another."""
        return bool(self.why) and self._clock() < self._retry_at

    def may_try(self) -> bool:
        """Whether to attempt it now; while the server is lost that is one caller's turn, who tells
        how it went. One who does not has had its turn after a while."""
        with self._lock:
            if not self.why or self.is_resting:
                return not self.why
            self._trying, self._retry_at = True, self._clock() + LONGEST_S
            return True

    def check(self) -> None:
        """Refuse at once one whose turn it is not."""
        if not self.may_try():
            raise StoreLost(self.why)

    def failed(self, why: str) -> None:
        """Leave the server alone, after an attempt for longer than the last time."""
        with self._lock:
            lost, self.why = self.why, why
            if lost and not self._trying:
                return
            self._pause_s = min(2 * self._pause_s, LONGEST_S) if lost else FIRST_S
            self._retry_at = self._clock() + self._pause_s
            self._trying = False

    def worked(self) -> None:
        """Take it up again."""
        self.why, self._trying = "", False


def finishes(batch: Batch) -> bool:
    """Whether a batch ends something that was begun before."""
    return bool(batch.settles)


def _nobody() -> bool:
    return True


def ring(woken: LockType) -> bool:
    """Wake a thread that waits for a lock."""
    if woken.locked():
        woken.release()
    return True


def tell(loop: asyncio.AbstractEventLoop, woken: asyncio.Future[None]) -> bool:
    """Wake a task that waits for a future; `False` where its loop is gone."""
    if asyncio._get_running_loop() is loop:
        _done(woken)
        return True
    try:
        loop.call_soon_threadsafe(_done, woken)
    except RuntimeError:
        return False
    return True


def _done(woken: asyncio.Future[None]) -> None:
    if not woken.done():
        woken.set_result(None)
