"""A door on loopback for tests: what stands inside speaks to it by sockets of its own, and names
lead where a test says."""

from __future__ import annotations

import socket
import ssl
import struct
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import msgspec

from stanchion import Run, Shield
from stanchion.runtime.door.door import Door, local_doors
from stanchion.runtime.door.listeners import Listeners
from stanchion.testing import shield_for
from tests.hosts.http.policies import decided

PATIENCE_S = 20.0
"""How long a test waits for what has to come; nothing is measured by it."""


class Opened(NamedTuple):
    """An open door, its shield and its run, and the places of its listeners."""

    shield: Shield
    run: Run
    door: Door
    http: tuple[str, int]
    socks: tuple[str, int]
    dns: tuple[str, int]
    dns_tcp: tuple[str, int]
    local: tuple[tuple[str, int], ...]
    tls: tuple[str, int]
    plain: tuple[str, int]

    @property
    def decided(self) -> list[str]:
        """What was decided about requests, in order."""
        return decided(self.shield)


def shield_of(names: Any, door: Any = None, credentials: Any = None, **egress: Any) -> Shield:
    """A shield whose only guard is `egress`; `names` says where names lead, as a table or a
    function."""
    known = {} if names is None else names
    policy = {"name": "door", "guards": [{"use": "egress", **egress}]}
    policy |= {"door": {} if door is None else door}
    policy |= {"credentials": {} if credentials is None else credentials}
    resolver = known if callable(known) else lambda host, port: known.get(host, [])
    return shield_for(policy, resolver=resolver)


@contextmanager
def opened(
    names: Any = None,
    door: Any = None,
    *,
    tls: ssl.SSLContext | None = None,
    credentials: Any = None,
    here: Shield | None = None,
    unaware: bool = False,
    closed: Collection[int] = (),
    **egress: Any,
) -> Iterator[Opened]:
    """A door for a run of a shield whose only guard is `egress`; `unaware` has programs find
    it that heed no proxy, `closed` are ports of our own servers."""
    here = shield_of(names, door, credentials, **egress) if here is None else here
    listeners = Listeners.made(local_doors(here.policy.file), anywhere=True)
    http, socks, dns, dns_tcp, *local, tls_at, plain_at = [one.getsockname() for one in listeners]
    if not unaware:
        *_, direct_tls, direct = listeners
        direct_tls.close()
        direct.close()
        listeners = msgspec.structs.replace(listeners, tls=None, plain=None)
    run = here.run()
    made = Door(run, listeners, tls, lambda *_: ["127.0.0.1"], closed)
    made.start()
    try:
        yield Opened(here, run, made, http, socks, dns, dns_tcp, tuple(local), tls_at, plain_at)
    finally:
        made.close()


def said(place: tuple[str, int], *pieces: bytes, ends: bool = False) -> bytes:
    """All that is answered to what a program says, until the door closes the connection."""
    with socket.create_connection(place, PATIENCE_S) as sock:
        for piece in pieces:
            sock.sendall(piece)
        if ends:
            sock.shutdown(socket.SHUT_WR)
        return rest(sock)


def exactly(sock: socket.socket, count: int) -> bytes:
    """So many bytes of what comes."""
    found = bytearray()
    while len(found) < count and (came := sock.recv(count - len(found))):
        found += came
    return bytes(found)


def rest(sock: socket.socket) -> bytes:
    """What comes until the connection ends."""
    found = b""
    try:
        while came := sock.recv(65_536):
            found += came
    except ConnectionResetError:
        pass
    return found


def asked(
    place: tuple[str, int], name: str, kind: int = 1, stream: bool = False
) -> tuple[int, bytes]:
    """What is answered to a question for a name: the code, and the bytes of an address."""
    labels = b"".join([bytes([len(one)]) + one.encode() for one in name.split(".")])
    packet = b"\x12\x34\x01\0\0\1\0\0\0\0\0\0" + labels + b"\0" + struct.pack(">HH", kind, 1)
    how = socket.SOCK_STREAM if stream else socket.SOCK_DGRAM
    with socket.socket(socket.AF_INET, how) as sock:
        sock.settimeout(PATIENCE_S)
        sock.connect(place)
        sock.sendall(len(packet).to_bytes(2, "big") + packet if stream else packet)
        answer = sock.recv(512)[2 if stream else 0 :]
    assert answer[:2] == b"\x12\x34"
    return answer[3] & 15, answer[-4:] if answer[7] else b""


def hello(name: str = "", hidden: bool = False, pieces: int = 1) -> bytes:
    """A ClientHello that asks for a name, in so many records."""
    raw = name.encode()
    listed = b"\0" + struct.pack(">H", len(raw)) + raw
    extensions = b"\0\x2b\0\3\2\3\4"
    if name:
        extensions += struct.pack(">HHH", 0, len(listed) + 2, len(listed)) + listed
    if hidden:
        extensions += b"\xfe\x0d\0\1\0"
    body = b"\3\3" + bytes(32) + b"\0" + b"\0\2\x13\1" + b"\1\0"
    body += struct.pack(">H", len(extensions)) + extensions
    message = b"\1" + len(body).to_bytes(3, "big") + body
    size = -(-len(message) // pieces)
    cut = [message[at : at + size] for at in range(0, len(message), size)]
    return b"".join([b"\x16\3\1" + struct.pack(">H", len(one)) + one for one in cut])
