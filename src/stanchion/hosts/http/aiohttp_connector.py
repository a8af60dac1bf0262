"""A connector for aiohttp: every request of a session is judged, each hop of a redirect too."""

from __future__ import annotations

import io
import socket
from typing import Any, Final

import aiohttp
from aiohttp.abc import AbstractResolver, AbstractStreamWriter, ResolveResult
from aiohttp.resolver import ThreadedResolver
from multidict import CIMultiDict
from yarl import URL

from stanchion.hosts.http.leaving import ClientTerms, leave
from stanchion.hosts.http.outgoing import FRAMING, OutgoingRequest, encoding_of
from stanchion.hosts.http.pinning import fits, pinning, pins

OURS: Final = ("resolver", "use_dns_cache", "socket_factory")
"""Options of connectors that are set here: by them a connection leads to what was judged."""

MOST_KEPT: Final = 1_024
"""So many connections that lead elsewhere are left, one after the other, before a request fails."""

LARGE: Final = 1 << 20
"""A body above it is sent in pieces."""


class Connector(aiohttp.TCPConnector):
    """Connects for what a run may send. The options are those of `aiohttp.TCPConnector`, without
    those in `OURS`."""

    def __init__(self, terms: ClientTerms, **options: Any) -> None:
        self._terms = terms
        taken = [name for name in OURS if name in options]
        if taken:
            raise ValueError(f"`{taken[0]}` decides where connections go: leave it out")
        super().__init__(
            resolver=_JudgedAddresses(), use_dns_cache=False, socket_factory=_socket, **options
        )

    async def connect(
        self, req: aiohttp.ClientRequest, traces: Any, timeout: aiohttp.ClientTimeout
    ) -> Any:
        """A connection for a request, changed to what may leave; `Refused` is raised where it may
        not."""
        outgoing = await _outgoing(req, self._terms.max_body)
        cleared = await self._terms.hosted.adrive(leave(self._terms, outgoing))
        await _change(req, outgoing, cleared.request)
        with pinning(cleared.addresses):
            for _ in range(MOST_KEPT):
                connection = await super().connect(req, traces, timeout)
                transport = connection.transport
                peer = None if transport is None else transport.get_extra_info("peername")
                if peer is not None and fits(peer[0], cleared.addresses):
                    return connection
                connection.close()
                if peer is None:
                    break
        raise aiohttp.ServerDisconnectedError


class _JudgedAddresses(AbstractResolver):
    """Gives the addresses that were judged for the request under way; asks the system where none
    were."""

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        judged = pins()
        if not judged:
            return await ThreadedResolver().resolve(host, port, family)
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                proto=socket.IPPROTO_TCP,
                flags=socket.AI_NUMERICHOST,
            )
            for address in judged
        ]

    async def close(self) -> None:
        """Nothing is open."""


def _socket(place: Any) -> socket.socket:
    """A socket to a place, if that was judged; literals come here without having been resolved."""
    family, kind, proto, _, address = place
    if not fits(address[0], pins()):
        raise OSError(f"`{address[0]}` was not judged for this request")
    return socket.socket(family=family, type=kind, proto=proto)


class _TooLong(Exception):
    """There is more than can be judged."""


class _Collected(AbstractStreamWriter):
    """Takes a body up in memory."""

    def __init__(self, longest: int) -> None:
        self.body = bytearray()
        self._longest = longest

    async def write(self, chunk: bytes | bytearray | memoryview) -> None:
        """Take up a piece."""
        self.body += chunk
        if len(self.body) > self._longest:
            raise _TooLong

    async def write_eof(self, chunk: bytes = b"") -> None:
        """Take up the last piece."""
        await self.write(chunk)

    async def drain(self) -> None:
        """Nothing waits here."""

    def enable_compression(self, encoding: str = "deflate", strategy: int | None = None) -> None:
        """The body is taken as it is before that."""

    def enable_chunking(self) -> None:
        """The body is taken as it is before that."""

    async def write_headers(self, status_line: str, headers: CIMultiDict[str]) -> None:
        """Only bodies are taken up."""


async def _outgoing(request: aiohttp.ClientRequest, longest: int) -> OutgoingRequest:
    collected = _Collected(longest)
    body = request.body
    try:
        if not isinstance(body, bytes):
            await body.write(collected)
    except _TooLong:
        pass
    headers = tuple(request.headers.items())
    encoding = "" if request.compress else encoding_of(headers)
    proxy = "" if request.proxy is None else str(request.proxy)
    name = request.server_hostname
    return OutgoingRequest(
        request.method,
        str(request.url),
        headers,
        bytes(collected.body),
        encoding,
        proxy,
        chunked=request.chunked is not None,
        server_name="" if name is None else name,
    )


async def _change(
    request: aiohttp.ClientRequest, was: OutgoingRequest, now: OutgoingRequest
) -> None:
    """Make a request what may leave: a body that was read to be judged is sent from what was
    read."""
    if now is not was:
        request.url = URL(now.url, encoded=True)
        request.headers.clear()
        request.headers.extend(now.headers)
        for name in FRAMING if now.body is not was.body else ():
            request.headers.popall(name, None)
    if not isinstance(request.body, bytes):
        await request.update_body(io.BytesIO(now.body) if len(now.body) > LARGE else now.body)
