"""Connection pools for httpx: a connection leads to an address that was judged, and is used again
only for requests for which its address was judged too."""

from __future__ import annotations

from typing import Any, Final

import httpcore

from stanchion.hosts.http.pinning import fits

PINS: Final = "stanchion_pins"
"""The extension of a request that carries the addresses it may go to."""

CONNECT_FAILED: Final = (httpcore.ConnectError, httpcore.ConnectTimeout)


class Origin(httpcore.Origin):
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
    def origin(self) -> Origin:
        """The origin, for a pool that looks for a connection."""
        return Origin(super().origin, self.addresses)


class Landing:
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
        wanted = origin.addresses if isinstance(origin, Origin) else ()
        if self.peer is not None or not wanted:
            return fits(self.peer, wanted)
        return bool(self.addresses) and all(fits(one, wanted) for one in self.addresses)


class Backend(httpcore.NetworkBackend):
    """Makes one connection, to the addresses that it may be made to."""

    def __init__(self, landing: Landing) -> None:
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

    def __init__(self, landing: Landing) -> None:
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


class Connection(httpcore.HTTPConnection):
    """A connection that serves requests whose judgement covers where it leads."""

    def __init__(self, origin: httpcore.Origin, options: dict[str, Any]) -> None:
        self._landing = Landing(origin.addresses if isinstance(origin, Origin) else ())
        super().__init__(origin=origin, network_backend=Backend(self._landing), **options)

    def can_handle_request(self, origin: httpcore.Origin) -> bool:
        """Whether a request to that origin may use the connection."""
        return super().can_handle_request(origin) and self._landing.serves(origin)


class AsyncConnection(httpcore.AsyncHTTPConnection):
    """The same on an event loop."""

    def __init__(self, origin: httpcore.Origin, options: dict[str, Any]) -> None:
        self._landing = Landing(origin.addresses if isinstance(origin, Origin) else ())
        super().__init__(origin=origin, network_backend=AsyncBackend(self._landing), **options)

    def can_handle_request(self, origin: httpcore.Origin) -> bool:
        """Whether a request to that origin may use the connection."""
        return super().can_handle_request(origin) and self._landing.serves(origin)


class Pool(httpcore.ConnectionPool):
    """A pool whose connections lead to what was judged."""

    def __init__(self, limits: dict[str, Any], options: dict[str, Any]) -> None:
        super().__init__(**limits, **options)
        self._options = {"keepalive_expiry": limits["keepalive_expiry"], **options}

    def create_connection(self, origin: httpcore.Origin) -> Connection:
        """A new connection for a request to an origin."""
        return Connection(origin, self._options)

    def handle_request(self, request: httpcore.Request) -> httpcore.Response:
        """Send a request over a connection that it may use."""
        request.url = Url(request.url, request.extensions[PINS])
        return super().handle_request(request)


class AsyncPool(httpcore.AsyncConnectionPool):
    """The same on an event loop."""

    def __init__(self, limits: dict[str, Any], options: dict[str, Any]) -> None:
        super().__init__(**limits, **options)
        self._options = {"keepalive_expiry": limits["keepalive_expiry"], **options}

    def create_connection(self, origin: httpcore.Origin) -> AsyncConnection:
        """A new connection for a request to an origin."""
        return AsyncConnection(origin, self._options)

    async def handle_async_request(self, request: httpcore.Request) -> httpcore.Response:
        """Send a request over a connection that it may use."""
        request.url = Url(request.url, request.extensions[PINS])
        return await super().handle_async_request(request)
