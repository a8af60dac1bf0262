"""Framing: a message is its length in four bytes, then itself as msgpack. Nothing here does I/O."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, Final

import msgspec

MAX_FRAME: Final = 16 * 1024 * 1024
"""How large one message may be."""
FIRST_FRAME: Final = 4_096
"""How large the first one may be, which comes before anybody is known."""
HEAD: Final = 4

_encode = msgspec.msgpack.Encoder().encode

Frames = Generator[bytes | int, bytes, bytes]
"""Yields bytes to send, or how many bytes are wanted; gets those."""


class BadFrame(Exception):
    """What came is no message, or what was to be sent cannot be one; the text says why."""


def packed(message: msgspec.Struct) -> bytes:
    """A message as it travels; `BadFrame` where it cannot."""
    try:
        body = _encode(message)
    except (TypeError, ValueError, OverflowError, RecursionError, msgspec.MsgspecError) as error:
        raise BadFrame(f"it cannot be sent: {error}") from None
    if len(body) > MAX_FRAME:
        raise BadFrame(f"it has {len(body):,} bytes, and a message has at most {MAX_FRAME:,}")
    return len(body).to_bytes(HEAD, "big") + body


def size_in(head: bytes, limit: int = MAX_FRAME) -> int:
    """How long the message is that these four bytes announce; `BadFrame` where it is too long."""
    size = int.from_bytes(head, "big")
    if not 0 < size <= limit:
        raise BadFrame(
            f"a message of {size:,} bytes is announced, and a message has 1 to {limit:,}"
        )
    return size


def unpacked(body: bytes, decoder: msgspec.msgpack.Decoder[Any]) -> Any:
    """The message in a frame; `BadFrame` where it is none of those that are known."""
    try:
        return decoder.decode(body)
    except (ValueError, RecursionError, OverflowError, msgspec.MsgspecError) as error:
        raise BadFrame(f"it is not a message: {error}") from None


def exchanged(frame: bytes) -> Frames:
    """Send a frame and receive the next one."""
    yield frame
    size = size_in((yield HEAD))
    return (yield size)
