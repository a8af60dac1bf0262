"""Transports for httpx: every request of a client is judged, each hop of a redirect too. A
connection leads to an address that was judged, and is used again only for requests for which it was
judged too."""

from __future__ import annotations

from typing import Any, Final, cast

import httpcore
import httpx

from stanchion.hosts.http.leaving import Cleared, ClientTerms, leave
from stanchion.hosts.http.outgoing import OutgoingRequest, encoding_of
from stanchion.hosts.http.pinning import fits

PINS: Final = "stanchion_pins"
"""The extension of a request that carries the addresses it may go to."""

CONNECT_FAILED: Final = (httpcore.ConnectError, httpcore.ConnectTimeout)


class PinnedOrigin(httpcore.Origin):
    """Where a request goes: a scheme, a name and a port, and the addresses that were judged for
    it."""

    def __init__(self, of: httpcore.Origin, addresses: tuple[str, ...]) -> None:
        super().__init__(of.scheme, of.host, of.port)
        self.addresses = addresses


class Url(httpcore.URL):
    """A request's URL, whose origin knows the addresses that were judged."""

    def __init__(self, of: httpcore.URL, addresses: tuple[str, ...]) -> None:
        super().__init__(scheme=of.scheme, host=of.host, port=of.port, target=of.target)
        self.addresses = addresses

    @property
    def origin(self) -> PinnedOrigin:
        """The origin, for a pool that looks for a connection."""
        return PinnedOrigin(super().origin, self.addresses)


class ConnectionPeer:
    """Where a connection leads: the addresses it may be made to, then the one it was made to."""

    def __init__(self, addresses: tuple[str, ...]) -> None:
        self.addresses = addresses
        self.peer: str | None = None

    def places(self, host: str) -> tuple[str, ...]:
        """What to connect to, in order."""
        return self.addresses if self.addresses else (host,)

    def made(self, stream: Any) -> None:
        """Remember where the connection was made to."""
        self.peer = str(stream.get_extra_info("server_addr")[0])

    def serves(self, origin: httpcore.Origin) -> bool:
        """Whether a request may use the connection: its own judgement has to have covered where
        that leads."""
        wanted = origin.addresses if isinstance(origin, PinnedOrigin) else ()
        if self.peer is not None or not wanted:
            return fits(self.peer, wanted)
        return bool(self.addresses) and all(fits(one, wanted) for one in self.addresses)


class Backend(httpcore.NetworkBackend):
    """Makes one connection, to the addresses that it may be made to."""

    def __init__(self, landing: ConnectionPeer) -> None:
        self._landing = landing
        self._plain = httpcore.SyncBackend()

    def connect_tcp(
        self, host: str, port: int, *args: Any, **options: Any
    ) -> httpcore.NetworkStream:
        """Connect to the first of the addresses that answers."""
        *others, last = self._landing.places(host)
        for address in others:
            try:
                return self._made(self._plain.connect_tcp(address, port, *args, **options))
            except CONNECT_FAILED:
                continue
        return self._made(self._plain.connect_tcp(last, port, *args, **options))

    def _made(self, stream: httpcore.NetworkStream) -> httpcore.NetworkStream:
        self._landing.made(stream)
        return stream


class AsyncBackend(httpcore.AsyncNetworkBackend):
    """The same on an event loop."""

    def __init__(self, landing: ConnectionPeer) -> None:
        self._landing = landing
        self._plain = httpcore.AnyIOBackend()

    async def connect_tcp(
        self, host: str, port: int, *args: Any, **options: Any
    ) -> httpcore.AsyncNetworkStream:
        """Connect to the first of the addresses that answers."""
        *others, last = self._landing.places(host)
        for address in others:
            try:
                return self._made(await self._plain.connect_tcp(address, port, *args, **options))
            except CONNECT_FAILED:
                continue
        return self._made(await self._plain.connect_tcp(last, port, *args, **options))

    def _made(self, stream: httpcore.AsyncNetworkStream) -> httpcore.AsyncNetworkStream:
        self._landing.made(stream)
        return stream

    async def sleep(self, seconds: float) -> None:
        """Wait before a connection is tried again."""
        await self._plain.sleep(seconds)


def _connections(kind: Any, backend: Any) -> Any:
    """Connections of a kind that serve requests whose judgement covers where they lead."""

    class Pinned(kind):
        def __init__(self, origin: httpcore.Origin, options: dict[str, Any]) -> None:
            self._landing = ConnectionPeer(
                origin.addresses if isinstance(origin, PinnedOrigin) else ()
            )
            super().__init__(origin=origin, network_backend=backend(self._landing), **options)

        def can_handle_request(self, origin: httpcore.Origin) -> bool:
            """Whether a request to that origin may use the connection."""
            return super().can_handle_request(origin) and self._landing.serves(origin)

    return Pinned


def _pools(kind: Any, connection: Any) -> Any:
    """Pools of a kind whose connections lead to what was judged."""

    class Pinned(kind):
        def __init__(self, limits: dict[str, Any], options: dict[str, Any]) -> None:
            super().__init__(**limits, **options)
            self._options = {"keepalive_expiry": limits["keepalive_expiry"], **options}

        def create_connection(self, origin: httpcore.Origin) -> Any:
            """A new connection for a request to an origin."""
            return connection(origin, self._options)

        def handle_request(self, request: httpcore.Request) -> Any:
            """Send a request over a connection that it may use."""
            request.url = Url(request.url, request.extensions[PINS])
            return super().handle_request(request)

        def handle_async_request(self, request: httpcore.Request) -> Any:
            """Send a request on an event loop."""
            request.url = Url(request.url, request.extensions[PINS])
            return super().handle_async_request(request)

    return Pinned


PinnedPool: Final = _pools(httpcore.ConnectionPool, _connections(httpcore.HTTPConnection, Backend))
AsyncPool: Final = _pools(
    httpcore.AsyncConnectionPool, _connections(httpcore.AsyncHTTPConnection, AsyncBackend)
)

CONNECTING: Final = ("http1", "http2", "retries", "local_address", "socket_options")
"""Options that say how a connection is made."""
TRUST: Final = ("verify", "cert", "trust_env")
"""Options that say which certificates are trusted."""


class Transport(httpx.HTTPTransport):
    """Sends what a run may send. The options are those of `httpx.HTTPTransport`, without `uds`."""

    def __init__(self, terms: ClientTerms, **options: Any) -> None:
        self._terms = terms
        self._proxy = _proxy_of(options)
        options = _trusting(options)
        super().__init__(**options)
        if not self._proxy:
            self._pool = PinnedPool(*_pool_options(options))

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

    def __init__(self, terms: ClientTerms, **options: Any) -> None:
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


def _outgoing(request: httpx.Request, body: bytes, proxy: str) -> OutgoingRequest:
    headers = tuple(
        [(name.decode("latin-1"), value.decode("latin-1")) for name, value in request.headers.raw]
    )
    target, name = (
        request.extensions.get("target", request.url.raw_path),
        request.extensions.get("sni_hostname"),
    )
    return OutgoingRequest(
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
