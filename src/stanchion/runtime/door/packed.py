"""Packed bodies: answers that are packed and do not say so, such as archives, are unpacked beside
and looked into before they are passed on."""

from __future__ import annotations

import zlib
from collections import deque
from collections.abc import Callable
from typing import Any, Final

PACKED: Final[dict[bytes, int | None]] = {
    b"\x1f\x8b": 31,
    b"\x78\x01": 15,
    b"\x78\x5e": 15,
    b"\x78\x9c": 15,
    b"\x78\xda": 15,
    b"\x28\xb5\x2f\xfd": None,
}
"""How packed bodies begin, and how zlib is told of it; `None` is what nobody here can unpack."""
LONGEST_START: Final = 4
PIECE: Final = 4_096
"""So much is unpacked at once, so that what is passed on is never ahead of what was looked at."""
MOST_AT_ONCE: Final = 65_536


class Unseen(ValueError):
    """A packed body with a secret in it, or one that cannot be looked into."""


def packing(start: bytes) -> bytes:
    """How a body begins that is packed; empty where it is not."""
    return next((one for one in PACKED if start.startswith(one)), b"")


class PackedLook:
    """Looks into one packed body as it comes; `finds` says whether bytes hold a secret, of which
    the longest form has so many bytes."""

    def __init__(self, begins: bytes, finds: Callable[[bytes], bool], longest: int) -> None:
        self._begins, self._finds, self._longest = begins, finds, longest
        self._unpacker: Any = self._new()
        self._tail = b""
        self._unpacked = 0
        self._waits: deque[tuple[bytes, int]] = deque()

    def passes(self, data: bytes) -> list[bytes]:
        """Take what came; gives what of it, and of what came before, may be passed on. `Unseen`
        where it must not go on."""
        for at in range(0, len(data), PIECE):
            piece = data[at : at + PIECE]
            self._look(piece)
            self._waits.append((piece, self._unpacked))
        found = []
        while self._waits and self._waits[0][1] + self._longest <= self._unpacked:
            found.append(self._waits.popleft()[0])
        return found

    def rest(self) -> list[bytes]:
        """What is left at the end of the body."""
        return [piece for piece, _ in self._waits]

    def _new(self) -> Any:
        how = PACKED[self._begins]
        if how is None:
            raise Unseen
        return zlib.decompressobj(how)

    def _look(self, data: bytes) -> None:
        while data:
            try:
                found = self._unpacker.decompress(data, MOST_AT_ONCE)
            except zlib.error:
                raise Unseen from None
            self._unpacked += len(found)
            self._tail += found
            if self._finds(self._tail):
                raise Unseen
            self._tail = self._tail[-self._longest :]
            data = self._unpacker.unconsumed_tail
            if self._unpacker.eof:
                data = self._unpacker.unused_data.lstrip(b"\0")
                self._unpacker = self._new()
