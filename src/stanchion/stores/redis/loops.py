"""Connections for event loops: each loop has one, which is made when it is needed and again when it
was lost."""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from stanchion.locks import Lock
from stanchion.stores.queue import Visit, VisitQueue
from stanchion.stores.redis.connection import CHUNK, CUT, RedisLink
from stanchion.stores.redis.pool import RedisPool

# A connection that an event loop reads from: commands follow one another without waiting for
# answers.


class AwaitedCommand(NamedTuple):
    """A command, and who waits for so many answers to it."""

    answer: asyncio.Future[Any]
    answers: int
    data: bytes


class RedisStream:
    """A link in the hands of an event loop. All commands of one turn of the loop go out together.

    Where it fails, `lost` says why, and so does what everybody who waits for an answer is given: an
    error of `CUT`. A server does one command after the other, so it has `timeout_s` for each from
    when it is through with the one before. A loop that was held up reads what has come before it
    says that something is late. Where something is cut off in the middle the connection is given
    up: no answer ever goes to somebody who asked for another.
    """

    def __init__(self, link: RedisLink, loop: asyncio.AbstractEventLoop, timeout_s: float) -> None:
        self.lost: BaseException | None = None
        self._loop = loop
        self._link = link
        self._timeout_s = timeout_s
        self._fd = link.sock.fileno()
        self._not_yet = _not_yet(link)
        self._pending = getattr(link.sock, "pending", None)
        self._out: deque[AwaitedCommand] = deque()
        self._asked: deque[AwaitedCommand] = deque()
        self._came: list[Any] = []
        self._unsent = b""
        self._will_send = False
        self._began = self._due = 0.0
        self._is_watched = False
        link.sock.setblocking(False)
        loop.add_reader(self._fd, self._whole, self._receive)

    def ask(self, data: bytes, count: int) -> asyncio.Future[Any]:
        """Send a command; for several commands, all their answers are awaited."""
        answer = self._loop.create_future()
        if self.lost is not None:
            answer.set_exception(self.lost)
            return answer
        self._out.append(AwaitedCommand(answer, count, data))
        if not self._will_send:
            self._loop.call_soon(self._whole, self._send)
            self._will_send = True
        if not self._is_watched:
            self._watch_until(self._loop.time() + self._timeout_s)
        return answer

    def lose(self, error: BaseException) -> None:
        """Give up the connection. What was cut off in the middle of that can be done again."""
        if self.lost is None:
            self.lost = error
        if not self._loop.is_closed():
            if self._fd >= 0:
                self._loop.remove_reader(self._fd)
                self._loop.remove_writer(self._fd)
                self._fd = -1
            for asked in (*self._asked, *self._out):
                if not asked.answer.done():
                    asked.answer.set_exception(self.lost)
        self._asked.clear()
        self._out.clear()
        self._link.close()

    def end(self) -> None:
        """Give up the connection, from whatever thread."""
        if self._loop.is_running() and not _is_here(self._loop):
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self.lose, EOFError())
        else:
            self.lose(EOFError())

    def _whole(self, work: Callable[[], None]) -> None:
        """Do something wholly, or give up the connection."""
        if self.lost is not None:
            return
        try:
            try:
                work()
            except BaseException as error:
                self.lose(error if isinstance(error, CUT) else EOFError())
                if not isinstance(error, CUT):
                    raise
        except BaseException:
            self.lose(EOFError())
            raise

    def _send(self) -> None:
        """Send what was asked for in this turn of the loop."""
        self._will_send = False
        now = self._loop.time()
        if not self._asked:
            self._began = now
        many = list(self._out)
        self._asked.extend(many)
        self._out.clear()
        is_under_way = bool(self._unsent)
        self._unsent += b"".join([asked.data for asked in many])
        if not is_under_way:
            self._go_on_sending()
            if self._unsent:
                self._loop.add_writer(self._fd, self._whole, self._write)

    def _write(self) -> None:
        self._go_on_sending()
        if not self._unsent:
            self._loop.remove_writer(self._fd)

    def _go_on_sending(self) -> None:
        with contextlib.suppress(*self._not_yet):
            self._unsent = self._unsent[self._link.sock.send(self._unsent) :]

    def _receive(self, everything: bool = False) -> None:
        link = self._link
        with contextlib.suppress(*self._not_yet):
            while True:
                chunk = link.sock.recv(CHUNK)
                if not chunk:
                    raise EOFError
                link.reader.feed(chunk)
                while (reply := link.reader.gets()) is not False:
                    self._give(reply)
                if not everything and (self._pending is None or not self._pending()):
                    return

    def _give(self, reply: Any) -> None:
        """Give an answer to whoever has waited longest; who does not wait any more misses
        nothing."""
        if not self._asked:
            raise EOFError
        answer, count, _ = self._asked[0]
        if count > 1:
            self._came.append(reply)
            if len(self._came) < count:
                return
            reply, self._came = self._came, []
        if not answer.done():
            answer.set_result(reply)
        self._asked.popleft()
        self._began = self._loop.time()

    def _watch(self) -> None:
        """Give up the connection where an answer is late."""
        self._is_watched = False
        now = self._loop.time()
        if self._out:
            self._send()  # that was about to be done, and was cut off
        if self._unsent and now - self._due > self._timeout_s:
            self._began = now  # the loop was held up, and has not even sent everything
            self._go_on_sending()
        self._receive(everything=True)
        if self._asked:
            if self._began + self._timeout_s <= now:
                raise TimeoutError
            self._watch_until(self._began + self._timeout_s)

    def _watch_until(self, due: float) -> None:
        self._due = due
        self._loop.call_at(due, self._whole, self._watch)
        self._is_watched = True


