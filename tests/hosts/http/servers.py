"""Loopback servers for tests: each counts who connects to it and keeps what was sent."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


class Got(NamedTuple):
    """A request as it arrived: what was asked for, how, and at which of the host's addresses."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    at: str


class Server(ThreadingHTTPServer):
    """Answers `ok`; a path `/to/URL` redirects there, and one of `locations` to what stands there,
    as it is."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, context: ssl.SSLContext | None, status: int) -> None:
        super().__init__(("0.0.0.0", 0), _Handler)
        self.connections = 0
        self.got: list[Got] = []
        self.heard: list[str] = []
        self.redirect = status
        self.locations: dict[str, str] = {}
        self._context = context

    @property
    def port(self) -> int:
        """Where it listens, on every loopback address."""
        return int(self.server_address[1])

    def get_request(self) -> tuple[Any, Any]:
        """Count a connection, before anything is known of it."""
        connection, address = super().get_request()
        self.connections += 1
        if self._context is not None:
            connection = self._context.wrap_socket(
                connection, server_side=True, do_handshake_on_connect=False
            )
        return connection, address

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that leaves is nothing to tell of."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def _answer(self) -> None:
        if self.headers.get("transfer-encoding") == "chunked":
            body = b"".join(iter(self._chunk, b""))
        else:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        at = self.connection.getsockname()[0]
        self.server.got.append(Got(self.command, self.path, headers, body, at))
        target = self.server.locations.get(self.path, self.path.partition("/to/")[2])
        if target:
            self.send_response(self.server.redirect)
            self.send_header("location", target)
            self.send_header("content-length", "0")
            self.end_headers()
        else:
            self.send_response(200)
            self.send_header("content-length", "2")
            self.end_headers()
            self.wfile.write(b"ok")

    def _chunk(self) -> bytes:
        piece = self.rfile.read(int(self.rfile.readline(), 16))
        self.rfile.readline()
        return piece

    do_GET = do_POST = do_PUT = _answer  # noqa: N815 - the names that the server looks for

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@contextmanager
def serving(context: ssl.SSLContext | None = None, status: int = 302) -> Iterator[Server]:
    """A server that listens while the block runs; `status` is that of its redirects."""
    server = Server(context, status)
    thread = threading.Thread(
        target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
    )
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def certified(folder: Path) -> Path:
    """A certificate for the name `secure.test`, which is its own authority, with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "secure.test")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("secure.test")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = folder / "secure.pem"
    path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        + made.public_bytes(serialization.Encoding.PEM)
    )
    return path
