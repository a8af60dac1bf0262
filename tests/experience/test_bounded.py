"""What is kept of arguments is bounded, however large and odd they are."""

from __future__ import annotations

import math
from typing import Any

from hypothesis import given, strategies as st

from stanchion.experience.bounded import CUT, MOST_CHARS, bounded, cut, encoded, fingerprint
from tests.properties.examples import sample

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=300),
    lambda inner: (
        st.lists(inner, max_size=30) | st.dictionaries(st.text(max_size=80), inner, max_size=50)
    ),
    max_leaves=60,
)


@sample(25)
@given(st.dictionaries(st.text(max_size=80), VALUES, max_size=60))
def test_everything_is_kept_in_bounds_and_can_be_written(args: dict[str, Any]) -> None:
    data = encoded(bounded(args))
    assert len(data) <= 12 * MOST_CHARS
    assert "\\u0000" not in data


def test_a_large_call_takes_no_more_room_than_another() -> None:
    args = {f"name {number}": ["x" * 10_000] * 1_000 for number in range(1_000)}
    assert len(encoded(bounded(args))) < 2 * MOST_CHARS


def test_what_was_left_out_leaves_a_sign() -> None:
    assert cut("x" * 201) == "x" * 199 + CUT
    assert bounded({"a": list(range(25))})["a"][-1] == CUT
    assert (
        bounded({"a": {"b": {"c": {"d": {"e": {"f": {}}}}}}})["a"]["b"]["c"]["d"]["e"]["f"] == CUT
    )


def test_numbers_that_no_store_has_become_texts() -> None:
    assert bounded({"a": 1 << 70, "b": math.inf, "c": -1}) == {
        "a": str(1 << 70),
        "b": "inf",
        "c": -1,
    }


def test_a_fingerprint_is_of_the_tool_and_its_arguments_in_any_order() -> None:
    one, other = {"a": 1, "b": {"c": 2, "d": 3}}, {"b": {"d": 3, "c": 2}, "a": 1}
    assert fingerprint("t", encoded(bounded(one))) == fingerprint("t", encoded(bounded(other)))
    assert fingerprint("t", encoded(bounded(one))) != fingerprint("u", encoded(bounded(one)))
