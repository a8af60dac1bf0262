"""SOCKS5 as the inside speaks it: connections to names and addresses, and nothing else."""

from __future__ import annotations

from ipaddress import ip_address
from typing import Final

from stanchion.runtime.door.wires import DoorWire

VERSION: Final = 5
CONNECT: Final = 1
IPV4, NAME, IPV6 = 1, 3, 4
OK, FAILED, NOT_ALLOWED, UNREACHED, NO_COMMAND, NO_KIND = 0, 1, 2, 4, 7, 8
NOWHERE: Final = b"\0\1\0\0\0\0\0\0"


class BadSocks(ValueError):
    """What is no request of SOCKS5; `code` is what is answered, nothing where it is 255."""

    def __init__(self, code: int = 255) -> None:
        super().__init__(code)
        self.code = code


def answered(code: int) -> bytes:
    """What is answered to a request."""
    return bytes([VERSION, code]) + NOWHERE


async def requested(inner: DoorWire) -> tuple[str, int]:
    """The host and the port that a program asks for; raises `BadSocks`."""
    version, count = await inner.exactly(2)
    if version != VERSION or 0 not in await inner.exactly(count):
        raise BadSocks
    await inner.send(bytes([VERSION, 0]))
    version, command, _, kind = await inner.exactly(4)
    if version != VERSION:
        raise BadSocks
    if kind == NAME:
        try:
            host = (await inner.exactly((await inner.exactly(1))[0])).decode("ascii")
        except UnicodeDecodeError:
            raise BadSocks(FAILED) from None
    elif kind in (IPV4, IPV6):
        host = str(ip_address(await inner.exactly(4 if kind == IPV4 else 16)))
    else:
        raise BadSocks(NO_KIND)
    port = int.from_bytes(await inner.exactly(2), "big")
    if command != CONNECT:
        raise BadSocks(NO_COMMAND)
    return host, port
