"""Keccak-256: the hash by which an Ethereum address is spelt; not the SHA-3 that became the
standard."""

from __future__ import annotations

from typing import Final

MASK: Final = (1 << 64) - 1
RATE: Final = 136
TURNS: Final = (
    (0, 36, 3, 41, 18),
    (1, 44, 10, 45, 2),
    (62, 6, 43, 15, 61),
    (28, 55, 25, 21, 56),
    (27, 20, 39, 8, 14),
)


def keccak256(data: bytes) -> bytes:
    """The hash of a text that is shorter than a block (136 bytes)."""
    if len(data) >= RATE:
        raise ValueError(f"`{len(data)}` bytes are more than a block: give fewer than {RATE}")
    block = bytearray(data + b"\x01" + bytes(RATE - 1 - len(data)))
    block[-1] |= 0x80
    words = [int.from_bytes(block[at : at + 8], "little") for at in range(0, RATE, 8)] + [0] * 8
    lanes = _mixed([[words[x + 5 * y] for y in range(5)] for x in range(5)])
    return b"".join([lanes[x][0].to_bytes(8, "little") for x in range(4)])


def _mixed(lanes: list[list[int]]) -> list[list[int]]:
    register = 1
    for _ in range(24):
        columns = [
            lanes[x][0] ^ lanes[x][1] ^ lanes[x][2] ^ lanes[x][3] ^ lanes[x][4] for x in range(5)
        ]
        parity = [columns[(x + 4) % 5] ^ _turned(columns[(x + 1) % 5], 1) for x in range(5)]
        moved = [[0] * 5 for _ in range(5)]
        for x in range(5):
            for y in range(5):
                moved[y][(2 * x + 3 * y) % 5] = _turned(lanes[x][y] ^ parity[x], TURNS[x][y])
        lanes = [
            [moved[x][y] ^ (~moved[(x + 1) % 5][y] & moved[(x + 2) % 5][y]) for y in range(5)]
            for x in range(5)
        ]
        for power in range(7):
            register = (register << 1) ^ ((register >> 7) * 0x171)
            if register & 2:
                lanes[0][0] ^= 1 << ((1 << power) - 1)
    return lanes


def _turned(value: int, by: int) -> int:
    return ((value << by) | (value >> (64 - by))) & MASK
