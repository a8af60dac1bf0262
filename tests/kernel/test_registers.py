"""A register holds the last outcomes, exactly, as one number."""

from __future__ import annotations

import random

import pytest

from stanchion.kernel.registers import MOST_BITS, outcomes, pushed, streak


@pytest.mark.parametrize("bits", [1, 2, 5, 20, MOST_BITS])
def test_it_holds_the_last_outcomes_and_no_more(bits: int) -> None:
    drawn = random.Random(bits)
    register, history = 0, list[int]()
    for _ in range(3 * bits + 5):
        kept = history[-bits:]
        assert outcomes(register) == (len(kept), sum(kept))
        assert streak(register) == next(
            (at for at, bit in enumerate(reversed(kept)) if not bit), len(kept)
        )
        bit = drawn.randint(0, 1)
        history.append(bit)
        register = pushed(register, bit, bits)
        assert 0 < register < 2**53, "exact in every store"


def test_an_empty_one_says_nothing() -> None:
    assert outcomes(0) == (0, 0)
    assert streak(0) == 0
