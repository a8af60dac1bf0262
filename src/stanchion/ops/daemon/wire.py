"""One connection of a hook: requests of HTTP/1.1 as hosts send them, and nothing more of it."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from http import HTTPStatus
from time import monotonic
from typing import Final, NamedTuple

MOST_HEAD: Final = 16 << 10
MOST_BODY: Final = 16 << 20
"""How many bytes a request has at most."""
SENDING_S: Final = 10.0
"""How long a request, or an answer, may take from its first byte to its last."""


class TurnedDown(Exception):
    """A request that is not heard; the text says why. `again`: nobody has read it, and it may be
    sent to the daemon that comes next."""

    def __init__(self, status: int, why: str, again: bool = False) -> None:
        super().__init__(why)
        self.status, self.again = status, again


class HungUp(Exception):
    """The other end has gone."""


class HookRequest(NamedTuple):
    """What was sent, without its body."""

    method: str
    path: str
    headers: Mapping[str, str]
    length: int


class HookWire:
    """Receives requests and sends answers. Whoever is broken, too large or slow is `TurnedDown`."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock, self.is_local = sock, sock.family == socket.AF_UNIX
        self.is_busy = False
        """Whether a request is answered."""
        self._rest = bytearray()
        self._passed: list[int] = []

    def head(self, first_s: float | None) -> HookRequest:
        """The next request, whose first byte is waited for that long."""
        if not self._rest:
            self._more(None if first_s is None else monotonic() + first_s)
        until = monotonic() + SENDING_S
        while (end := self._rest.find(b"\r\n\r\n")) < 0:
            if len(self._rest) > MOST_HEAD:
                raise TurnedDown(413, "the head of the request is larger than 16 KiB")
            self._more(until)
        first, *lines = bytes(self._rest[:end]).decode("latin-1").split("\r\n")
        del self._rest[: end + 4]
        method, _, rest = first.partition(" ")
        path, _, version = rest.partition(" ")
        headers: dict[str, str] = {}
        for line in lines:
            name, colon, value = line.partition(":")
            if not colon or name != name.strip() or name.lower() in headers:
                raise TurnedDown(400, f"`{name[:64]}` is no header, or is there twice")
            headers[name.lower()] = value.strip()
        length = headers.get("content-length", "0" if method == "GET" else "")
        if version not in ("HTTP/1.1", "HTTP/1.0"):
            raise TurnedDown(400, "this is no request of HTTP/1.1")
        if "transfer-encoding" in headers or not length.isascii() or not length.isdecimal():
            raise TurnedDown(411, "the request does not say its length: send `Content-Length`")
        return HookRequest(method, path, headers, int(length[:12]))

    def body(self, size: int, most: int = MOST_BODY) -> bytes:
        """The body of a request whose head was read."""
        if size > most:
            raise TurnedDown(413, f"the body is larger than {most:,} bytes")
        until = monotonic() + SENDING_S
        while len(self._rest) < size:
            self._more(until)
        found = bytes(self._rest[:size])
        del self._rest[:size]
        return found

    def passed(self) -> socket.socket | None:
        """The standard input that came with a request, if it is a socket."""
        file = self._passed.pop() if self._passed else -1
        try:
            return socket.socket(fileno=file) if file >= 0 else None
        except OSError:
            os.close(file)
            return None

    def send(self, status: int, body: bytes, *headers: str) -> None:
        """Answer; a client that does not take it in time has gone."""
        first = f"HTTP/1.1 {status} {HTTPStatus(status).phrase}"
        head = [first, f"Content-Length: {len(body)}", *headers, "", ""]
        try:
            self.sock.settimeout(SENDING_S)
            self.sock.sendall("\r\n".join(head).encode("latin-1") + body)
        except OSError as error:
            raise HungUp from error

    def hang_up(self) -> None:
        """End it, whoever waits for something on it."""
        with suppress(OSError):
            self.sock.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Let go of it, and of what came with it."""
        while self._passed:
            os.close(self._passed.pop())
        self.sock.close()

    def _more(self, until: float | None) -> None:
        part = timely(self.sock, until, self._received)
        if not part:
            raise HungUp
        self._rest += part

    def _received(self, size: int) -> bytes:
        if not self.is_local:
            return self.sock.recv(size)
        part, files, _, _ = socket.recv_fds(self.sock, size, 4, socket.MSG_CMSG_CLOEXEC)
        self._passed += files
        while len(self._passed) > 1:
            os.close(self._passed.pop(0))
        return part


def timely(sock: socket.socket, until: float | None, receive: Callable[[int], bytes]) -> bytes:
    """What comes next, until a moment."""
    left = None if until is None else until - monotonic()
    try:
        if left is not None and left <= 0:
            raise TimeoutError
        sock.settimeout(left)
        return receive(1 << 16)
    except TimeoutError:
        raise TurnedDown(408, f"the request took longer than {SENDING_S:g} s") from None
    except OSError as error:
        raise HungUp from error


def whole(sock: socket.socket, most: int) -> bytes:
    """All that a hook's standard input holds, to its end."""
    until, parts = monotonic() + SENDING_S, bytearray()
    while part := timely(sock, until, sock.recv):
        parts += part
        if len(parts) > most:
            raise TurnedDown(413, f"the hook says more than {most:,} bytes at once")
    return bytes(parts)