def _is_here(loop: asyncio.AbstractEventLoop) -> bool:
    """Whether a loop runs in this thread."""
    try:
        return asyncio.get_running_loop() is loop
    except RuntimeError:
        return False


def _not_yet(link: RedisLink) -> tuple[type[OSError], ...]:
    """What a socket raises that is not ready."""
    if not hasattr(link.sock, "pending"):
        return (BlockingIOError,)
    import ssl

    return (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError)


WINDOW: Final = 256
"""How many commands of a loop are on their way at once; a server is through with that many in a
moment."""

Loop = asyncio.AbstractEventLoop


class Own:
    """What one loop has: a queue, and the connection behind it."""

    def __init__(self, loop: Loop, queue: VisitQueue) -> None:
        self.loop: Final = loop
        self.queue: Final = queue
        self.stream: RedisStream | None = None
        self.opening: asyncio.Future[RedisStream] | None = None


class RedisLoops:
    """The connections of all event loops. `StoreLost` where an answer does not come in time;
    `Crowded` where it cannot even be asked for, because others wait."""

    def __init__(self, pool: RedisPool) -> None:
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
            rest.check()
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

    async def _open(self, own: Own) -> RedisStream:
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

    def _connect(self, own: Own, opening: asyncio.Future[RedisStream]) -> None:
        made: RedisLink | BaseException
        try:
            made = self._pool.connect(time.monotonic() + self._pool.timeout_s)
        except BaseException as error:  # noqa: BLE001 - told to those who wait for the connection
            made = error
        try:
            own.loop.call_soon_threadsafe(_opened, own, opening, made, self._pool.timeout_s)
        except RuntimeError:
            if isinstance(made, RedisLink):
                made.close()

    def _enter(self, loop: Loop) -> Own:
        """What a loop has from now on; what closed loops had is let go of."""
        with self._lock:
            left = [self._owns.pop(other) for other in list(self._owns) if other.is_closed()]
            own = self._owns.setdefault(loop, Own(loop, VisitQueue(WINDOW, self._pool.room)))
        for one in left:
            if one.stream is not None:
                one.stream.end()
        return own


def _opened(
    own: Own,
    opening: asyncio.Future[RedisStream],
    made: RedisLink | BaseException,
    timeout_s: float,
) -> None:
    """Hand a connection to all who wait for it, or what became of it."""
    if opening.done():
        if isinstance(made, RedisLink):
            made.close()
        return
    try:
        if isinstance(made, BaseException):
            raise made
        stream = RedisStream(made, own.loop, timeout_s)
        if own.stream is not None:
            own.stream.end()
        own.stream = stream
        opening.set_result(stream)
    except BaseException as error:  # noqa: BLE001 - told to those who wait for the connection
        if isinstance(made, RedisLink):
            made.close()
        if not opening.done():
            opening.set_exception(error)
            opening.exception()  # looked at, so that nobody has to
    finally:
        if own.opening is opening:
            own.opening = None
