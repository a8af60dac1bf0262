"""Whether 32 bytes are a public key that proves anything: a point of Ed25519's curve that is not of
small order."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

P: Final = 2**255 - 19
D: Final = -121665 * pow(121666, -1, P) % P


@lru_cache(256)
def proves(raw: bytes) -> bool:
    """Whether a signature by this key can only come from who has its private half.

    Under a point of small order one signature fits many messages, and anybody can make it. Doubled
    three times such a point is the neutral one. The sign of x has no part in that, so that x² is
    enough and no root is drawn.
    """
    y = int.from_bytes(raw, "little") & (1 << 255) - 1
    if len(raw) != 32 or y >= P:
        return False
    square = _x_squared(y)
    if pow(square, (P - 1) // 2, P) == P - 1:
        return False
    for _ in range(3):
        square = _x_squared(y)
        y = (y * y + square) * pow(1 - D * square * y * y, -1, P) % P
    return y != 1


def _x_squared(y: int) -> int:
    """x² where `-x² + y² = 1 + D·x²·y²`."""
    return (y * y - 1) * pow(D * y * y + 1, -1, P) % P
