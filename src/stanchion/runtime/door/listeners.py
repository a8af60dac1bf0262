"""Listeners: the sockets on which the inside reaches the door. They belong to the network namespace
in which they were made, so the door accepts from inside while it stands outside."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Final, Self

import msgspec

from stanchion.kernel.shown import StanchionError

HOST: Final = "127.0.0.1"
HTTP, SOCKS, DNS, LOCAL = 3128, 1080, 53, 3130
"""Ports inside; local doors stand at the last one and those behind it."""
TLS, PLAIN = 443, 80
"""Where programs arrive that heed no proxy: every name is answered with the address of this door.
"""
MOST_LOCAL: Final = 64
"""How many doors with credentials there may be."""
BACKLOG: Final = 256
VERSION: Final = b"door1"
"""What is said with the sockets: another version of the door does not take them."""


class DoorError(StanchionError):
    """The door cannot be opened."""


def ports(local: int) -> list[tuple[int, bool]]:
    """The ports inside, and whether they are for streams; in the order in which their sockets are
    handed over. `local` is how many doors with credentials there are."""
    if not 0 <= local <= MOST_LOCAL:
        raise DoorError(f"{local} doors with credentials: there may be {MOST_LOCAL} of them")
    known = [(HTTP, True), (SOCKS, True), (DNS, False), (DNS, True)]
    known += [(LOCAL + number, True) for number in range(local)]
    return [*known, (TLS, True), (PLAIN, True)]


class Listeners(msgspec.Struct, frozen=True):
    """Listening sockets of one namespace: proxies for HTTP and SOCKS5, both kinds of DNS, one for
    each credential, and those for programs that heed no proxy, where they were made."""

    http: socket.socket
    socks: socket.socket
    dns_udp: socket.socket
    dns_tcp: socket.socket
    local: tuple[socket.socket, ...] = ()
    tls: socket.socket | None = None
    plain: socket.socket | None = None

    @classmethod
    def made(cls, local: int = 0, anywhere: bool = False) -> Self:
        """Listen in the namespace of the caller, whose loopback is up; `anywhere` takes ports that
        are free."""
        found = [_bound(0 if anywhere else port, stream) for port, stream in ports(local)]
        http, socks, dns_udp, dns_tcp, *others, tls, plain = found
        return cls(http, socks, dns_udp, dns_tcp, tuple(others), tls, plain)

    def send(self, over: socket.socket) -> None:
        """Hand the sockets to whoever is at the other end, and let go of them here."""
        socket.send_fds(over, [VERSION], [one.fileno() for one in self])
        self.close()

    @classmethod
    def received(cls, over: socket.socket) -> Self:
        """The sockets that `send` hands over at the other end."""
        said, numbers, _, _ = socket.recv_fds(
            over, len(VERSION), 6 + MOST_LOCAL, socket.MSG_CMSG_CLOEXEC
        )
        found = [socket.socket(fileno=number) for number in numbers]
        if said != VERSION or len(found) < 4:
            for one in found:
                one.close()
            raise DoorError("the inside did not hand its sockets over: start the command again")
        http, socks, dns_udp, dns_tcp, *others = found
        at = {one.getsockname()[1]: one for one in others}
        tls, plain = at.pop(TLS, None), at.pop(PLAIN, None)
        return cls(http, socks, dns_udp, dns_tcp, tuple(at.values()), tls, plain)

    def __iter__(self) -> Iterator[socket.socket]:
        yield from (self.http, self.socks, self.dns_udp, self.dns_tcp, *self.local)
        yield from [one for one in (self.tls, self.plain) if one is not None]

    def close(self) -> None:
        """Let go of them; nobody inside is answered any more once all who have them did."""
        for one in self:
            one.close()


def _bound(port: int, stream: bool) -> socket.socket:
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM if stream else socket.SOCK_DGRAM)
    try:
        if stream:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((HOST, port))
        if stream:
            made.listen(BACKLOG)
    except OSError as error:
        made.close()
        raise DoorError(f"cannot listen at port {port} inside: {error.strerror}") from error
    return made
