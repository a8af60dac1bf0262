"""Connections for event loops: each loop has one, which is made when it is needed and again when it was lost."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from typing import Any

from stanchion.stores.redis.link import CUT
from stanchion.stores.redis.pool import Pool
from stanchion.stores.redis.stream import Stream

Loop = asyncio.AbstractEventLoop


class Loops:
    """The connections of all event loops; `StoreLost` where an answer does not come in time."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._pid = os.getpid()
        self._streams: dict[Loop, Stream] = {}
        self._opening: dict[Loop, asyncio.Task[Stream]] = {}
        self._can_stream = True
        self._lock = threading.Lock()

    async def ask(self, data: bytes, count: int = 1) -> Any:
        """Send a command and wait for its answer, as the pool does, without blocking the loop."""
        if not self._can_stream:
            return await asyncio.to_thread(self._pool.ask, data, count)
        if self._pid != os.getpid():
            self._pid, self._streams, self._opening, self._lock = os.getpid(), {}, {}, threading.Lock()
        pool = self._pool
        rest = pool.rest
        if rest.why:
            rest.check(pool.timeout_s)
        loop = asyncio.get_running_loop()
        deadline = loop.time() + pool.timeout_s
        stream = self._streams.get(loop)
        is_new = stream is None or stream.lost is not None
        try:
            if stream is None or is_new:
                stream = await self._open(loop, deadline)
            reply = await stream.ask(data, count, deadline)
        except NotImplementedError:
            self._can_stream = False
            return await asyncio.to_thread(pool.ask, data, count)
        except CUT as error:
            if is_new or isinstance(error, TimeoutError):
                raise pool.lost(error) from None
            reply = await self._once_more(loop, data, count, deadline)
        if rest.why:
            rest.worked()
        return reply

    def close(self) -> None:
        """Close all connections."""
        if self._pid == os.getpid():
            with self._lock:
                streams = list(self._streams.values())
                self._streams.clear()
            for stream in streams:
                stream.end()

    async def _once_more(self, loop: Loop, data: bytes, count: int, deadline: float) -> Any:
        try:
            stream = await self._open(loop, deadline)
            return await stream.ask(data, count, deadline)
        except CUT as error:
            raise self._pool.lost(error) from None

    async def _open(self, loop: Loop, deadline: float) -> Stream:
        """The loop's connection; all who need it while it is being made wait for the same one."""
        stream = self._streams.get(loop)
        if stream is not None and stream.lost is None:
            return stream
        opening = self._opening.get(loop)
        if opening is None:
            opening = self._opening[loop] = loop.create_task(self._connect(loop))
            opening.add_done_callback(self._opened)
        return await asyncio.wait_for(asyncio.shield(opening), deadline - loop.time())

    async def _connect(self, loop: Loop) -> Stream:
        try:
            link = await asyncio.to_thread(self._pool.connect, time.monotonic() + self._pool.timeout_s)
            try:
                stream = Stream(link, loop)
            except BaseException:
                link.close()
                raise
            for left in self._enter(loop, stream):
                left.end()
            return stream
        finally:
            self._opening.pop(loop, None)

    def _enter(self, loop: Loop, stream: Stream) -> list[Stream]:
        """Keep a loop's connection, and let go of those whose loops are closed."""
        with self._lock:
            left = [self._streams.pop(other) for other in list(self._streams) if other.is_closed()]
            self._streams[loop] = stream
        return left

    @staticmethod
    def _opened(opening: asyncio.Task[Stream]) -> None:
        """Look at what came of it, so that nobody has to."""
        if not opening.cancelled():
            opening.exception()
