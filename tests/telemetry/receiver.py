"""A receiver of webhooks on this host: real HTTP, and it fails as a test wants it to."""

from __future__ import annotations

import base64
import hmac
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

import msgspec

SECRET = "whsec_" + base64.b64encode(b"a secret for tests, 32 bytes long").decode()

Answer = Callable[[BaseHTTPRequestHandler], None]


class Got(NamedTuple):
    """A request as it arrived."""

    id: str
    kind: str
    data: dict[str, Any]


def verified(headers: Any, body: bytes) -> bool:
    """Whether a body bears a signature of the secret, checked as the specification has it."""
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    key = base64.b64decode(SECRET.removeprefix("whsec_"))
    wanted = "v1," + base64.b64encode(hmac.new(key, signed, sha256).digest()).decode()
    return any(hmac.compare_digest(wanted, one) for one in headers["webhook-signature"].split(" "))


def status(number: int, **headers: str) -> Answer:
    """Answer with a status."""

    def answer(request: BaseHTTPRequestHandler) -> None:
        request.send_response(number)
        for name, value in headers.items():
            request.send_header(name.replace("_", "-"), value)
        request.send_header("content-length", "0")
        request.end_headers()

    return answer


def cut(request: BaseHTTPRequestHandler) -> None:
    """Take the message, and close the connection without a word."""
    request.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    request.connection.close()
    request.close_connection = True


class Receiver:
    """What arrived, and how the next requests are answered; without more to do it answers 204."""

    def __init__(self) -> None:
        self.got: list[Got] = []
        self.forged = 0
        self.answers: list[Answer] = []
        self.arrived = threading.Condition()
        self.url = ""
        self.released = threading.Event()
        """Set at the end, for answers that hang."""

    def hang(self, _request: BaseHTTPRequestHandler) -> None:
        """Do not answer until the test is over."""
        self.released.wait()

    def wait_for(self, number: int) -> list[Got]:
        """What arrived, when it is so much."""
        with self.arrived:
            assert self.arrived.wait_for(lambda: len(self.got) >= number, 60), self.got
            return [*self.got]

    def take(self, request: BaseHTTPRequestHandler) -> None:
        body = request.rfile.read(int(request.headers["content-length"]))
        told = msgspec.json.decode(body)
        with self.arrived:
            if verified(request.headers, body):
                self.got.append(Got(request.headers["webhook-id"], told["type"], told["data"]))
            else:
                self.forged += 1
            answer = self.answers.pop(0) if self.answers else status(204)
            self.arrived.notify_all()
        answer(request)


@contextmanager
def receiving(port: int = 0) -> Iterator[Receiver]:
    """A receiver, as long as it is needed."""
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            receiver.take(self)

        def log_message(self, *_args: object) -> None:
            """Say nothing."""

        def handle(self) -> None:
            try:
                super().handle()
            except OSError:
                self.close_connection = True

        def finish(self) -> None:
            try:
                super().finish()
            except OSError:
                self.close_connection = True

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    receiver.url = f"http://127.0.0.1:{server.server_address[1]}/hook?who=ann"
    thread = threading.Thread(
        target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
    )
    thread.start()
    try:
        yield receiver
    finally:
        receiver.released.set()
        server.shutdown()
        server.server_close()
        thread.join()
