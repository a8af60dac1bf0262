"""Connections kept open for batches: a bounded number, made by threads of their own so that no caller hangs on one."""

from __future__ import annotations

import os
import weakref
from asyncio import get_running_loop
from collections import deque
from collections.abc import Callable
from threading import Lock, Thread
from time import monotonic
from typing import Final

from stanchion.kernel.state import StoreLost
from stanchion.stores.postgres.circuit import Circuit
from stanchion.stores.postgres.link import Link, tell
from stanchion.stores.protocol import StoreError


class Words:
    """What a pool says where it has no connection to give."""

    __slots__ = ("busy", "closed", "late")

    def __init__(self, busy: str, late: str, closed: str) -> None:
        self.busy: Final = busy
        self.late: Final = late
        self.closed: Final = closed


class _Waiter:
    """Somebody who waits. `wake` is called once, when there is a connection, or a reason why there is none."""

    __slots__ = ("made", "wake")

    def __init__(self, wake: Callable[[], object]) -> None:
        self.made: Link | str | None = None
        self.wake: Final = wake


class Pool:
    """Hands connections out to threads and to tasks. `connect` gives a new one or raises `StoreLost`."""

    def __init__(self, connect: Callable[[], Link], size: int, words: Words) -> None:
        self._connect: Final = connect
        self._size: Final = size
        self._words: Final = words
        self._closed = False
        self._idle: list[Link] = []
        self._waiting: deque[_Waiter] = deque()
        self._begin()
        _pools.add(self)

    def take(self, until: float) -> Link:
        """A connection for the calling thread; `StoreLost` where there is none until then."""
        link = self._at_once()
        if link is not None:
            return link
        woken = Lock()
        woken.acquire()
        waiter = self._join(woken.release)
        woken.acquire(timeout=max(until - monotonic(), 0))
        return self._given(waiter)

    async def atake(self, until: float) -> Link:
        """A connection for the running task."""
        link = self._at_once()
        if link is not None:
            return link
        loop = get_running_loop()
        woken = loop.create_future()
        waiter = self._join(lambda: loop.call_soon_threadsafe(tell, woken, True))
        limit = loop.call_later(max(until - monotonic(), 0), tell, woken, True)
        try:
            await woken
        except BaseException:
            self._leave(waiter)
            raise
        finally:
            limit.cancel()
        return self._given(waiter)

    def give(self, link: Link) -> None:
        """Give a connection back that is ready for the next statement."""
        with self._lock:
            self._busy -= 1
            self._hand(link)

    def drop(self, link: Link) -> None:
        """Give a connection back that is no longer good."""
        link.close()
        with self._lock:
            self._busy -= 1
            if self._waiting:
                self._grow()
                self._turn_away()

    def clear(self, lost: str = "") -> None:
        """Close what is idle: it is as old as one that broke. With `lost` the server cannot be reached at all."""
        with self._lock:
            idle, self._idle = self._idle, []
            if lost:
                self._circuit.failed(lost)
        for link in idle:
            link.close()

    def close(self) -> None:
        """Close everything; connections that are in use are closed when they are given back."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
            while self._waiting:
                self._answer(self._words.closed)
        for link in idle:
            link.close()

    def after_fork(self) -> None:
        """Begin anew in a child. Its parent's connections are never closed here, which would end the parent's work."""
        _inherited.extend(self._idle)
        self._begin()

    def _begin(self) -> None:
        self._lock = Lock()
        self._circuit = Circuit(monotonic)
        self._idle = []
        self._waiting = deque()
        self._busy = 0
        self._connecting = 0
        self._owner = os.getpid()

    def _at_once(self) -> Link | None:
        if self._owner != os.getpid():
            self.after_fork()
        with self._lock:
            if self._closed:
                raise StoreLost(self._words.closed)
            if not self._idle:
                return None
            self._busy += 1
            return self._idle.pop()

    def _join(self, wake: Callable[[], object]) -> _Waiter:
        """Wait in the queue; `StoreLost` at once where the server is known to be lost and others are trying."""
        waiter = _Waiter(wake)
        with self._lock:
            self._waiting.append(waiter)
            if self._idle:
                self._hand(self._idle.pop())
            elif not self._grow() and self._circuit.is_open and not self._busy:
                self._waiting.remove(waiter)
                raise StoreLost(self._circuit.reason)
        return waiter

    def _given(self, waiter: _Waiter) -> Link:
        """What a waiter got by now."""
        with self._lock:
            made = waiter.made
            if made is None:
                self._waiting.remove(waiter)
                if self._busy:
                    raise StoreLost(self._words.busy)
                self._circuit.failed(self._words.late)
                raise StoreLost(self._words.late)
        if isinstance(made, str):
            raise StoreLost(made)
        return made

    def _leave(self, waiter: _Waiter) -> None:
        with self._lock:
            if waiter.made is None:
                self._waiting.remove(waiter)
            elif isinstance(waiter.made, Link):
                self._busy -= 1
                self._hand(waiter.made)

    def _hand(self, link: Link) -> None:
        """Hand a connection to whoever waits longest, or keep it."""
        if self._closed:
            link.close()
            return
        while self._waiting:
            if self._answer(link):
                self._busy += 1
                return
        self._idle.append(link)

    def _answer(self, made: Link | str) -> bool:
        """Tell the first in the queue; `False` where its event loop is gone."""
        waiter = self._waiting.popleft()
        waiter.made = made
        try:
            waiter.wake()
        except RuntimeError:
            return False
        return True

    def _grow(self) -> bool:
        """Begin to make a connection where one is wanted and may be made."""
        there = self._busy + len(self._idle) + self._connecting
        if there >= self._size or self._connecting >= len(self._waiting) or not self._circuit.may_try():
            return False
        self._connecting += 1
        try:
            Thread(target=self._make, name="stanchion-postgres", daemon=True).start()
        except RuntimeError as error:
            self._connecting -= 1
            self._circuit.failed(str(error))
            return False
        return True

    def _make(self) -> None:
        made: Link | str = "the connection could not be made"
        try:
            made = self._connect()
        except (StoreLost, StoreError) as lost:
            made = str(lost)
        finally:
            self._arrived(made)

    def _arrived(self, made: Link | str) -> None:
        with self._lock:
            self._connecting -= 1
            if isinstance(made, Link):
                self._circuit.worked()
                self._hand(made)
            else:
                self._circuit.failed(made)
                self._turn_away()

    def _turn_away(self) -> None:
        """Tell everybody who waits why there is nothing to wait for."""
        if self._busy == 0 and self._connecting == 0:
            while self._waiting:
                self._answer(self._circuit.reason)

    def __del__(self) -> None:
        if getattr(self, "_owner", 0) == os.getpid():
            self.close()


_pools: Final[weakref.WeakSet[Pool]] = weakref.WeakSet()
_inherited: Final[list[Link]] = []


def _after_fork() -> None:
    for pool in list(_pools):
        pool.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
