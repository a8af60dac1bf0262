"""The pieces that SSH's key files and agents speak in: numbers and byte strings, one after the
other."""

from __future__ import annotations

from typing import Final

NUMBER: Final = 4
"""How many bytes a number has."""


class Malformed(ValueError):
    """The bytes end too early, or go on where they should end."""


def number(value: int) -> bytes:
    """A number as it is sent."""
    return value.to_bytes(NUMBER, "big")


def string(data: bytes) -> bytes:
    """Bytes as they are sent: their length, then themselves."""
    return number(len(data)) + data


class Reader:
    """Reads pieces from bytes in their order; `Malformed` where there is no such piece."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def take(self, count: int) -> bytes:
        """The next so many bytes."""
        end = self._at + count
        if end > len(self._data):
            raise Malformed(
                f"{count} bytes are announced and {len(self._data) - self._at} are left"
            )
        taken = self._data[self._at : end]
        self._at = end
        return taken

    def number(self) -> int:
        """The next number."""
        return int.from_bytes(self.take(NUMBER), "big")

    def string(self) -> bytes:
        """The next byte string."""
        return self.take(self.number())

    def end(self) -> None:
        """Nothing may be left."""
        if self._at != len(self._data):
            raise Malformed(f"{len(self._data) - self._at} bytes are left over")
