"""A proxy before a PostgreSQL server that counts trips, and loses what tests want lost."""

import contextlib
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from threading import Thread


class Mode(Enum):
    """What becomes of what the server says."""

    PASS = "it arrives"
    CUT = "it is lost, and the connection with it"
    SWALLOW = "it is lost, and the connection stays"


class Proxy:
    """Listens on a port of its own. What is asked always reaches the server, unless it is
    frozen."""

    def __init__(self, port: int) -> None:
        self._to = ("127.0.0.1", port)
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self._open: list[socket.socket] = []
        self.mode = Mode.PASS
        self.frozen = False
        self.trips = 0
        self.said: list[bytes] = []
        Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Close everything."""
        for each in (self._listening, *self._open):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)  # who waits at it is woken
            each.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            self._open.append(client)
            if self.frozen:
                continue
            server = socket.create_connection(self._to)
            self._open.append(server)
            Thread(target=self._ask, args=(client, server), daemon=True).start()
            Thread(target=self._answer, args=(server, client), daemon=True).start()

    def _ask(self, client: socket.socket, server: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := client.recv(65536):
                self.said.append(data)
                server.sendall(data)
        self._end(client, server)

    def _answer(self, server: socket.socket, client: socket.socket) -> None:
        """Every answer ends with a message that says that the server is ready for the next
        question."""
        left = b""
        with contextlib.suppress(OSError):
            while data := server.recv(65536):
                left += data
                while len(left) >= 5 and len(left) > (size := struct.unpack_from(">i", left, 1)[0]):
                    self.trips += left[:1] == b"Z"
                    left = left[1 + size :]
                if self.mode is Mode.CUT:
                    self.mode = Mode.PASS
                    break
                if self.mode is Mode.PASS:
                    client.sendall(data)
        self._end(server, client)

    def _end(self, *both: socket.socket) -> None:
        for each in both:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)


@contextmanager
def proxy_before(port: int) -> Iterator[Proxy]:
    """A proxy before a server, for as long as it is needed."""
    made = Proxy(port)
    try:
        yield made
    finally:
        made.close()
