"""Arrays as PostgreSQL sends and reads them, made by hand: a list would cost more to adapt than the
batch to send."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct, unpack_from
from typing import Final

INT8, TEXT, BYTEA = 20, 25, 17
"""The types of elements, by PostgreSQL's numbers for them."""

_HEAD: Final = Struct(">iiiii")
_EIGHT: Final = b"\0\0\0\x08"
_NUMBERS: Final[dict[int, Struct]] = {}
AT: Final = _HEAD.size
"""Where the first element begins."""


def head(kind: int, count: int) -> bytes:
    """What stands before the elements of an array."""
    return _HEAD.pack(1, 0, kind, count, 1)


def numbers(given: Sequence[int]) -> bytes:
    """An array of numbers; `OverflowError` where one needs more than 64 bits."""
    return head(INT8, len(given)) + b"".join(
        [_EIGHT + number.to_bytes(8, "big", signed=True) for number in given]
    )


def element(given: bytes) -> bytes:
    """A text or bytes, as an element of an array."""
    return len(given).to_bytes(4, "big") + given


def elements(kind: int, given: Sequence[bytes]) -> bytes:
    """An array of texts or bytes."""
    return head(kind, len(given)) + b"".join([element(each) for each in given])


def number(given: int) -> bytes:
    """A number by itself."""
    return given.to_bytes(8, "big", signed=True)


def read_number(sent: bytes) -> int:
    """A number by itself."""
    return int.from_bytes(sent, "big", signed=True)


def read_numbers(sent: bytes) -> tuple[int, ...]:
    """The numbers of an array without gaps."""
    count = (len(sent) - AT) // 12
    form = _NUMBERS.get(count)
    if form is None:
        form = _NUMBERS[count] = Struct(">" + "4xq" * count)
    return form.unpack_from(sent, AT) if count > 0 else ()


def read_elements(sent: bytes) -> list[bytes | None]:
    """The texts or bytes of an array."""
    found: list[bytes | None] = []
    at = AT
    while at < len(sent):
        (size,) = unpack_from(">i", sent, at)
        at += 4
        found.append(None if size < 0 else sent[at : at + size])
        at += max(size, 0)
    return found


def read_row(sent: bytes) -> list[bytes | None]:
    """The columns of a row that was sent as one value."""
    found: list[bytes | None] = []
    at = 4
    while at < len(sent):
        (size,) = unpack_from(">i", sent, at + 4)
        at += 8
        found.append(None if size < 0 else sent[at : at + size])
        at += max(size, 0)
    return found
