"""Tunnels: connections that a program asks for by host and port, and what may be said in them: TLS
for that host, or HTTP, each request of which is judged."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from stanchion.hosts.http.outgoing import OutgoingRequest
from stanchion.kernel.regex import regex
from stanchion.readings.urls import PORTS, UrlTarget, url_of
from stanchion.runtime.door.codes import HIDDEN, NAME, OPAQUE
from stanchion.runtime.door.hello import LONGEST_HELLO, RECORD, BadHello, ClientHello, hello_in
from stanchion.runtime.door.judging import UNREADABLE, DoorDesk, place
from stanchion.runtime.door.listeners import TLS as TLS_PORT
from stanchion.runtime.door.wires import HTTP, TLS, BrokenWire, DoorWire, tunnel

IDLE_S: Final = 900.0
"""After so long without a byte either way a tunnel is closed."""
SPEAK_S: Final = 20.0
"""How long a program may take to say what it wants."""
_METHOD: Final = regex(rb"[A-Z]{1,16}(?: |$)")

Exchanges = Callable[[DoorWire, str], Awaitable[None]]
"""Passes HTTP on that is said in a tunnel to a place, given by its URL."""


async def through(
    desk: DoorDesk,
    inner: DoorWire,
    host: str,
    port: int,
    agreed: bytes,
    exchanges: Exchanges,
) -> None:
    """Carry a tunnel to a host out: judged, connected, agreed to in the words of the program's
    protocol, and then only what may be said in it."""
    await desk.keep_in(host)
    asked = place(desk.names.host(host), port)
    cleared = await desk.clear(asked)
    outer = await desk.connect(asked, cleared.addresses)
    try:
        await inner.send(agreed)
        inner.speaks = ""
        if not desk.opaque(asked.url) and not await _may_be_said(desk, inner, asked):
            outer.close()
            target = url_of(asked.url)
            assert isinstance(target, UrlTarget)
            behind = "" if target.port == PORTS["http"] else f":{target.port}"
            shown = f"[{target.host}]" if ":" in target.host else target.host
            await exchanges(inner, f"http://{shown}{behind}")
            return
        await tunnel(inner, outer, desk.meter_out, desk.meter_in, IDLE_S)
    finally:
        outer.close()


async def _may_be_said(desk: DoorDesk, inner: DoorWire, asked: OutgoingRequest) -> bool:
    """Whether it is TLS that may go through; false where it is HTTP. Raises `Refused` where it is
    neither, or TLS for somebody else."""
    try:
        async with asyncio.timeout(SPEAK_S):
            if not inner.ahead and not await inner.more():
                raise BrokenWire("nothing was said")
            inner.speaks = TLS if inner.ahead[0] == RECORD else ""
            if not inner.speaks:
                while len(inner.ahead) < 17 and _METHOD.match(inner.ahead) is None:
                    if not inner.ahead.isalpha() or not await inner.more():
                        break
                if _METHOD.match(inner.ahead) is not None:
                    inner.speaks = HTTP
                    return False
                await desk.refuse(asked, OPAQUE, _shown(asked))
                return True
            hello = await _hello(inner)
    except BadHello as error:
        await desk.refuse(asked, HIDDEN, _shown(asked), str(error))
        return True
    await _names_agree(desk, asked, hello)
    return True


async def _hello(inner: DoorWire) -> ClientHello:
    while (hello := hello_in(bytes(inner.ahead))) is None:
        if len(inner.ahead) > 2 * LONGEST_HELLO or not await inner.more():
            raise BadHello("it does not end")
    return hello


async def unaware(desk: DoorDesk, inner: DoorWire, exchanges: Exchanges) -> None:
    """Carry out what a program asks for by TLS that knows of no proxy: a tunnel to the host that
    its first message names."""
    try:
        async with asyncio.timeout(SPEAK_S):
            if not await inner.more():
                return
            hello = await _hello(inner)
    except BadHello as error:
        hello = ClientHello("", False)
        await desk.refuse(UNREADABLE, HIDDEN, "a host", str(error))
    if not hello.name:
        await desk.refuse(UNREADABLE, HIDDEN, "a host", "it names none")
        raise BrokenWire("nobody knows where it goes")
    await through(desk, inner, hello.name, TLS_PORT, b"", exchanges)


async def _names_agree(desk: DoorDesk, asked: OutgoingRequest, hello: ClientHello) -> None:
    target = url_of(asked.url)
    assert isinstance(target, UrlTarget)
    if hello.name and hello.name != target.host:
        await desk.refuse(asked, NAME, _shown(asked), hello.name)
    if desk.hidden_may_pass:
        return
    if hello.hidden:
        await desk.refuse(asked, HIDDEN, _shown(asked), "another name may be encrypted in it")
    if not hello.name and target.literal is None:
        await desk.refuse(asked, HIDDEN, _shown(asked), "it names none")


def _shown(asked: OutgoingRequest) -> str:
    return asked.url.partition("://")[2].rstrip("/")
