"""A proxy between a store and its server, which counts what goes through and can lose, keep or cut
it."""

import contextlib
import socket
import ssl
import threading
from pathlib import Path
from types import TracebackType
from typing import Any

import hiredis


class Proxy:
    """Listens on a port and passes everything on to a server's local socket.

    So many answers as `lose` says are lost: the connection is cut when the server has answered.
    Answers wait while `answers` is not set.
    """

    def __init__(self, target: Path, tls: ssl.SSLContext | None = None) -> None:
        self.target = target
        self.lose = 0
        self.answers = threading.Event()
        self.answers.set()
        self.commands: list[list[bytes]] = []
        self.connections = 0
        self._tls = tls
        self._open: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        self._start(self._accept)

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"{'redis' if self._tls is None else 'rediss'}://127.0.0.1:{self.port}/0"

    def asked_for(self, word: bytes) -> list[list[bytes]]:
        """The commands with that word that went through."""
        return [command for command in self.commands if command[0] == word]

    def cut(self) -> None:
        """Cut all connections that there are."""
        while self._open:
            _close(self._open.pop())

    def close(self) -> None:
        """Listen no more, and cut all connections."""
        _close(self._listener)
        self.answers.set()
        self.cut()

    def __enter__(self) -> "Proxy":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            self._start(self._serve, near)

    def _serve(self, near: socket.socket) -> None:
        far = socket.socket(socket.AF_UNIX)
        self._open += [near, far]
        try:
            if self._tls is not None:
                near = self._tls.wrap_socket(near, server_side=True)
                self._open.append(near)
            far.connect(str(self.target))
        except OSError:
            _close(near)
            _close(far)
            return
        self.connections += 1
        self._start(self._pass_on, near, far, hiredis.Reader())
        self._start(self._pass_back, far, near)

    def _pass_on(self, near: socket.socket, far: socket.socket, reader: Any) -> None:
        with contextlib.suppress(OSError):
            while data := near.recv(65_536):
                reader.feed(data)
                while (command := reader.gets()) is not False:
                    self.commands.append(command)
                far.sendall(data)
        _close(far)

    def _pass_back(self, far: socket.socket, near: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := far.recv(65_536):
                self.answers.wait()
                if self.lose > 0:
                    self.lose -= 1
                    break
                near.sendall(data)
        _close(near)

    def _start(self, target: Any, *args: Any) -> None:
        threading.Thread(target=target, args=args, daemon=True).start()


class Answering:
    """Listens on a port and gives the answer it is told to, whatever it is asked, once it has been
    greeted."""

    def __init__(self, answer: bytes, info: bytes = b"maxmemory_policy:noeviction\r\n") -> None:
        self.answer = answer
        self.info = info
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"redis://127.0.0.1:{self.port}/0"

    def close(self) -> None:
        """Listen no more."""
        _close(self._listener)

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                sock, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(sock,), daemon=True).start()

    def _serve(self, sock: socket.socket) -> None:
        reader = hiredis.Reader()
        with contextlib.suppress(OSError):
            while data := sock.recv(65_536):
                reader.feed(data)
                while (command := reader.gets()) is not False:
                    sock.sendall(self._to(command[0]))
        _close(sock)

    def _to(self, word: bytes) -> bytes:
        if word == b"PING":
            return b"+PONG\r\n"
        return b"$%d\r\n%b\r\n" % (len(self.info), self.info) if word == b"INFO" else self.answer


def _close(sock: socket.socket) -> None:
    with contextlib.suppress(OSError):
        sock.shutdown(socket.SHUT_RDWR)
    sock.close()
