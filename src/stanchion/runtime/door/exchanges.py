"""Exchanges: plain HTTP that is passed on, each request judged with all that it says, each response
read no further than to know where it ends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Any, Final

from stanchion.hosts.http.outgoing import OutgoingRequest, encoding_of
from stanchion.kernel.regex import regex
from stanchion.readings.urls import UrlTarget, url_of
from stanchion.runtime.door.codes import HEAD, PACKED
from stanchion.runtime.door.credentials import DoorCredential
from stanchion.runtime.door.heads import (
    HEAD_END,
    LINE_END,
    LONGEST_HEAD,
    LONGEST_LINE,
    Framing,
    Headers,
    HeadFault,
    RequestHead,
    ResponseHead,
    chunk_size,
    framing,
    passed_on,
    request_head,
    response_head,
    values,
    written_head,
)
from stanchion.runtime.door.judging import UNREADABLE, DoorDesk
from stanchion.runtime.door.packed import LONGEST_START, PackedLook, Unseen, packing
from stanchion.runtime.door.tunnels import SPEAK_S, through
from stanchion.runtime.door.wires import PIECE, BrokenWire, DoorWire, move
from stanchion.runtime.errors import Refused

KEPT_S: Final = 120.0
"""How long a connection is kept on which nobody asks for anything."""
BODY_S: Final = 300.0
"""How long a program may take to send the body of a request."""
ANSWER_S: Final = 900.0
"""How long a server may take to begin its answer."""
AGREED: Final = b"HTTP/1.1 200 Connection established\r\n\r\n"
GO_ON: Final = b"HTTP/1.1 100 Continue\r\n\r\n"
OWN_HEADERS: Final = frozenset({"content-length", "expect", "host"})
"""Headers that the door writes itself."""
_HOST: Final = regex(r"[A-Za-z0-9._-]+(?::80)?")
LOCAL_NAMES: Final = frozenset({"127.0.0.1", "localhost"})
"""What a local door is called by programs; a page that is led there calls it by its own name."""
LAST_CHUNK: Final = b"0\r\n\r\n"
BODILESS: Final = frozenset({204, 304})


class HttpDoor:
    """Passes on what one program says on one connection. `base` is the place that all of it is for,
    or the one of a `credential`; without one each request names its own: in its target, or, of a
    program that knows of no proxy, in `host`."""

    def __init__(
        self,
        desk: DoorDesk,
        inner: DoorWire,
        base: str = "",
        credential: DoorCredential | None = None,
        unaware: bool = False,
    ) -> None:
        self._desk, self._inner, self._credential = desk, inner, credential
        self._unaware = unaware
        self._base = base if credential is None else credential.base
        self._outer: DoorWire | None = None
        self._leads: tuple[str, str] = ("", "")
        """The origin that the connection outward is for, and the address it was made to."""

    async def serve(self) -> None:
        """Pass requests on until the program or the server ends it. Raises what ends it
        otherwise."""
        try:
            while await self._next():
                pass
        finally:
            if self._outer is not None:
                self._outer.close()

    async def _next(self) -> bool:
        async with asyncio.timeout(KEPT_S):
            if not self._inner.ahead and not await self._inner.more():
                return False
        async with asyncio.timeout(SPEAK_S):
            raw = await self._inner.until(HEAD_END, LONGEST_HEAD)
        if raw is None:
            return False
        try:
            head = request_head(raw)
            if self._credential is None:
                await self._desk.keep_in(", ".join(values(head.headers, "host")), raw)
            if head.method.upper() == "CONNECT":
                if self._base or self._unaware:
                    raise HeadFault("`CONNECT` is for the door's proxy, and not for a place")
                host, port = _authority(head.target)
                await through(self._desk, self._inner, host, port, AGREED, self._within)
                return False
            request = await self._read(head)
        except HeadFault as fault:
            await self._desk.refuse(UNREADABLE, HEAD, str(fault))
            raise
        return await self._exchange(head, request)

    async def _within(self, inner: DoorWire, base: str) -> None:
        await HttpDoor(self._desk, inner, base).serve()

    async def _read(self, head: RequestHead) -> OutgoingRequest:
        """A whole request as it is judged."""
        ends = framing(head.headers, head.version)
        if values(head.headers, "expect") and ends is not None:
            await self._inner.send(GO_ON)
        async with asyncio.timeout(BODY_S):
            body = b"" if ends is None else await self._body(ends)
        headers = tuple([one for one in passed_on(head.headers) if one[0].lower() != "expect"])
        if self._credential is not None:
            host = ",".join(values(head.headers, "host")).partition(":")[0]
            if host not in LOCAL_NAMES or values(head.headers, "origin"):
                raise HeadFault("it comes from a page in a browser, and not from a program")
            headers = self._credential.without(headers)
            head = head._replace(target=self._credential.without_parameter(head.target))
            said = written_head(f"{head.method} {head.target}", headers)
            await self._desk.keep_in(self._base, said, body)
        else:
            await self._desk.keep_in(", ".join(values(head.headers, "host")), body)
        return self._addressed(head, headers, body, ends is not None and ends.chunked)

    def _addressed(
        self, head: RequestHead, headers: Headers, body: bytes, chunked: bool
    ) -> OutgoingRequest:
        hosts = values(head.headers, "host")
        if self._unaware and hosts and _HOST.fullmatch(hosts[0]) and head.target[0] == "/":
            url = f"http://{hosts[0]}{head.target}"
        elif self._base:
            if not head.target.startswith("/"):
                raise HeadFault("its target is not a path of the place it goes to")
            one = self._credential
            url = f"{self._base}{head.target}" if one is None else one.url(head.target)
        elif not self._unaware and head.target[:7].lower() == "http://":
            url = "http://" + head.target[7:]
        else:
            raise HeadFault("its target is no URL of `http`: ask for others by `CONNECT`")
        return OutgoingRequest(
            head.method, url, headers, body, encoding_of(headers), chunked=chunked
        )

    async def _body(self, ends: Framing) -> bytes:
        """The body of a request, or a little more of it than can be judged."""
        most = self._desk.terms.largest_body + 1
        if ends.length is not None:
            return await self._inner.exactly(min(ends.length, most))
        body = bytearray()
        while len(body) < most and (size := await _chunk(self._inner)):
            body += await self._inner.exactly(min(size, most))
            if await self._inner.exactly(2) != b"\r\n":
                raise HeadFault("a chunk does not end where it says")
        if len(body) < most and await self._inner.exactly(2) != b"\r\n":
            raise HeadFault("it has headers behind its body")
        return bytes(body)

    async def _exchange(self, head: RequestHead, request: OutgoingRequest) -> bool:
        cleared = await self._desk.clear(request)
        outer = await self._connected(request, cleared.addresses)
        one = self._credential
        said = cleared.request if one is None else one.put_into(cleared.request, outer)
        sent = written_request(said)
        self._desk.meter_out(len(sent))
        await outer.send(sent)
        async with asyncio.timeout(ANSWER_S):
            answer = await _answer(outer)
        keeps = await self._answered(head, answer, outer)
        if not keeps:
            outer.close()
            self._outer = None
        return keeps

    async def _connected(self, request: OutgoingRequest, addresses: tuple[str, ...]) -> DoorWire:
        """The connection that is there, if it leads where this request may go, or a new one."""
        origin, address = self._leads
        wanted = origin_of(request.url)
        if self._outer is not None:
            if origin == wanted and address in addresses and self._outer.waits():
                return self._outer
            self._outer.close()
        outer = await self._desk.connect(request, addresses, self._credential is not None)
        self._outer = await self._desk.secured(outer, request)
        self._leads = (wanted, self._outer.address)
        return self._outer

    async def _answered(self, head: RequestHead, answer: ResponseHead, outer: DoorWire) -> bool:
        """Pass an answer on; says whether both connections go on after it."""
        bodiless = head.method == "HEAD" or answer.status in BODILESS
        ends = framing(answer.headers, answer.version)
        keeps = (bodiless or ends is not None) and _goes_on(head) and _goes_on(answer)
        framed = ends is not None and ends.chunked and not bodiless and head.version == "1.1"
        headers = passed_on(answer.headers)
        headers += (("Transfer-Encoding", "chunked"),) if framed else ()
        headers += () if keeps else (("Connection", "close"),)
        shown = await self._shown(answer, headers)
        if bodiless:
            await self._inner.send(shown)
        elif self._credential is not None:
            await self._unmarked(shown, outer, ends, framed)
        else:
            await self._passed(shown, outer, ends, framed)
        return keeps

    async def _passed(
        self, shown: bytes, outer: DoorWire, ends: Framing | None, framed: bool
    ) -> None:
        """Pass an answer on as it comes: its head, with what of its body has come by now, and the
        rest."""
        meter = self._desk.meter_in
        if ends is not None and ends.length is None:
            await self._inner.send(shown)
            await _chunks(outer, self._inner, framed, meter)
            return
        left = None if ends is None else ends.length
        ready = outer.ready(left)
        meter(len(ready))
        await self._inner.send(shown + ready)
        await move(outer, self._inner, None if left is None else left - len(ready), meter)

    async def _shown(self, answer: ResponseHead, headers: Headers) -> bytes:
        """The head of an answer as the program may see it: without the secret, and leading to the
        local door where the server leads to itself."""
        one = self._credential
        if one is None:
            return written_head(f"HTTP/1.1 {answer.status} {answer.reason}", headers)
        packed = values(headers, "content-encoding")
        if any(value.lower() != "identity" for value in packed):
            await self._desk.refuse(OutgoingRequest("GET", f"{one.base}/"), PACKED, one.base)
        local = "http://{}:{}".format(*self._inner.sock.getsockname())
        led = [
            (
                name,
                f"{local}{value.removeprefix(one.base)}"
                if name.lower() == "location" and value.startswith(f"{one.base}/")
                else value,
            )
            for name, value in headers
        ]
        head = written_head(f"HTTP/1.1 {answer.status} {answer.reason}", tuple(led))
        return self._desk.watch.hidden(head)

    async def _unmarked(
        self, shown: bytes, outer: DoorWire, ends: Framing | None, framed: bool
    ) -> None:
        """Pass an answer on in whose body the secret is hidden wherever it stands, also across
        pieces. The head goes with the first of it: until then all of it can be refused."""
        held, one = b"", self._base
        try:
            async for piece in self._looked_into(_pieces(outer, ends)):
                held = self._desk.watch.hidden(held + piece)
                ready = len(held) - self._desk.watch.longest
                if ready > 0:
                    await self._inner.send(shown + _chunked(held[:ready], framed))
                    held, shown = held[ready:], b""
        except Unseen:
            with suppress(*() if shown else (Refused,)):  # what has begun is cut off
                await self._desk.refuse(OutgoingRequest("GET", f"{one}/"), PACKED, one)
            raise BrokenWire("its answer cannot be looked into") from None
        await self._inner.send(shown + (_chunked(held, framed) if held else b""))
        await self._inner.send(LAST_CHUNK if framed else b"")

    async def _looked_into(self, pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """The pieces of a body, where it is packed after they were looked into."""
        watch, start = self._desk.watch, b""
        look: PackedLook | None = None
        async for piece in pieces:
            self._desk.meter_in(len(piece))
            if len(start) < LONGEST_START:
                start = piece = start + piece
                if len(start) < LONGEST_START:
                    continue
                begins = packing(start)
                look = PackedLook(begins, watch.finds, watch.longest) if begins else None
            if look is None:
                yield piece
                continue
            for looked_into in await asyncio.to_thread(look.passes, piece):
                yield looked_into
        if len(start) < LONGEST_START:
            yield start
        for looked_into in () if look is None else look.rest():
            yield looked_into


def _goes_on(head: RequestHead | ResponseHead) -> bool:
    """Whether a connection is kept after a message, as far as its sender says."""
    words = ",".join(values(head.headers, "connection")).lower()
    return head.version == "1.1" and "close" not in words


def origin_of(url: str) -> str:
    """The origin of a URL that was judged, as one text."""
    target = url_of(url)
    return f"{target.scheme}:{target.host}:{target.port}" if isinstance(target, UrlTarget) else url


def _authority(target: str) -> tuple[str, int]:
    """The host and the port that `CONNECT` asks for."""
    host, colon, port = target.rpartition(":")
    bare = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    if not colon or not bare or not port.isascii() or not port.isdigit() or int(port) > 65_535:
        raise HeadFault("`CONNECT` takes a host, a colon and a port")
    if set("/?@[]") & set(bare):
        raise HeadFault("`CONNECT` takes a host, a colon and a port, and nothing else")
    return bare, int(port)


def written_request(request: OutgoingRequest) -> bytes:
    """A request as it goes out: one host, one length, no headers of a connection."""
    authority, slash, behind = request.url.partition("://")[2].partition("/")
    if not slash:
        authority, query, behind = authority.partition("?")
        behind = query + behind
    headers = [("Host", authority.rpartition("@")[2])]
    headers += [one for one in request.headers if one[0].lower() not in OWN_HEADERS]
    if request.body or request.chunked or values(request.headers, "content-length"):
        headers.append(("Content-Length", str(len(request.body))))
    head = written_head(f"{request.method} /{behind} HTTP/1.1", tuple(headers))
    return head + request.body


async def _answer(outer: DoorWire) -> ResponseHead:
    """The head of the answer, without those that only announce it."""
    while True:
        raw = await outer.until(HEAD_END, LONGEST_HEAD)
        if raw is None:
            raise BrokenWire("the server has answered nothing")
        answer = response_head(raw)
        if answer.status == 101:
            raise HeadFault("the server would go on in another protocol")
        if answer.status >= 200:
            return answer


async def _chunk(wire: DoorWire) -> int:
    line = await wire.until(LINE_END, LONGEST_LINE)
    return chunk_size(b"" if line is None else line)


async def _chunks(
    outer: DoorWire, inner: DoorWire, framed: bool, meter: Callable[[int], Any]
) -> None:
    """Pass a body on that comes in chunks, as chunks or as what is in them."""
    async for piece in _pieces(outer, Framing(None, True)):
        meter(len(piece))
        await inner.send(_chunked(piece, framed))
    await inner.send(LAST_CHUNK if framed else b"")


def _chunked(data: bytes, framed: bool) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data) if framed else data


async def _pieces(outer: DoorWire, ends: Framing | None) -> AsyncIterator[bytes]:
    """The body of an answer, piece by piece."""
    if ends is None or not ends.chunked:
        async for piece in _until(outer, None if ends is None else ends.length):
            yield piece
        return
    while size := await _chunk(outer):
        async for piece in _until(outer, size):
            yield piece
        if await outer.exactly(2) != b"\r\n":
            raise HeadFault("a chunk does not end where it says")
    while (line := await outer.until(LINE_END, LONGEST_HEAD)) != b"\r\n":
        if not line:
            raise BrokenWire("it ended in the middle")


async def _until(outer: DoorWire, left: int | None) -> AsyncIterator[bytes]:
    """So many bytes, or all that come until the end."""
    while left is None or left > 0:
        piece = await outer.receive(PIECE if left is None else min(PIECE, left))
        if not piece and left is None:
            return
        if not piece:
            raise BrokenWire("it ended in the middle")
        left = None if left is None else left - len(piece)
        yield piece


def refusal(status: str, text: str) -> bytes:
    """What a program reads whose request did not go through."""
    body = f"{text}\n".encode()
    head = (
        ("Content-Type", "text/plain; charset=utf-8"),
        ("Content-Length", str(len(body))),
        ("Connection", "close"),
        ("Via", "1.1 stanchion"),
    )
    return written_head(f"HTTP/1.1 {status}", head) + body
