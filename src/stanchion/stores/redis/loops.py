"""Connections for event loops: each loop has one, which is made when it is needed and again when it
was lost."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from typing import Any, Final

from stanchion.locks import Lock
from stanchion.stores.queue import Queue, Visit
from stanchion.stores.redis.link import CUT, Link
from stanchion.stores.redis.pool import Pool
from stanchion.stores.redis.stream import Stream

WINDOW: Final = 256
"""How many commands of a loop are on their way at once; a server is through with that many in a
moment."""

Loop = asyncio.AbstractEventLoop


class Own:
    """What one loop has: a queue, and the connection behind it."""

    __slots__ = ("loop", "opening", "queue", "stream")

    def __init__(self, loop: Loop, queue: Queue) -> None:
        self.loop: Final = loop
        self.queue: Final = queue
        self.stream: Stream | None = None
        self.opening: asyncio.Future[Stream] | None = None


class Loops:
    """The connections of all event loops. `StoreLost` where an answer does not come in time;
    `Crowded` where it cannot even be asked for, because others wait."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._can_stream = True
        self._begin()

    async def ask(self, data: bytes, count: int = 1, finishes: bool = False) -> Any:
        """Send a command and wait for its answer, as the pool does, without blocking the loop."""
        if self._pid != os.getpid():
            self._begin()
        loop = asyncio.get_running_loop()
        own = self._owns.get(loop)
        if own is None:
            own = self._enter(loop)
        place = Visit()
        try:
            try:
                reply = await self._ask(own, place, data, count, finishes)
            finally:
                own.queue.leave(place)
        finally:
            own.queue.leave(place)
        return reply

    def close(self) -> None:
        """Close all connections."""
        if self._pid == os.getpid():
            with self._lock:
                streams = [own.stream for own in self._owns.values() if own.stream is not None]
            for stream in streams:
                stream.end()

    def _begin(self) -> None:
        self._pid = os.getpid()
        self._owns: dict[Loop, Own] = {}
        self._lock = Lock()

    async def _ask(self, own: Own, place: Visit, data: bytes, count: int, finishes: bool) -> Any:
        pool = self._pool
        rest = pool.rest
        if rest.why:
            rest.check(pool.timeout_s)
        await own.queue.atake(place, finishes)
        if not self._can_stream:
            return await asyncio.to_thread(pool.ask, data, count, finishes)
        stream = own.stream
        is_new = stream is None or stream.lost is not None
        try:
            if stream is None or is_new:
                stream = await self._open(own)
            reply = await stream.ask(data, count)
        except NotImplementedError:
            self._can_stream = False
            return await asyncio.to_thread(pool.ask, data, count, finishes)
        except CUT as error:
            if is_new or isinstance(error, TimeoutError):
                raise pool.lost(error) from None
            reply = await self._once_more(own, data, count)
        if rest.why:
            rest.worked()
        return reply

    async def _once_more(self, own: Own, data: bytes, count: int) -> Any:
        try:
            stream = await self._open(own)
            return await stream.ask(data, count)
        except CUT as error:
            raise self._pool.lost(error) from None

    async def _open(self, own: Own) -> Stream:
        """The loop's connection; all who need it while it is being made wait for the same one.

        A thread makes it, which keeps to the time that there is by itself: a loop that is held up
        by other tasks must not take its own delay for the server's.
        """
        if own.stream is not None and own.stream.lost is None:
            return own.stream
        opening = own.opening
        if opening is None:
            opening = own.loop.create_future()
            try:
                threading.Thread(
                    target=self._connect, args=(own, opening), name="stanchion-redis", daemon=True
                ).start()
            except RuntimeError as error:
                raise self._pool.lost(error) from None
            # Where the loop is cut off while it is told of the connection, nobody waits for it for
            # ever.
            own.loop.call_later(
                2 * self._pool.timeout_s, _opened, own, opening, TimeoutError(), 0.0
            )
            own.opening = opening
        return await asyncio.shield(opening)

    def _connect(self, own: Own, opening: asyncio.Future[Stream]) -> None:
        made: Link | BaseException
        try:
            made = self._pool.connect(time.monotonic() + self._pool.timeout_s)
        except BaseException as error:  # noqa: BLE001 - told to those who wait for the connection
            made = error
        try:
            own.loop.call_soon_threadsafe(_opened, own, opening, made, self._pool.timeout_s)
        except RuntimeError:
            if isinstance(made, Link):
                made.close()

    def _enter(self, loop: Loop) -> Own:
        """What a loop has from now on; what closed loops had is let go of."""
        with self._lock:
            left = [self._owns.pop(other) for other in list(self._owns) if other.is_closed()]
            own = self._owns.setdefault(loop, Own(loop, Queue(WINDOW, self._pool.room)))
        for one in left:
            if one.stream is not None:
                one.stream.end()
        return own


def _opened(
    own: Own, opening: asyncio.Future[Stream], made: Link | BaseException, timeout_s: float
) -> None:
    """Hand a connection to all who wait for it, or what became of it."""
    if opening.done():
        if isinstance(made, Link):
            made.close()
        return
    try:
        if isinstance(made, BaseException):
            raise made
        stream = Stream(made, own.loop, timeout_s)
        if own.stream is not None:
            own.stream.end()
        own.stream = stream
        opening.set_result(stream)
    except BaseException as error:  # noqa: BLE001 - told to those who wait for the connection
        if isinstance(made, Link):
            made.close()
        if not opening.done():
            opening.set_exception(error)
            opening.exception()  # looked at, so that nobody has to
    finally:
        if own.opening is opening:
            own.opening = None
