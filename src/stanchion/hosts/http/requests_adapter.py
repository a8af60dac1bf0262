"""An adapter for requests: every request of a session is judged, each hop of a redirect too."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any, Final

import requests
import urllib3
from requests.adapters import HTTPAdapter
from requests.structures import CaseInsensitiveDict
from requests.utils import select_proxy
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import ConnectTimeoutError, NewConnectionError
from urllib3.util.connection import create_connection

from stanchion.hosts.http.leaving import ClientTerms, leave
from stanchion.hosts.http.outgoing import OutgoingRequest, encoding_of
from stanchion.hosts.http.pinning import fits, pinning, pins

PIECE: Final = 1 << 16


class _Plain(HTTPConnection):
    """A connection to an address that was judged for the request under way."""

    def _new_conn(self) -> socket.socket:
        return _connected(self) if pins() else super()._new_conn()

    def request(self, *args: Any, **options: Any) -> None:
        _leave_elsewhere(self)
        super().request(*args, **options)


class _Secure(_Plain, HTTPSConnection):
    """The same with TLS; certificates are those of the name."""


def _connected(connection: HTTPConnection) -> socket.socket:
    """A socket to the first of the addresses that answers."""
    trouble: Exception | None = None
    for address in pins():
        try:
            return create_connection(
                (address, connection.port),
                connection.timeout,
                source_address=connection.source_address,
                socket_options=connection.socket_options,
            )
        except TimeoutError as error:
            trouble = ConnectTimeoutError(
                connection, f"no connection to `{connection.host}` in time"
            )
            trouble.__cause__ = error
        except OSError as error:
            trouble = NewConnectionError(
                connection, f"no connection to `{connection.host}`: {error}"
            )
            trouble.__cause__ = error
    raise (
        trouble
        if trouble is not None
        else NewConnectionError(connection, "there is no address to connect to")
    )


def _leave_elsewhere(connection: HTTPConnection) -> None:
    """Close a connection that leads to an address which was not judged for this request; a new one
    is made then."""
    if connection.sock is None:
        return
    try:
        peer = connection.sock.getpeername()[0]
    except OSError:
        peer = None
    if not fits(peer, pins()):
        connection.close()


class _PlainPool(urllib3.HTTPConnectionPool):
    ConnectionCls = _Plain


class _SecurePool(urllib3.HTTPSConnectionPool):
    ConnectionCls = _Secure


class Adapter(HTTPAdapter):
    """Sends what a run may send. The options are those of `requests.adapters.HTTPAdapter`."""

    def __init__(self, terms: ClientTerms, **options: Any) -> None:
        self._terms = terms
        super().__init__(**options)

    def init_poolmanager(self, *args: Any, **options: Any) -> None:
        """Make the pools, with connections that lead to what was judged."""
        super().init_poolmanager(*args, **options)
        self.poolmanager.pool_classes_by_scheme = {"http": _PlainPool, "https": _SecurePool}

    def send(
        self, request: requests.PreparedRequest, *args: Any, **options: Any
    ) -> requests.Response:
        """Send a request if it may leave, as it may leave; `Refused` is raised otherwise."""
        proxies = options.get("proxies", args[4] if len(args) > 4 else None)
        outgoing = _outgoing(request, self._terms.max_body, select_proxy(str(request.url), proxies))
        cleared = self._terms.hosted.drive(leave(self._terms, outgoing))
        with pinning(cleared.addresses):
            return super().send(_sent(request, outgoing, cleared.request), *args, **options)


def session(terms: ClientTerms, **options: Any) -> requests.Session:
    """A session that sends everything through an adapter, and takes nothing from the
    environment."""
    made = requests.Session()
    made.trust_env = False
    adapter = Adapter(terms, **options)
    made.mount("http://", adapter)
    made.mount("https://", adapter)
    return made


def _outgoing(
    request: requests.PreparedRequest, longest: int, proxy: str | None
) -> OutgoingRequest:
    headers = tuple([(_text(name), _text(value)) for name, value in request.headers.items()])
    through = "" if proxy is None else proxy if "://" in proxy else f"http://{proxy}"
    body = _read(request.body, longest)
    chunked = request.body is not None and "content-length" not in {
        name.lower() for name, _ in headers
    }
    return OutgoingRequest(
        str(request.method), str(request.url), headers, body, encoding_of(headers), through, chunked
    )


def _text(value: str | bytes) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else value


def _read(body: Any, longest: int) -> bytes:
    """A body of any form, or a little more than the longest that can be judged."""
    if body is None:
        return b""
    if isinstance(body, str | bytes | bytearray):
        return body.encode() if isinstance(body, str) else bytes(body)
    found = bytearray()
    for piece in _pieces(body) if hasattr(body, "read") else body:
        found += piece.encode() if isinstance(piece, str) else piece
        if len(found) > longest:
            break
    return bytes(found)


def _pieces(file: Any) -> Iterator[Any]:
    while piece := file.read(PIECE):
        yield piece


def _sent(
    request: requests.PreparedRequest, was: OutgoingRequest, now: OutgoingRequest
) -> requests.PreparedRequest:
    """The request as it goes out: a body that was read to be judged is sent from what was read."""
    sent = request.copy()
    sent.body = now.body if request.body is not None or now.body else None
    if now is not was:
        sent.url = now.url
        sent.headers = CaseInsensitiveDict(now.headers)
    return sent
