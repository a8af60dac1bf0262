"""As much as there is room for, and no piece in part."""

from __future__ import annotations

from hypothesis import given, strategies as st

from stanchion.advice.awareness import fitting


def test_a_piece_that_does_not_fit_is_left_out_and_the_next_is_tried() -> None:
    assert fitting(["aaaa", "b" * 50, "cc"], 10, len) == "aaaa\ncc"


WORDS = st.text("abc", max_size=20)


@given(st.lists(WORDS), st.integers(0, 60))
def test_it_is_never_longer_and_never_in_part(pieces: list[str], room: int) -> None:
    said = fitting(pieces, room, len)
    assert len(said) <= room
    left = iter(pieces)
    assert all(line in left for line in said.split("\n") if line), "each is a whole piece, in their order"
