"""Connections kept open for batches: a bounded number, made by threads of their own so that no
caller hangs on one."""

from __future__ import annotations

import os
from _thread import allocate_lock
from asyncio import get_running_loop
from collections import OrderedDict
from collections.abc import Callable
from threading import Thread, current_thread
from time import monotonic
from typing import Final, NamedTuple

from stanchion.kernel.state import StoreLost
from stanchion.locks import Lock
from stanchion.locks.forks import tell_of_forks
from stanchion.stores.postgres.connection import PostgresLink
from stanchion.stores.protocol import StoreError
from stanchion.stores.queue import PATIENT_S, Room, ServerCircuit, Visit, VisitQueue, ring, tell


class PoolWords(NamedTuple):
    """What a pool says where it has no connection to give."""

    busy: str
    late: str
    closed: str


class PostgresPool:
    """Hands connections out to those who have a place. `connect` gives a new one or raises
    `StoreLost`.

    As many have a place as there may be connections, so nobody in here waits for anything but the
    server. Who has which connection is written in its place alone, and nothing is counted: what is
    cut off in the middle leaves no wrong sum.
    """

    def __init__(
        self,
        connect: Callable[[], PostgresLink],
        size: int,
        words: PoolWords,
        room: Callable[[], Room],
    ) -> None:
        self._connect: Final = connect
        self._size: Final = size
        self._words: Final = words
        self._room: Final = room
        self._closed = False
        self._idle: list[PostgresLink] = []
        self.queue: VisitQueue
        self._begin()
        tell_of_forks(self)

    def enter(self, place: Visit, finishes: bool = False) -> None:
        """Wait for a place in the calling thread. `Crowded` where none gets free in time,
        `StoreLost` at once where the server is known to be lost."""
        self._check()
        self.queue.take(place, finishes)

    async def aenter(self, place: Visit, finishes: bool = False) -> None:
        """The same for the running task."""
        self._check()
        await self.queue.atake(place, finishes)

    def take(self, place: Visit, until: float) -> PostgresLink:
        """A connection for the calling thread; `StoreLost` where there is none until then."""
        link = self._at_once(place)
        if link is None:
            woken = allocate_lock()
            woken.acquire()
            place.wake = lambda: ring(woken)
            self._want(place)
            woken.acquire(timeout=max(until - monotonic(), 0))
            link = self._given(place)
        return link

    async def atake(self, place: Visit, until: float) -> PostgresLink:
        """A connection for the running task."""
        link = self._at_once(place)
        if link is None:
            loop = get_running_loop()
            woken = loop.create_future()
            place.wake = lambda: tell(loop, woken)
            self._want(place)
            limit = loop.call_later(max(until - monotonic(), 0), tell, loop, woken)
            try:
                await woken
            finally:
                limit.cancel()
            link = self._given(place)
        return link

    def give(self, place: Visit) -> None:
        """Give a connection back that is ready for the next statement."""
        link, place.link = place.link, None
        with self._lock:
            self._hand(link)

    def drop(self, place: Visit) -> None:
        """Give a connection back that is no longer good."""
        link, place.link = place.link, None
        if link is not None:
            link.close()
        lost = ""
        with self._lock.within(PATIENT_S) as held:
            if held:
                if self._wanting:
                    self._grow()
                lost = self._hopeless()
        self._turn_away(lost)

    def leave(self, place: Visit) -> None:
        """Give up a place with whatever goes with it. To leave twice does no harm."""
        if place.over:
            return
        with self._lock.within(PATIENT_S):
            self._wanting.pop(place, None)
        if place.link is not None:
            self.drop(place)
        self.queue.leave(place)

    def clear(self, lost: str = "") -> None:
        """Close what is idle: it is as old as one that broke. With `lost` the server cannot be
        reached at all."""
        with self._lock:
            idle, self._idle = self._idle, []
            if lost:
                self._circuit.failed(lost)
        for link in idle:
            link.close()
        if lost:
            self.queue.room.turn_away(lost)

    def close(self) -> None:
        """Close everything; connections that are in use are closed when they are given back."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        self._turn_away(self._words.closed)
        for link in idle:
            link.close()

    def forked(self) -> None:
        """Begin anew in a child. Its parent's connections are never closed here, which would end
        the parent's work."""
        _inherited.extend(self._idle)
        _inherited.extend([place.link for place in self.queue.seated if place.link is not None])
        self._begin()

    def _begin(self) -> None:
        self._lock = Lock()
        self._circuit = ServerCircuit()
        self._idle = []
        self._wanting: OrderedDict[Visit, None] = OrderedDict()
        self._making: list[Thread] = []
        self.queue = VisitQueue(self._size, self._room())
        self._owner = os.getpid()

    def _check(self) -> None:
        """Refuse at once where waiting is in vain."""
        if self._owner != os.getpid():
            self.forked()
        if self._closed:
            raise StoreLost(self._words.closed)
        if self._circuit.is_resting and not self._idle and not self._links():
            raise StoreLost(self._circuit.why)

    def _links(self) -> int:
        """How many connections are in use."""
        return sum([place.link is not None for place in list(self.queue.seated)])

    def _at_once(self, place: Visit) -> PostgresLink | None:
        with self._lock:
            if self._closed:
                raise StoreLost(self._words.closed)
            if self._idle:
                place.link = self._idle.pop()
            link: PostgresLink | None = place.link
            return link

    def _want(self, place: Visit) -> None:
        """Wait for a connection; `StoreLost` at once where the server is known to be lost and
        others are trying."""
        with self._lock:
            self._wanting[place] = None
            if self._idle:
                self._hand(self._idle.pop())
            elif not self._grow() and self._circuit.why and not self._links():
                raise StoreLost(self._circuit.why)

    def _given(self, place: Visit) -> PostgresLink:
        """What somebody got by now."""
        with self._lock:
            self._wanting.pop(place, None)
            if place.link is not None:
                link: PostgresLink = place.link
                return link
            if place.why:
                raise StoreLost(place.why)
            if self._links():
                raise StoreLost(self._words.busy)
            self._circuit.failed(self._words.late)
            raise StoreLost(self._words.late)

    def _hand(self, link: PostgresLink) -> None:
        """Hand a connection to whoever wants one for longest, or keep it."""
        if self._closed:
            link.close()
            return
        while self._wanting:
            place = next(iter(self._wanting))
            is_new = place.link is None
            if is_new:
                place.link = link
            told = place.wake()
            self._wanting.pop(place, None)
            if is_new and told:
                return
            if is_new:
                place.link = None
        self._idle.append(link)

    def _grow(self) -> bool:
        """Begin to make a connection where one is wanted and may be made."""
        self._making = [thread for thread in self._making if thread.is_alive()]
        there = self._links() + len(self._idle) + len(self._making)
        if (
            there >= self._size
            or len(self._making) >= len(self._wanting)
            or not self._circuit.may_try()
        ):
            return False
        thread = Thread(target=self._make, name="stanchion-postgres", daemon=True)
        self._making.append(thread)
        try:
            thread.start()
        except RuntimeError as error:
            self._circuit.failed(str(error))
            return False
        return True

    def _make(self) -> None:
        made: PostgresLink | str = "the connection could not be made"
        try:
            made = self._connect()
        except (StoreLost, StoreError) as lost:
            made = str(lost)
        finally:
            self._arrived(made)

    def _arrived(self, made: PostgresLink | str) -> None:
        lost = ""
        with self._lock:
            me = current_thread()
            self._making = [
                thread for thread in self._making if thread is not me and thread.is_alive()
            ]
            if isinstance(made, PostgresLink):
                self._circuit.worked()
                self._hand(made)
            else:
                self._circuit.failed(made)
                lost = self._hopeless()
        self._turn_away(lost)

    def _hopeless(self) -> str:
        """Why there is nothing to wait for; empty where there is."""
        is_lost = self._circuit.why and not self._links() and not self._making
        return self._circuit.why if is_lost else ""

    def _turn_away(self, why: str) -> None:
        """Tell everybody who waits why there is nothing to wait for, where there is not."""
        if not why:
            return
        with self._lock:
            for place in list(self._wanting):
                place.why = why
                place.wake()
                self._wanting.pop(place, None)
        self.queue.room.turn_away(why)

    def __del__(self) -> None:
        if getattr(self, "_owner", 0) == os.getpid():
            self.close()


_inherited: Final[list[PostgresLink]] = []
