"""Check digits: every mistake in one digit is seen, and the numbers others publish are right."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, strategies as st

from stanchion.guards.pii.entity import date, luhn, mod11_10, mod97, verhoeff

CHECKS = [pytest.param(check, id=check.__name__) for check in (luhn, verhoeff, mod11_10)]
NUMBERS = st.text("0123456789", min_size=6, max_size=18)


def completed(check: Callable[[str], bool], number: str) -> str:
    """A number with the digit that makes it right."""
    (right,) = [number + digit for digit in "0123456789" if check(number + digit)]
    return right


@pytest.mark.parametrize("check", CHECKS)
@given(number=NUMBERS, place=st.integers(0, 17), by=st.integers(1, 9))
def test_one_wrong_digit_is_seen(
    check: Callable[[str], bool], number: str, place: int, by: int
) -> None:
    right = completed(check, number)
    at = place % len(right)
    wrong = right[:at] + str((int(right[at]) + by) % 10) + right[at + 1 :]
    assert check(right)
    assert not check(wrong)


@given(number=NUMBERS, place=st.integers(0, 16))
def test_verhoeff_sees_neighbours_that_changed_places(number: str, place: int) -> None:
    right = completed(verhoeff, number)
    at = place % (len(right) - 1)
    swapped = right[:at] + right[at + 1] + right[at] + right[at + 2 :]
    assert verhoeff(swapped) == (swapped == right)


@pytest.mark.parametrize(
    "iban", ["GB82WEST12345698765432", "DE89370400440532013000", "NO9386011117947"]
)
def test_account_numbers_of_the_standard_are_right(iban: str) -> None:
    assert mod97(iban)
    assert not mod97(iban[:-1] + str((int(iban[-1]) + 1) % 10))


def test_dates_that_are_none() -> None:
    assert date(1984, 2, 29)
    assert not any(
        [
            date(1984, 2, 30),
            date(1984, 13, 1),
            date(1984, 4, 31),
            date(1984, 1, 0),
            date(3000, 1, 1),
        ]
    )
