"""Wires: connections of the door, read ahead no further than a head, and what is moved from one to
another at the pace of whoever takes it."""

from __future__ import annotations

import asyncio
import fcntl
import os
import re
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

PIECE: Final = 65_536
BULK: Final = 1 << 20
"""So much is moved at once without being copied."""
LAST_S: Final = 2.0
LAST_BYTES: Final = 1 << 24
"""For how long, and how much, a program may go on after it was refused."""
TURNS: Final = 8
"""After so many of these it is the turn of others."""
MOST_PIPES: Final = 64
"""How many connections move their bytes without copies at once."""
LONGEST_MARK: Final = 4
AT_ONCE: Final = os.SPLICE_F_NONBLOCK | os.SPLICE_F_MOVE

HTTP, SOCKS, TLS = "HTTP", "SOCKS", "TLS"
"""What may be spoken on a connection, and so what is answered where it does not go on."""

Meter = Callable[[int], None]
"""Counts bytes; raises where there may be no more."""


class BrokenWire(OSError):
    """A connection ended before what was announced had come."""


class DoorWire:
    """A plain connection on the running event loop."""

    plain = True

    def __init__(self, sock: socket.socket, speaks: str = "", address: str = "") -> None:
        sock.setblocking(False)
        self.sock, self.speaks, self.address = sock, speaks, address
        """What is spoken on it as far as it goes, and the address that it leads to."""
        self.ahead = bytearray()
        """What was read and is yet to be taken."""
        self.proven = ""
        """The host that the other end has shown, by TLS, to be; empty where nobody has asked."""
        self.loop = asyncio.get_running_loop()

    def ready(self, most: int | None) -> bytes:
        """What was read ahead, and is taken now."""
        found = bytes(self.ahead[:most])
        del self.ahead[:most]
        return found

    async def receive(self, most: int) -> bytes:
        """Some of what comes; empty at the end."""
        return self.ready(most) if self.ahead else await self._received(most)

    async def _received(self, most: int) -> bytes:
        return await self.loop.sock_recv(self.sock, most)

    async def send(self, data: bytes) -> None:
        """Send all of it."""
        await self.loop.sock_sendall(self.sock, data)

    async def more(self) -> bool:
        """Read ahead; says whether anything came."""
        came = await self._received(PIECE)
        self.ahead += came
        return bool(came)

    async def until(self, mark: re.Pattern[bytes], longest: int) -> bytes | None:
        """What comes up to a mark, the mark included; `None` where the connection ends before
        anything came. `BrokenWire` where it ends or goes on too long without the mark."""
        start = 0
        while (found := mark.search(self.ahead, start)) is None:
            start = max(0, len(self.ahead) - LONGEST_MARK)
            if len(self.ahead) > longest:
                raise BrokenWire(f"more than {longest} bytes came without an end")
            if not await self.more():
                if not self.ahead:
                    return None
                raise BrokenWire("it ended in the middle")
        taken = bytes(self.ahead[: found.end()])
        del self.ahead[: found.end()]
        return taken

    async def exactly(self, count: int) -> bytes:
        """So many bytes; `BrokenWire` where fewer come."""
        while len(self.ahead) < count:
            if not await self.more():
                raise BrokenWire("it ended in the middle")
        found = bytes(self.ahead[:count])
        del self.ahead[:count]
        return found

    def waits(self) -> bool:
        """Whether it is open, and nothing has come that nobody has asked for."""
        try:
            self.sock.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return not self.ahead
        except OSError:
            pass
        return False

    def finish(self) -> None:
        """Say that nothing more will be sent."""
        with suppress(OSError):
            self.sock.shutdown(socket.SHUT_WR)

    async def let_go(self) -> None:
        """End a connection so that what was said last is heard: what still comes is taken, and
        thrown away, for a while."""
        self.finish()
        left = LAST_BYTES
        with suppress(TimeoutError):
            async with asyncio.timeout(LAST_S):
                while left > 0 and (came := await self._received(PIECE)):
                    left -= len(came)

    def close(self) -> None:
        """Let go of the connection."""
        self.sock.close()


