"""Numbers that are written as words."""

from __future__ import annotations

import re

import pytest

from stanchion.readings.claims.forms import WORD, number_of


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("zero", 0), ("no", 0), ("one", 1), ("ten", 10), ("nineteen", 19), ("twenty", 20),
        ("forty-two", 42), ("ninety nine", 99), ("1,204", 1204), ("7", 7),
    ],
)  # fmt: skip
def test_a_number_is_read(text: str, number: int) -> None:
    assert number_of(text) == number


def test_what_is_no_number_counts_nothing() -> None:
    assert number_of("3.5") == "3.5"


@pytest.mark.parametrize("text", ["seven", "seventeen", "seventy", "seventy-seven", "sixty six"])
def test_a_word_is_read_to_its_end(text: str) -> None:
    found = re.match(WORD, text)
    assert found is not None
    assert found[0] == text
