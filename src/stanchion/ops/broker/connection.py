"""One connection of a client: frames in and out, each in time and within its size."""

from __future__ import annotations

import os
import socket
import threading
from collections import Counter, OrderedDict
from time import monotonic
from typing import Any, Final

from stanchion import typed
from stanchion.ops.broker.peers import Peer, give_back_memory
from stanchion.ops.broker.remote_tool import Gone
from stanchion.runtime.remote.broker_link import (
    FIRST_FRAME,
    HEAD,
    MAX_FRAME,
    BadFrame,
    packed,
    size_in,
    unpacked,
)
from stanchion.runtime.remote.messages import LOST, CallOutcome, Hello, Request, Sorry

FRAME_S: Final = 30.0
"""How long a frame may take, from its first byte to its last; also the first one, from the
connection on."""
MOST_BYTES: Final = 64 * 1024 * 1024
"""How many bytes of one user may be under way at a time."""
LARGE: Final = 128 * 1024
"""From how many bytes on messages of a user are taken in one after the other: reading and judging
such a one takes many times its size in memory."""

HELLO: Final = typed.unpacker(Hello)
REQUEST: Final = typed.unpacker(Request)
OUTCOME: Final = typed.unpacker(CallOutcome)


class TooMuchUnderWay(BadFrame):
    """So much of this user is under way that nothing more is taken in; the text says how much."""


class Load:
    """How much of each user is under way in memory, and whose turn it is with a large message."""

    def __init__(self, most: int = MOST_BYTES) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._bytes: Counter[int] = Counter()
        self.turn = threading.Lock()
        """Held by the connection whose large message is read and judged."""

    def take(self, uid: int, size: int) -> bool:
        """Make room for a message; false where there is none."""
        with self._lock:
            if self._bytes[uid] + size > self._most:
                return False
            self._bytes[uid] += size
            return True

    def give_back(self, uid: int, size: int) -> None:
        """A message was answered."""
        with self._lock:
            self._bytes[uid] -= size
            if not self._bytes[uid]:
                del self._bytes[uid]


class Connection:
    """Receives and sends messages. What is broken, too large, too slow or half raises `BadFrame`,
    the end `Gone`."""

    def __init__(self, sock: socket.socket, uid: int, load: Load, frame_s: float = FRAME_S) -> None:
        self._sock, self._uid, self._load, self._frame_s = sock, uid, load, frame_s
        self._taken = 0
        self._is_large = self._has_turn = False

    def hello(self) -> Hello:
        """The first message."""
        hello: Hello = unpacked(self._frame(FIRST_FRAME, monotonic() + self._frame_s), HELLO)
        return hello

    def request(self) -> Any:
        """The next thing that is asked for; waits for it as long as the client is there."""
        self.answered()
        return unpacked(self._frame(MAX_FRAME), REQUEST)

    def outcome(self) -> CallOutcome:
        """What came of what the client was told to run."""
        outcome: CallOutcome = unpacked(self._frame(MAX_FRAME), OUTCOME)
        return outcome

    def answered(self) -> None:
        """What was received is done with."""
        taken, self._taken = self._taken, 0
        if taken:
            self._load.give_back(self._uid, taken)
        if self._is_large:
            give_back_memory()
            self._is_large = False
            self.pass_turn()

    def take_turn(self) -> None:
        """Wait until no other large message of this user is worked on, where this is one."""
        if self._is_large and not self._has_turn:
            self._load.turn.acquire()
            self._has_turn = True

    def pass_turn(self) -> None:
        """Let other large messages go on: for this one somebody else does something now."""
        if self._has_turn:
            self._has_turn = False
            self._load.turn.release()

    def send(self, frame: bytes) -> None:
        """Send a frame; a client that does not take it in time has gone."""
        try:
            self._sock.settimeout(self._frame_s)
            self._sock.sendall(frame)
        except OSError as error:
            raise Gone from error

    def sorry(self, why: str, code: str = "") -> None:
        """Say why the connection ends, where anybody listens."""
        try:
            self.send(packed(Sorry(why, code)))
        except Gone:
            return

    def gone(self) -> bool:
        """Whether the client has hung up."""
        try:
            self._sock.setblocking(False)
            return self._sock.recv(1, socket.MSG_PEEK) == b""
        except BlockingIOError:
            return False
        except OSError:
            return True

    def hang_up(self) -> None:
        """End it, whoever is waiting for something on it."""
        try:
            self._sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            return

    def close(self) -> None:
        """Let go of it."""
        self.answered()
        self._sock.close()

    def _frame(self, limit: int, until: float | None = None) -> bytes:
        first = self._received(1, until)
        until = monotonic() + self._frame_s if until is None else until
        size = size_in(first + self._received(HEAD - 1, until), limit)
        if size > LARGE:
            # What has no turn yet stays with the client: here it would fill the memory.
            self._is_large = True
            self.take_turn()
            until = monotonic() + self._frame_s
        if not self._load.take(self._uid, size):
            raise TooMuchUnderWay(
                f"more than {MOST_BYTES:,} bytes of user {self._uid} are in transit: try again "
                f"later"
            )
        self._taken += size
        return self._received(size, until)

    def _received(self, size: int, until: float | None) -> bytes:
        parts = bytearray()
        while len(parts) < size:
            left = None if until is None else until - monotonic()
            if left is not None and left <= 0:
                raise BadFrame(f"a message took longer than {self._frame_s:g} s")
            try:
                self._sock.settimeout(left)
                part = self._sock.recv(min(size - len(parts), 1 << 16))
            except TimeoutError:
                raise BadFrame(f"a message took longer than {self._frame_s:g} s") from None
            except OSError as error:
                raise Gone from error
            if not part:
                raise Gone
            parts += part
        return bytes(parts)


