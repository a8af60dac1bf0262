"""As much as there is room for, and no piece in part."""

from __future__ import annotations

from hypothesis import given, strategies as st

from stanchion.experience.advice_context import AdviceContext, ToolText, ever_shorter, fitting
from stanchion.experience.similarity import Similar


def test_a_piece_that_does_not_fit_is_left_out_and_the_next_is_tried() -> None:
    assert fitting([["aaaa"], ["b" * 50], ["cc"]], 10, len) == "aaaa\ncc"


def test_of_a_piece_the_longest_wording_that_fits_is_taken() -> None:
    assert fitting([["a" * 20, "aaaa", "a"], ["b" * 20, "", "bb"]], 10, len) == "aaaa\nbb"


WORDS = st.text("abc", max_size=20)


@given(st.lists(st.lists(WORDS, max_size=3)), st.integers(0, 60))
def test_it_is_never_longer_and_never_in_part(pieces: list[list[str]], room: int) -> None:
    said = fitting(pieces, room, len)
    assert len(said) <= room
    left = iter(pieces)
    lines = [line for line in said.split("\n") if line]
    assert all(any(line in wordings for wordings in left) for line in lines), (
        "each is a whole wording, in their order"
    )


def test_less_and_less_is_said_the_error_first() -> None:
    similar = Similar("t", "f", 1, 0, 0.5, ())
    told = [*ever_shorter(AdviceContext("t", 1, ToolText("e" * 100), similar))]
    assert [0 if one.last_error is None else len(one.last_error.text) for one in told] == [
        100,
        80,
        40,
        0,
        0,
    ]
    assert [one.similar_success is None for one in told] == [False] * 4 + [True]
    assert [*ever_shorter(AdviceContext("t"))] == [AdviceContext("t")]
