"""Escapes are undone in one pass, however long the words are that they stand in."""

import pytest

from stanchion.readings.disguise.escapes import unescaped


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("t\u043eken", "token"),
        ("\u0430\u0440i", "api"),
        ("a_\u0441_1", "a_c_1"),
        ("_\u0430\u0440i_key", "_api_key"),
        ("x \u0440\u0430ss", "x pass"),
    ],
)
def test_words_of_two_alphabets_are_read_in_one(text: str, said: str) -> None:
    made = unescaped(text)
    assert made is not None
    assert made.text == said


@pytest.mark.parametrize("text", ["\u0430\u0440", "\u0430_\u0440", "token \u0430", "\u0430 1"])
def test_words_of_one_alphabet_stay(text: str) -> None:
    assert unescaped(text) is None


@pytest.mark.parametrize("unit", ["a", "a_", "_", "1"])
def test_a_word_is_read_once_however_long(unit: str) -> None:
    """Read again from each of its letters, these words take an hour."""
    made = unescaped(unit * 400_000 + " t\u043eken")
    assert made is not None
    assert made.text.endswith(" token")
