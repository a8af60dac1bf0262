"""What tests of the door share: a service that speaks TLS as `secure.test` and says back what it
hears, and a process that may be looked into again afterwards."""

from __future__ import annotations

import ctypes
import gzip
import random
import resource
import ssl
import zlib
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from tests.hosts.http.servers import Server, certified, serving

PR_SET_DUMPABLE = 4


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for `secure.test`, which is its own authority, with its key."""
    return certified(tmp_path_factory.mktemp("door"))


@pytest.fixture(scope="session")
def trusting(certificate: Path) -> ssl.SSLContext:
    """Trusts that certificate alone."""
    return ssl.create_default_context(cafile=str(certificate))


SAYS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "two": lambda heard: gzip.compress(b"one") + gzip.compress(heard),
    "zlib": lambda heard: zlib.compress(b"x" * 500_000 + heard, 1),
    "zstd": lambda heard: b"\x28\xb5\x2f\xfd" + heard,
    "broken": lambda heard: b"\x1f\x8b" + bytes(99),
    "archive": lambda _: gzip.compress(random.Random(1).randbytes(300_000)),
    "short": lambda _: b"\x1f\x8b",
    "no pack": lambda _: b"x = 1",
}
"""What is answered to a login where the path says so."""


class EchoHandler(BaseHTTPRequestHandler):
    """Says back all that it hears: in a header, and in a body that ends as the path says."""

    protocol_version = "HTTP/1.1"
    server: Server

    def do_GET(self) -> None:
        """Answer."""
        self.server.heard.append(self.requestline + str(self.headers))
        path = self.path.partition("?")[0].rpartition("/")[2]
        body = (self.requestline + str(self.headers)).encode()
        if path in SAYS:
            body = SAYS[path](self.headers.get("Authorization", "").encode())
        if path == "moved":
            self.send_response(302)
            self.send_header("Location", f"https://secure.test:{self.server.port}/v1/there")
        else:
            self.send_response(200)
        self.send_header("X-Heard", self.headers.get("Authorization", ""))
        if path == "packed":
            self.send_header("Content-Encoding", "br")
        if path == "chunked":
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for at in range(0, len(body), 7):
                piece = body[at : at + 7]
                self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
            self.wfile.write(b"0\r\n\r\n")
        elif path == "closed":
            self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(body)
            self.close_connection = True
        else:
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def service(certificate: Path) -> Iterator[Server]:
    """The service."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with serving(context) as server:
        server.RequestHandlerClass = EchoHandler
        yield server


@pytest.fixture
def open_again() -> Iterator[None]:
    """Let others look into this process again once a test has kept them out."""
    before = resource.getrlimit(resource.RLIMIT_CORE)
    yield
    resource.setrlimit(resource.RLIMIT_CORE, before)
    ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)
