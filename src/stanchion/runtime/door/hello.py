"""The first message of TLS: the name that a client asks for, read without opening anything."""

from __future__ import annotations

from typing import Final

from stanchion.kernel.tuples import NamedTuple

RECORD, CLIENT_HELLO = 22, 1
SERVER_NAME, HIDDEN_HELLO = 0, 0xFE0D
LONGEST_RECORD: Final = 16_384
LONGEST_HELLO: Final = 65_536


class BadHello(ValueError):
    """What begins like TLS, and is no ClientHello that everybody reads alike; says why."""


class ClientHello(NamedTuple):
    """What is read of it: the name it asks for, empty where it names none, and whether another one
    may be hidden in it."""

    name: str
    hidden: bool


class _Bytes:
    """Takes a message apart from its beginning."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def take(self, count: int) -> bytes:
        found = self._data[self._at : self._at + count]
        if len(found) != count:
            raise BadHello("it ends too early")
        self._at += count
        return found

    def number(self, size: int) -> int:
        return int.from_bytes(self.take(size), "big")

    def vector(self, size: int) -> _Bytes:
        return _Bytes(self.take(self.number(size)))

    @property
    def more(self) -> bool:
        return self._at < len(self._data)


def hello_in(data: bytes) -> ClientHello | None:
    """The ClientHello at the beginning of what a client sends, however many records it takes;
    `None` while there is not enough of it."""
    handshake = bytearray()
    at = 0
    while True:
        if data[at : at + 1] not in (b"", bytes([RECORD])):
            raise BadHello("it is interrupted by another record")
        if len(data) < at + 5:
            return None
        size = int.from_bytes(data[at + 3 : at + 5], "big")
        if data[at + 1] != 3 or not 0 < size <= LONGEST_RECORD:
            raise BadHello("its record is none of TLS")
        handshake += data[at + 5 : at + 5 + size]
        if handshake[0] != CLIENT_HELLO if handshake else False:
            raise BadHello("its first message is no ClientHello")
        if len(handshake) >= 4:
            whole = 4 + int.from_bytes(handshake[1:4], "big")
            if whole > LONGEST_HELLO:
                raise BadHello("it is longer than any ClientHello")
            if len(handshake) >= whole:
                return _read(bytes(handshake[4:whole]))
        at += 5 + size
        if len(data) < at:
            return None


def _read(body: bytes) -> ClientHello:
    hello = _Bytes(body)
    hello.take(34)
    hello.vector(1)
    hello.vector(2)
    hello.vector(1)
    found: dict[int, _Bytes] = {}
    extensions = hello.vector(2) if hello.more else _Bytes(b"")
    while extensions.more:
        kind = extensions.number(2)
        if kind in found:
            raise BadHello("it has an extension twice")
        found[kind] = extensions.vector(2)
    if hello.more:
        raise BadHello("it has more behind its extensions")
    return ClientHello(_name(found.get(SERVER_NAME)), HIDDEN_HELLO in found)


def _name(extension: _Bytes | None) -> str:
    if extension is None:
        return ""
    names = extension.vector(2)
    if names.number(1) != 0:
        raise BadHello("it names something other than a host")
    raw = names.vector(2)._data
    if names.more or extension.more:
        raise BadHello("it names several hosts")
    try:
        return raw.decode("ascii").lower().removesuffix(".")
    except UnicodeDecodeError:
        raise BadHello("its name is not written in ASCII") from None