class TlsWire(DoorWire):
    """A connection that the door itself has opened with TLS."""

    plain = False

    def __init__(self, wire: DoorWire, streams: Any, proven: str) -> None:
        super().__init__(wire.sock, wire.speaks, wire.address)
        self.proven = proven
        self._reader, self._writer = streams

    async def _received(self, most: int) -> bytes:
        found: bytes = await self._reader.read(most)
        return found

    async def send(self, data: bytes) -> None:
        """Send all of it."""
        self._writer.write(data)
        await self._writer.drain()

    def waits(self) -> bool:
        """The same as far as TLS tells."""
        return not self.ahead and not self._reader.at_eof() and not self._writer.is_closing()

    def finish(self) -> None:
        """TLS has no half of a connection to end."""

    def close(self) -> None:
        """Let go of the connection."""
        self._writer.transport.abort()


async def move(source: DoorWire, target: DoorWire, count: int | None, meter: Meter) -> None:
    """Move so many bytes, or all that come until the end, at the pace of the one who takes them."""
    left = count
    while left is None or left > 0:
        most = PIECE if left is None else min(PIECE, left)
        data = await source.receive(most)
        if not data:
            if left is None:
                return
            raise BrokenWire("it ended in the middle")
        meter(len(data))
        await target.send(data)
        left = None if left is None else left - len(data)
        if len(data) == PIECE and source.plain and target.plain and not source.ahead:
            left = await _spliced(source, target, left, meter)


_pipes: Final[set[int]] = set()


async def _spliced(
    source: DoorWire, target: DoorWire, left: int | None, meter: Meter
) -> int | None:
    """Move bytes within the kernel; gives what is left of them."""
    if len(_pipes) >= MOST_PIPES:
        await asyncio.sleep(0)
        return left
    out, into = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
    _pipes.add(out)
    turn = 0
    try:
        with suppress(OSError):  # a user has only so much room for large pipes
            fcntl.fcntl(into, fcntl.F_SETPIPE_SZ, BULK)
        while left is None or left > 0:
            most = BULK if left is None else min(BULK, left)
            try:
                held = os.splice(source.sock.fileno(), into, most, flags=AT_ONCE)
            except BlockingIOError:
                await _ready(source, source.loop.add_reader, source.loop.remove_reader)
                continue
            if not held:
                return left
            meter(held)
            left = None if left is None else left - held
            while held:
                try:
                    held -= os.splice(out, target.sock.fileno(), held, flags=AT_ONCE)
                except BlockingIOError:
                    await _ready(target, target.loop.add_writer, target.loop.remove_writer)
            turn += 1
            if turn % TURNS == 0:
                await asyncio.sleep(0)
        return left
    finally:
        _pipes.discard(out)
        os.close(out)
        os.close(into)


async def _ready(wire: DoorWire, add: Callable[..., None], remove: Callable[[int], bool]) -> None:
    """Wait until a connection has something to read, or room to write."""
    number, ready = wire.sock.fileno(), wire.loop.create_future()
    add(number, lambda: None if ready.done() else ready.set_result(None))
    try:
        await ready
    finally:
        remove(number)


async def tunnel(
    inner: DoorWire, outer: DoorWire, sent: Meter, received: Meter, idle_s: float
) -> None:
    """Join two connections until both have ended, or nothing has moved either way for so long."""
    moved = 0

    def counted(meter: Meter) -> Meter:
        def count(size: int) -> None:
            nonlocal moved
            moved += size
            meter(size)

        return count

    async def one_way(source: DoorWire, target: DoorWire, meter: Meter) -> None:
        await move(source, target, None, counted(meter))
        target.finish()

    ways = [
        asyncio.ensure_future(one_way(inner, outer, sent)),
        asyncio.ensure_future(one_way(outer, inner, received)),
    ]
    try:
        before = -1
        while before != moved:
            before = moved
            done, waiting = await asyncio.wait(
                ways, timeout=idle_s, return_when=asyncio.FIRST_EXCEPTION
            )
            for way in done:
                way.result()
            if not waiting:
                return
    finally:
        for way in ways:
            way.cancel()
        await asyncio.gather(*ways, return_exceptions=True)
