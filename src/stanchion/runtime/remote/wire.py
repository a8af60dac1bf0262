"""A connection to a broker, for sync and for async code: frames in, frames out."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
from collections.abc import Generator
from typing import Any, Final

from stanchion import typed
from stanchion.runtime.remote.errors import BrokerLost, turned_away
from stanchion.runtime.remote.framing import BadFrame, exchanged, packed, unpacked
from stanchion.runtime.remote.messages import VERSION, Hello, Reply, Sorry, Welcome

CONNECT_S: Final = 10.0
"""How long a broker has to welcome a client."""
LONGEST_CONNECT: Final = struct.pack("ll", int(CONNECT_S), 0)
"""The same, as a socket takes it."""

_replies: Final = typed.unpacker(Reply)


class Wire:
    """One connection, used by one conversation at a time."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self.boot = ""
        self.session = b""

    def exchange(self, message: Any, timeout_s: float | None = None) -> Any:
        """Say something and wait for the answer; `BrokerLost` where none comes, or not in time."""
        return self._understood(self._sync(exchanged(packed(message)), timeout_s))

    async def aexchange(self, message: Any) -> Any:
        """`exchange` on the running event loop."""
        return self._understood(await self._async(exchanged(packed(message))))

    def is_closed(self) -> bool:
        """Whether the other side has gone, or says something that nobody asked for."""
        self._sock.setblocking(False)
        try:
            self._sock.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return False
        except OSError:
            return True
        return True

    def option(self, level: int, name: int, size: int) -> bytes:
        """What the system says of the connection."""
        return self._sock.getsockopt(level, name, size)

    def close(self) -> None:
        """Hang up."""
        self._sock.close()

    def greeted(self, session: bytes) -> Wire:
        """Introduce oneself; gives this connection."""
        self._sock.settimeout(CONNECT_S)
        hello = exchanged(packed(Hello(VERSION, session)))
        self._welcomed(self._understood(self._sync(hello, CONNECT_S)))
        return self

    def _welcomed(self, answer: Any) -> None:
        if isinstance(answer, Sorry):
            raise turned_away(answer)
        if not isinstance(answer, Welcome):
            raise BrokerLost("what listens there is not a broker")
        self.boot, self.session = answer.boot, answer.session

    def _understood(self, body: bytes) -> Any:
        try:
            return unpacked(body, _replies)
        except BadFrame as error:
            raise BrokerLost(f"its answer cannot be read: {error}") from None

    def _sync(
        self, frames: Generator[bytes | int, bytes, bytes], timeout_s: float | None = None
    ) -> bytes:
        self._sock.settimeout(timeout_s)
        given = b""
        try:
            need = next(
                frames
            )  # no flow: it asks for bytes, and both drivers stand above a connection
            while True:
                if isinstance(need, bytes):
                    # A broker that turns a client away says why first: that can still be read.
                    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                        self._sock.sendall(need)
                    given = b""
                else:
                    given = self._received(need)
                need = frames.send(given)
        except StopIteration as done:
            body: bytes = done.value
            return body
        except TimeoutError:
            raise BrokerLost("it has not answered in time") from None
        except (OSError, BadFrame) as error:
            raise BrokerLost(f"the connection broke: {error}") from None

    def _received(self, size: int) -> bytes:
        parts = bytearray()
        while len(parts) < size:
            part = self._sock.recv(min(size - len(parts), 1 << 20))
            if not part:
                raise BrokerLost("it closed the connection")
            parts += part
        return bytes(parts)

    async def _async(self, frames: Generator[bytes | int, bytes, bytes]) -> bytes:
        loop = asyncio.get_running_loop()
        self._sock.setblocking(False)
        try:
            need = next(frames)
            while True:
                given = bytearray()
                if isinstance(need, bytes):
                    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                        await loop.sock_sendall(self._sock, need)
                else:
                    while len(given) < need:
                        part = await loop.sock_recv(self._sock, min(need - len(given), 1 << 20))
                        if not part:
                            raise BrokerLost("it closed the connection")
                        given += part
                need = frames.send(bytes(given))
        except StopIteration as done:
            body: bytes = done.value
            return body
        except (OSError, BadFrame) as error:
            raise BrokerLost(f"the connection broke: {error}") from None


def connected(path: str, session: bytes = b"") -> Wire:
    """A connection to the broker that listens there; without a session it begins one."""
    if not hasattr(socket, "AF_UNIX"):
        raise BrokerLost("a broker listens on a unix socket, and this system has none")
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        # A socket that Python does not wait for is turned away where others stand in line; this
        # one stands in it.
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, LONGEST_CONNECT)
        sock.connect(path)
        return Wire(sock).greeted(session)
    except BaseException as error:
        sock.close()
        if isinstance(error, OSError):
            raise BrokerLost(f"no answer: {error.strerror or error}") from None
        raise
