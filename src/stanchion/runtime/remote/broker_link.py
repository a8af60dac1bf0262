"""The link to a broker: a session that lives as long as the client, and connections for what it
says at a time."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import struct
from collections.abc import Callable, Generator
from typing import Any, Final

import msgspec

from stanchion import typed
from stanchion.locks import Lock
from stanchion.runtime.driving.flow import Flow, Invoke, T, TurnWait
from stanchion.runtime.remote.errors import BrokerLost, turned_away
from stanchion.runtime.remote.messages import LOST, VERSION, Hello, Reply, Sorry, Welcome

MAX_FRAME: Final = 16 * 1024 * 1024
"""How large one message may be."""
FIRST_FRAME: Final = 4_096
"""How large the first one may be, which comes before anybody is known."""
HEAD: Final = 4

_encode = msgspec.msgpack.Encoder().encode

Frames = Generator[bytes | int, bytes, bytes]
"""Yields bytes to send, or how many bytes are wanted; gets those."""


class BadFrame(Exception):
    """What came is no message, or what was to be sent cannot be one; the text says why."""


def packed(message: msgspec.Struct) -> bytes:
    """A message as it travels; `BadFrame` where it cannot."""
    try:
        body = _encode(message)
    except (TypeError, ValueError, OverflowError, RecursionError, msgspec.MsgspecError) as error:
        raise BadFrame(f"it cannot be sent: {error}") from None
    if len(body) > MAX_FRAME:
        raise BadFrame(f"it has {len(body):,} bytes, and a message has at most {MAX_FRAME:,}")
    return len(body).to_bytes(HEAD, "big") + body


def size_in(head: bytes, limit: int = MAX_FRAME) -> int:
    """How long the message is that these four bytes announce; `BadFrame` where it is too long."""
    size = int.from_bytes(head, "big")
    if not 0 < size <= limit:
        raise BadFrame(
            f"a message of {size:,} bytes is announced, and a message has 1 to {limit:,}"
        )
    return size


def unpacked(body: bytes, decoder: msgspec.msgpack.Decoder[Any]) -> Any:
    """The message in a frame; `BadFrame` where it is none of those that are known."""
    try:
        return decoder.decode(body)
    except (ValueError, RecursionError, OverflowError, msgspec.MsgspecError) as error:
        raise BadFrame(f"it is not a message: {error}") from None


def exchanged(frame: bytes) -> Frames:
    """Send a frame and receive the next one."""
    yield frame
    size = size_in((yield HEAD))
    return (yield size)


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


MOST_IDLE: Final = 16
"""How many connections wait for the next thing to say."""


class BrokerLink:
    """Reaches one broker. Safe between threads, event loops and forked processes."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._lock = Lock()
        self._anchor: Wire | None = None
        self._idle: list[Wire] = []
        self._pid = os.getpid()
        self._closed = False

    def at_hand(self) -> Wire | None:
        """A connection that nobody else uses, where there is one; never waits."""
        with self._lock.within(0) as held:
            if (
                not held
                or self._anchor is None
                or self._pid != os.getpid()
                or self._anchor.is_closed()
            ):
                return None
            return self._waiting()

    def wire(self) -> Wire:
        """A connection that nobody else uses, made where there is none; `BrokerLost` where none can
        be."""
        with self._lock:
            self._renew()
            wire, anchor = self._waiting(), self._anchor
            assert anchor is not None
        return connected(self.path, anchor.session) if wire is None else wire

    def _waiting(self) -> Wire | None:
        while self._idle:
            wire = self._idle.pop()
            if not wire.is_closed():
                return wire
            wire.close()
        return None

    def _renew(self) -> None:
        """Begin a session where there is none: at first, when the broker was restarted, and in a
        forked process, which is a client of its own and whose connections are its parent's."""
        if self._closed:
            raise BrokerLost("this shield is closed: load another one")
        if self._pid != os.getpid():
            self._anchor, self._idle, self._pid = None, [], os.getpid()
        if self._anchor is not None and self._anchor.is_closed():
            for wire in (self._anchor, *self._idle):
                wire.close()
            self._anchor, self._idle = None, []
        if self._anchor is None:
            self._anchor = connected(self.path)

    def back(self, wire: Wire) -> None:
        """Give a connection back that nothing more is said on."""
        with self._lock:
            anchor = self._anchor
            if (
                not self._closed
                and anchor is not None
                and wire.session == anchor.session
                and self._has_room()
            ):
                self._idle.append(wire)
                return
        wire.close()

    def _has_room(self) -> bool:
        return len(self._idle) < MOST_IDLE and self._pid == os.getpid()

    def close(self) -> None:
        """End the session, and with it what is left of its runs."""
        with self._lock:
            self._closed = True
            for wire in (*self._idle, *([] if self._anchor is None else [self._anchor])):
                wire.close()
            self._idle, self._anchor = [], None


class Conversation:
    """One thing that is asked, with whatever is said until it is answered."""

    def __init__(self, link: BrokerLink, wire: Wire) -> None:
        self._link, self.wire = link, wire

    def say(self, message: Any) -> Flow[Any]:
        """Say something and get the answer; `BrokerLost` where none comes."""
        answer = yield TurnWait(_Saying(self.wire, message), 0.0)
        return answer

    def ask(self, request: Any) -> Flow[Any]:
        """`say` for a request: one whose answer is lost on the way is asked for again by its id, of
        the same broker, which judges nothing twice."""
        first = self.wire
        try:
            return (yield from self.say(request))
        except BrokerLost:
            self.wire.close()
            self.wire = yield Invoke(self._link.wire)
            if (self.wire.boot, self.wire.session) != (first.boot, first.session):
                raise
        answer = yield from self.say(request)
        if isinstance(answer, Sorry) and answer.code == LOST:
            raise BrokerLost(answer.text)
        return answer

    def over(self) -> None:
        """Everything is said: the connection can be used again."""
        self._link.back(self.wire)

    def broken(self) -> None:
        """Something was left unsaid: nobody else can use the connection."""
        self.wire.close()


def conversed(link: BrokerLink, talk: Callable[[Conversation], Flow[T]]) -> Flow[T]:
    """Have a conversation; its connection is used again where it came to its end."""
    wire = link.at_hand()
    if wire is None:
        wire = yield Invoke(link.wire)
    conversation = Conversation(link, wire)
    try:
        answer = yield from talk(conversation)
    except BaseException:
        conversation.broken()
        raise
    conversation.over()
    return answer


class _Saying:
    """A message under way, for whichever driver waits for its answer: `Turn` is what both of them
    wait for."""

    def __init__(self, wire: Wire, message: Any) -> None:
        self._wire, self._message = wire, message

    def wait(self, _patience_s: float) -> Any:
        return self._wire.exchange(self._message)

    async def await_turn(self, _patience_s: float) -> Any:
        return await self._wire.aexchange(self._message)
