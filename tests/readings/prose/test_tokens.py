"""Tokens: they say the same as a whole text does, whatever stands in it."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from stanchion.readings.prose.lexicon import stems, words
from stanchion.readings.prose.tokens import (
    KEPT,
    LONGEST,
    READ,
    Known,
    stems_and_values,
    stems_in,
    tokens,
    values_in,
    words_in,
)
from stanchion.readings.prose.values import ODD, squash, values

PIECES = st.sampled_from(
    [
        *(
            "Friday,",
            "don't",
            "GB29 NWBK 6016 1331 9268 19",
            "anna@example.org.",
            "https://a.example.org/x?y=1",
            "1.5",
        ),
        *(
            "x_1=7",
            "2024-05-15 10:00",
            "+49 170 1234567",
            "$1,200.00",
            "ΑΣ",
            "²",
            "é٣",
            "www.a-b.de",
            "…",
            "((",
            "a/b\\c",
        ),
    ]
)
TEXTS = st.lists(st.one_of(PIECES, st.text(max_size=12)), max_size=8).map(" ".join)


@given(TEXTS)
def test_the_tokens_of_a_text_say_what_the_text_says(text: str) -> None:
    read = tokens(text)
    assert words_in(read) == words(text)
    assert stems_in(read) == stems(text)
    assert values_in(text, read) == values(text)
    assert stems_and_values(text) == (stems(text), frozenset(values(text)))


@given(TEXTS)
def test_plain_texts_are_squashed_as_all_others(text: str) -> None:
    assert squash(text) == ODD.sub("", text).lower()


@given(st.text("ab 1.@/_\\:=-wW,\n'", max_size=30))
def test_no_value_is_lost_where_a_text_seems_to_have_none(text: str) -> None:
    assert values(f"{text} é") == [*values(text)]


@pytest.mark.parametrize("size", [LONGEST, LONGEST + 1])
def test_only_short_tokens_are_remembered(size: int) -> None:
    token = "q" * (size - 1) + "1"
    assert words_in(tokens(token)) == ["q" * (size - 1), "1"]
    assert (token in READ) == (size == LONGEST)


def test_only_so_many_tokens_are_remembered() -> None:
    found: Known[int] = Known(len)
    assert [found[str(number)] for number in range(KEPT + 2)][-1] == len(str(KEPT + 1))
    assert len(found) == 2