MOST_REMEMBERED: Final = 256
MOST_REMEMBERED_BYTES: Final = 1 << 20
"""How many answers are remembered, and how many bytes of them."""

NOT_AGAIN: Final = packed(Sorry("this was asked before, and its answer is no longer known", LOST))
UNDER_WAY: Final = packed(Sorry("this was asked before, and is still being judged", LOST))


class FirstAnswers:
    """The first answers to what was asked lately. Nothing is judged twice for the same request."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._answers: OrderedDict[str, bytes] = OrderedDict()
        self._under_way: set[str] = set()
        self._bytes = 0

    def first(self, request: str) -> bytes | None:
        """The answer to a request that was asked before; `None` where it is new, and now under
        way."""
        with self._lock:
            if request in self._under_way:
                return UNDER_WAY
            known = self._answers.get(request)
            if known is None:
                self._under_way.add(request)
            return known

    def answered(self, request: str, frame: bytes | None) -> None:
        """Remember an answer; without one, that there is none."""
        kept = NOT_AGAIN if frame is None or len(frame) > MOST_REMEMBERED_BYTES // 8 else frame
        with self._lock:
            self._under_way.discard(request)
            self._answers[request] = kept
            self._bytes += len(kept)
            while len(self._answers) > MOST_REMEMBERED or self._bytes > MOST_REMEMBERED_BYTES:
                self._bytes -= len(self._answers.popitem(last=False)[1])


class BrokerSession:
    """One client: the user it belongs to, and what it was answered."""

    def __init__(self, uid: int) -> None:
        self.uid, self.token = uid, os.urandom(32)
        self.remembered = FirstAnswers()
        self.over = False


class Sessions:
    """Knows the clients."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: dict[bytes, BrokerSession] = {}

    def begin(self, peer: Peer) -> BrokerSession:
        """A session for a client that is new."""
        session = BrokerSession(peer.uid)
        with self._lock:
            self._open[session.token] = session
        return session

    def joined(self, token: bytes, peer: Peer) -> BrokerSession | None:
        """The session that a connection says it belongs to; `None` where it does not."""
        session = self._open.get(token)
        return session if session is not None and session.uid == peer.uid else None

    def end(self, session: BrokerSession) -> None:
        """Forget a session."""
        session.over = True
        with self._lock:
            self._open.pop(session.token, None)
