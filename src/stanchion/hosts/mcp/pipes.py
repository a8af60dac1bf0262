"""Pipes: messages as lines, read and written on the event loop without a thread, a task or a copy
for each of them."""

from __future__ import annotations

import asyncio
import io
from collections import deque
from typing import Any, Final

import anyio
import msgspec
from mcp.shared.message import SessionMessage
from mcp_types import PARSE_ERROR, ErrorData, JSONRPCError, jsonrpc_message_adapter

from stanchion.kernel.regex import regex

LONGEST: Final = 16 * 1024 * 1024
"""How many bytes a line may have."""
WAITING: Final = 256
"""How many lines are read ahead of whoever takes them."""
TOO_LONG: Final = f"it sent a message of more than {LONGEST >> 20} MiB"


UNREADABLE: Final = ErrorData(
    code=PARSE_ERROR, message="a message could not be read: it is nested too deeply, or is no JSON"
)
LAST: Final = 256
_ID: Final = r'"id"\s{0,9}:\s{0,9}("[^"\\]{1,128}"|\d{1,18})\s{0,9}'
_VERSION: Final = r'"jsonrpc"\s{0,9}:\s{0,9}"2.0"\s{0,9}'
_BEGINS: Final = regex(r"\s{0,9}\{\s{0,9}(?:" + _VERSION + r",\s{0,9})?" + _ID)
_ENDS: Final = regex(_ID + r"(?:,\s{0,9}" + _VERSION + r")?\}\s{0,9}$")
"""Where the id of a message stands whose middle cannot be read: at its begin, or at its end."""


class Incoming(asyncio.Protocol):
    """The messages that come by a pipe. It ends with the pipe, or with a line that does not;
    `trouble` says so then."""

    def __init__(self) -> None:
        self.trouble = ""
        self.answers: OutgoingPipe | None = None
        """Who is told that a message cannot be read; without one, whoever waits for it here is."""
        self._lines: deque[bytes] = deque()
        self._rest = bytearray()
        self._over = False
        self._waiter: asyncio.Future[None] | None = None
        self._transport: Any = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The pipe is there."""
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Some bytes have come."""
        if self._over:
            return  # only so that whoever writes can come to an end
        if b"\n" in data:
            whole, _, rest = data.rpartition(b"\n")
            self._lines.extend((bytes(self._rest) + whole).split(b"\n"))
            self._rest = bytearray(rest)
        else:
            self._rest += data
        if len(self._rest) > LONGEST:
            self.trouble = TOO_LONG
            self.end()
        elif len(self._lines) > WAITING:
            self._transport.pause_reading()
        self._wake()

    def eof_received(self) -> None:
        """Whoever writes has ended."""
        if self._rest and not self._over:
            self._lines.append(bytes(self._rest))
        self.end()

    def connection_lost(self, exc: Exception | None) -> None:
        """The pipe is gone."""
        self.end()

    def end(self) -> None:
        """Take nothing more; what has come is still given, and what comes is thrown away."""
        self._over, self._rest = True, bytearray()
        if self._transport is not None and not self._transport.is_closing():
            self._transport.resume_reading()
        self._wake()

    def shut(self) -> None:
        """Close the pipe."""
        self._transport.close()

    async def receive(self) -> SessionMessage | Exception:
        """The next message, or what is wrong with it; raises `EndOfStream`."""
        while not self._lines:
            if self._over:
                raise anyio.EndOfStream
            self._waiter = asyncio.get_running_loop().create_future()
            await self._waiter
        line = self._lines.popleft()
        if not self._lines and not self._over:
            self._transport.resume_reading()
        text = line.decode(errors="replace")
        try:
            return SessionMessage(jsonrpc_message_adapter.validate_json(text, by_name=False))
        except ValueError as error:
            return await self._unread(text, error)

    async def _unread(self, line: str, error: Exception) -> SessionMessage | Exception:
        """What a line stands for that cannot be read: whoever waits for an answer gets one."""
        begun, ended = _BEGINS.match(line), _ENDS.search(line[-LAST:])
        number = begun if begun is not None else ended
        if number is None:
            return error
        said = JSONRPCError(jsonrpc="2.0", id=msgspec.json.decode(number[1]), error=UNREADABLE)
        if self.answers is None:
            return SessionMessage(said)
        await self.answers.send(SessionMessage(said))
        return error

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def __aiter__(self) -> Incoming:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def aclose(self) -> None:
        """Take nothing more."""
        self.end()

    async def __aenter__(self) -> Incoming:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


class OutgoingPipe(asyncio.Protocol):
    """The messages that go by a pipe. Where its reader is slow, whoever sends waits; where it is
    gone, `then` ends."""

    def __init__(self, then: Incoming | None = None) -> None:
        self._then = then
        self._transport: Any = None
        self._room = asyncio.Event()
        self._room.set()
        self._over = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The pipe is there."""
        self._transport = transport

    def pause_writing(self) -> None:
        """The reader is slow."""
        self._room.clear()

    def resume_writing(self) -> None:
        """The reader has caught up."""
        self._room.set()

    def connection_lost(self, exc: Exception | None) -> None:
        """The reader is gone."""
        self._over = True
        self._room.set()
        if self._then is not None:
            self._then.end()

    async def send(self, item: SessionMessage) -> None:
        """Send a message; raises `BrokenResourceError`."""
        await self.write(item.message.model_dump_json(by_alias=True, exclude_unset=True).encode())

    async def write(self, line: bytes) -> None:
        """Send a line. Once it is handed over it goes out as a whole, whoever stops waiting."""
        if self._over:
            raise anyio.BrokenResourceError
        self._transport.write(line + b"\n")
        if not self._room.is_set():
            await self._room.wait()

    async def shut(self, within_s: float) -> None:
        """Close the pipe once what was sent has gone out, and after so long in any case."""
        with anyio.move_on_after(within_s):
            while not self._over and self._transport.get_write_buffer_size():
                await anyio.sleep(0.01)
        if not self._over:
            self._transport.abort()

    async def aclose(self) -> None:
        """Whoever opened the pipe shuts it."""

    async def __aenter__(self) -> OutgoingPipe:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


async def reading(descriptor: int) -> Incoming:
    """Read messages from a pipe or a socket, until it is shut."""
    _, incoming = await asyncio.get_running_loop().connect_read_pipe(
        Incoming, io.FileIO(descriptor, "rb")
    )
    return incoming


async def writing(descriptor: int, then: Incoming | None = None) -> OutgoingPipe:
    """Write messages to a pipe or a socket, until it is shut."""
    loop = asyncio.get_running_loop()
    _, outgoing = await loop.connect_write_pipe(
        lambda: OutgoingPipe(then), io.FileIO(descriptor, "wb")
    )
    return outgoing
