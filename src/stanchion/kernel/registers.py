"""Registers: the last outcomes of something as the bits of one number, newest lowest, below a bit
that ends them."""

from __future__ import annotations

from typing import Final

from stanchion.kernel.tuples import NamedTuple

MOST_BITS: Final = 50
"""How many outcomes a register can hold: with the bit that ends them every store counts that far
exactly."""


class Outcomes(NamedTuple):
    """How many outcomes are known, and how many of them were failures."""

    known: int
    failed: int


def pushed(register: int, bit: int, bits: int) -> int:
    """A register with one more outcome; beyond `bits` the oldest is dropped. An empty one is 0."""
    longer = 2 * (register if register > 0 else 1) + bit
    full = 1 << bits
    return longer if longer < 2 * full else longer % full + full


def outcomes(register: int) -> Outcomes:
    """What a register holds."""
    if register <= 0:
        return Outcomes(0, 0)
    return Outcomes(register.bit_length() - 1, register.bit_count() - 1)


def streak(register: int) -> int:
    """How many failures came last, one after the other."""
    if register <= 0:
        return 0
    inverted = ~register
    trailing = (inverted & -inverted).bit_length() - 1
    return min(trailing, register.bit_length() - 1)
