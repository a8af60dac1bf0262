"""One connection of a hook: requests of HTTP/1.1 as hosts send them, and nothing more of it."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from time import monotonic
from typing import Final, NamedTuple

MOST_HEAD: Final = 16 << 10
MOST_BODY: Final = 16 << 20
"""How many bytes a request has at most."""
SENDING_S: Final = 10.0
"""How long a request, or an answer, may take from its first byte to its last."""
REASONS: Final = {
    200: "OK",
    400: "Bad Request",
    403: "Forbidden",
    404: "Not Found",
    408: "Request Timeout",
    411: "Length Required",
    413: "Content Too Large",
    415: "Unsupported Media Type",
    426: "Upgrade Required",
    503: "Service Unavailable",
}


class Unfit(Exception):
    """A request that is not answered as a hook; the text says why. `again`: nobody has read it, and
    it may be sent to the daemon that comes next."""

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
    """Receives requests and sends answers. Whoever is broken, too large or too slow is `Unfit`."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._local = sock.family == getattr(socket, "AF_UNIX", None)
        self._rest = bytearray()
        self._passed: list[int] = []

    def head(self, first_s: float | None) -> HookRequest:
        """The next request, whose first byte is waited for that long."""
        if not self._rest:
            self._more(None if first_s is None else monotonic() + first_s)
        until = monotonic() + SENDING_S
        while (end := self._rest.find(b"\r\n\r\n")) < 0:
            if len(self._rest) > MOST_HEAD:
                raise Unfit(413, "the head of the request is larger than 16 KiB")
            self._more(until)
        lines = bytes(self._rest[:end]).decode("latin-1").split("\r\n")
        del self._rest[: end + 4]
        words = lines[0].split(" ")
        if len(words) != 3 or not words[2].startswith("HTTP/1."):
            raise Unfit(400, "this is no request of HTTP/1.1")
        headers: dict[str, str] = {}
        for line in lines[1:]:
            name, colon, value = line.partition(":")
            if not colon or name != name.strip() or name.lower() in headers:
                raise Unfit(400, f"the header `{name[:64]}` is no header, or is there twice")
            headers[name.lower()] = value.strip()
        length = headers.get("content-length", "")
        if "transfer-encoding" in headers or (words[0] == "POST" and not length):
            raise Unfit(411, "the request does not say its length: send `Content-Length`")
        if length and not (length.isascii() and length.isdecimal()):
            raise Unfit(400, "`Content-Length` is not a number")
        size = int(length[:12]) if length else 0
        if size > MOST_BODY:
            raise Unfit(413, "the body is larger than 16 MiB")
        return HookRequest(words[0], words[1], headers, size)

    def body(self, size: int) -> bytes:
        """The body of a request that was read so far."""
        until = monotonic() + SENDING_S
        while len(self._rest) < size:
            self._more(until)
        found = bytes(self._rest[:size])
        del self._rest[:size]
        return found

    def passed(self) -> socket.socket | None:
        """The standard input that came with a request, if it is a socket."""
        if not self._passed:
            return None
        file = self._passed.pop()
        try:
            return socket.socket(fileno=file)
        except OSError:
            os.close(file)
            return None

    def send(self, status: int, body: bytes, kind: str, *more: str) -> None:
        """Answer; a client that does not take it in time has gone."""
        head = [
            f"HTTP/1.1 {status} {REASONS[status]}",
            f"Content-Type: {kind}",
            f"Content-Length: {len(body)}",
            *more,
        ]
        try:
            self._sock.settimeout(SENDING_S)
            self._sock.sendall("\r\n".join([*head, "", ""]).encode("latin-1") + body)
        except OSError as error:
            raise HungUp from error

    def close(self) -> None:
        """Let go of it, and of what came with it."""
        while self._passed:
            os.close(self._passed.pop())
        self._sock.close()

    def _more(self, until: float | None) -> None:
        part = timely(self._sock, until, self._received)
        if not part:
            raise HungUp
        self._rest += part

    def _received(self, size: int) -> bytes:
        if not self._local:
            return self._sock.recv(size)
        part, files, _, _ = socket.recv_fds(self._sock, size, 4, socket.MSG_CMSG_CLOEXEC)
        self._passed += files
        while len(self._passed) > 1:
            os.close(self._passed.pop(0))
        return part


def timely(sock: socket.socket, until: float | None, receive: Callable[[int], bytes]) -> bytes:
    """What comes next, until a moment."""
    left = None if until is None else until - monotonic()
    if left is not None and left <= 0:
        raise Unfit(408, f"the request took longer than {SENDING_S:g} s")
    try:
        sock.settimeout(left)
        return receive(1 << 16)
    except TimeoutError:
        raise Unfit(408, f"the request took longer than {SENDING_S:g} s") from None
    except OSError as error:
        raise HungUp from error


def whole(sock: socket.socket) -> bytes:
    """All that a hook's standard input holds, to its end."""
    until, parts = monotonic() + SENDING_S, bytearray()
    while part := timely(sock, until, sock.recv):
        parts += part
        if len(parts) > MOST_BODY:
            raise Unfit(413, "the host says more than 16 MiB at once")
    return bytes(parts)


def hang_up(sock: socket.socket) -> None:
    """End a connection, whoever waits for something on it."""
    with suppress(OSError):
        sock.shutdown(socket.SHUT_RDWR)
