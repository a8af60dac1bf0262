"""One connection to a server: commands go out, answers come back in their order."""

from __future__ import annotations

import contextlib
import socket
import time
from typing import Any, Final

from stanchion.stores.protocol import StoreError

try:
    import hiredis
except ImportError as missing:
    raise StoreError(
        "a Redis store needs the package `hiredis`: install the extra `redis`"
    ) from missing

CUT: Final = (OSError, EOFError, hiredis.HiredisError)
"""What is raised where a connection is of no use any more."""

CHUNK: Final = 65_536


def command(*words: str | bytes) -> bytes:
    """A command as it goes over the wire."""
    packed: bytes = hiredis.pack_command(words)  # type: ignore[arg-type]  # its type names a tuple of one
    return packed


def left(deadline: float) -> float:
    """The seconds until a deadline; `TimeoutError` where there are none."""
    seconds = deadline - time.monotonic()
    if seconds <= 0:
        raise TimeoutError
    return seconds


class Link:
    """A socket and the reader of what comes from it; one thread uses it at a time.

    An error that the server answers is returned, not raised. After anything was raised the link is
    of no use.
    """

    __slots__ = ("_recv", "_send", "_timeout_s", "reader", "sock")

    def __init__(self, sock: socket.socket, timeout_s: float) -> None:
        self.sock: Final = sock
        self.reader: Final = hiredis.Reader()
        self._timeout_s = timeout_s
        self._send = sock.sendall
        self._recv = sock.recv
        sock.settimeout(timeout_s)

    def ask(self, data: bytes, deadline: float) -> Any:
        """Send a short command on a link that was idle, and wait for its answer as long as links
        wait."""
        self._send(data)
        chunk = self._recv(CHUNK)
        if not chunk:
            raise EOFError
        self.reader.feed(chunk)
        reply = self.reader.gets()
        return self._wait(1, deadline)[0] if reply is False else reply

    def ask_all(self, data: bytes, count: int, deadline: float) -> list[Any]:
        """Send commands and wait for all their answers until a deadline."""
        self.sock.settimeout(left(deadline))
        self._send(data)
        return self._wait(count, deadline)

    def close(self) -> None:
        """Close the socket."""
        with contextlib.suppress(OSError):
            self.sock.close()

    def _wait(self, count: int, deadline: float) -> list[Any]:
        replies: list[Any] = []
        while len(replies) < count:
            reply = self.reader.gets()
            if reply is not False:
                replies.append(reply)
                continue
            self.sock.settimeout(left(deadline))
            chunk = self._recv(CHUNK)
            if not chunk:
                raise EOFError
            self.reader.feed(chunk)
        self.sock.settimeout(self._timeout_s)
        return replies

    def __del__(self) -> None:
        if hasattr(self, "sock"):
            self.close()
