"""Transports for httpx: every request of a client is judged, each hop of a redirect too."""

from __future__ import annotations

from typing import Any, Final, cast

import httpx

from stanchion.hosts.http.httpx_pool import PINS, AsyncPool, Pool
from stanchion.hosts.http.leaving import Cleared, Terms, leave
from stanchion.hosts.http.outgoing import Outgoing, encoding_of

CONNECTING: Final = ("http1", "http2", "retries", "local_address", "socket_options")
"""Options that say how a connection is made."""
TRUST: Final = ("verify", "cert", "trust_env")
"""Options that say which certificates are trusted."""


class Transport(httpx.HTTPTransport):
    """Sends what a run may send. The options are those of `httpx.HTTPTransport`, without `uds`."""

    def __init__(self, terms: Terms, **options: Any) -> None:
        self._terms = terms
        self._proxy = _proxy_of(options)
        options = _trusting(options)
        super().__init__(**options)
        if not self._proxy:
            self._pool = Pool(*_pool_options(options))

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request if it may leave, as it may leave; `Refused` is raised otherwise."""
        body = bytearray()
        for chunk in cast(httpx.SyncByteStream, request.stream):
            body += chunk
            if len(body) > self._terms.max_body:
                break
        cleared = self._terms.hosted.drive(
            leave(self._terms, _outgoing(request, bytes(body), self._proxy))
        )
        return super().handle_request(_sent(request, cleared))


class AsyncTransport(httpx.AsyncHTTPTransport):
    """The same for async clients, on asyncio."""

    def __init__(self, terms: Terms, **options: Any) -> None:
        self._terms = terms
        self._proxy = _proxy_of(options)
        options = _trusting(options)
        super().__init__(**options)
        if not self._proxy:
            self._pool = AsyncPool(*_pool_options(options))

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request if it may leave, as it may leave; `Refused` is raised otherwise."""
        body = bytearray()
        async for chunk in cast(httpx.AsyncByteStream, request.stream):
            body += chunk
            if len(body) > self._terms.max_body:
                break
        cleared = await self._terms.hosted.adrive(
            leave(self._terms, _outgoing(request, bytes(body), self._proxy))
        )
        return await super().handle_async_request(_sent(request, cleared))


def _proxy_of(options: dict[str, Any]) -> str:
    if options.get("uds") is not None:
        raise ValueError("`uds` names a socket that guards cannot judge: leave it out")
    proxy = options.get("proxy")
    return (
        ""
        if proxy is None
        else str(proxy.url if isinstance(proxy, httpx.Proxy) else httpx.URL(proxy))
    )


def _trusting(options: dict[str, Any]) -> dict[str, Any]:
    """The options with the certificates that they trust loaded, once for all who need them."""
    trust = {name: options[name] for name in TRUST if name in options}
    others = {name: value for name, value in options.items() if name not in TRUST}
    return {**others, "verify": httpx.create_ssl_context(**trust)}


def _pool_options(options: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The limits of a pool, and what its connections are made with."""
    limits = options.get("limits", httpx.Limits(max_connections=100, max_keepalive_connections=20))
    made: dict[str, Any] = {name: options[name] for name in CONNECTING if name in options}
    bounds = {
        "max_connections": limits.max_connections,
        "max_keepalive_connections": limits.max_keepalive_connections,
        "keepalive_expiry": limits.keepalive_expiry,
    }
    return bounds, {"ssl_context": options["verify"], **made}


def _outgoing(request: httpx.Request, body: bytes, proxy: str) -> Outgoing:
    headers = tuple(
        [(name.decode("latin-1"), value.decode("latin-1")) for name, value in request.headers.raw]
    )
    target, name = (
        request.extensions.get("target", request.url.raw_path),
        request.extensions.get("sni_hostname"),
    )
    return Outgoing(
        request.method,
        str(request.url),
        headers,
        body,
        encoding_of(headers),
        proxy,
        chunked="transfer-encoding" in request.headers,
        server_name="" if name is None else _text(name),
        target="" if target == request.url.raw_path else _text(target),
    )


def _text(value: object) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)


def _sent(request: httpx.Request, cleared: Cleared) -> httpx.Request:
    """The request as it goes out: what was judged, and where that may go."""
    made = cleared.request
    headers = [
        (name.encode("latin-1", "replace"), value.encode("latin-1", "replace"))
        for name, value in made.headers
    ]
    extensions = {**request.extensions, PINS: cleared.addresses}
    stream = httpx.ByteStream(made.body)
    url = request.url if made.url == str(request.url) else httpx.URL(made.url)
    return httpx.Request(request.method, url, headers=headers, stream=stream, extensions=extensions)
