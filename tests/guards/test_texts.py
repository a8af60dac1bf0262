"""The texts of content: all of them are seen, and what is hidden is hidden on the structure."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

from stanchion.kernel.patches import apply
from stanchion.readings.texts import Leaf, Span, hidden, hiding, leaves

MARK = "SECRET-MARK"

content = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8) | st.just(f"a{MARK}b"),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=4) | st.just(MARK) | st.just(f"{MARK}2"), inner, max_size=4)
    ),
    max_leaves=20,
)


def word(kind: str, _text: str) -> str:
    return f"[redacted:{kind}]"


def found(texts: list[Leaf]) -> list[list[Span]]:
    spans: list[list[Span]] = []
    for leaf in texts:
        at = leaf.text.find(MARK)
        spans.append([Span(at, at + len(MARK), "mark")] if at >= 0 else [])
    return spans


def shape(value: Any) -> Any:
    if isinstance(value, dict):
        return ["object", *[shape(item) for item in value.values()]]
    return ["list", *[shape(item) for item in value]] if isinstance(value, list) else type(value)


@given(content)
def test_nothing_that_was_found_is_left_and_the_shape_is_kept(value: Any) -> None:
    texts = leaves(value)
    redacted = apply(value, hiding(value, texts, found(texts), word))
    assert MARK not in repr(redacted)
    assert shape(redacted) == shape(value)


@given(content)
def test_content_in_which_nothing_is_found_is_not_touched(value: Any) -> None:
    texts = leaves(value)
    assert hiding(value, texts, [[] for _ in texts], word) == ()


def test_names_long_numbers_and_nested_values_are_texts() -> None:
    assert leaves({"a": ["x", {"b c": 4111111111111111}], "a_name_that_is_long": True, "d": 12}) == [
        Leaf((), "a_name_that_is_long", named=True),
        Leaf(("a", 0), "x"),
        Leaf(("a", 1), "b c", named=True),
        Leaf(("a", 1, "b c"), "4111111111111111", number=True),
    ]


def test_two_names_that_become_one_are_both_kept() -> None:
    value = {f"{MARK}": 1, "[redacted:mark]": 2}
    texts = leaves(value)
    assert apply(value, hiding(value, texts, found(texts), word)) == {"[redacted:mark]": 1, "[redacted:mark] 2": 2}


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        ([], "0123456789"),
        ([Span(2, 4, "a"), Span(3, 6, "b")], "01[redacted:a]6789"),
        ([Span(2, 8, "a"), Span(3, 5, "b")], "01[redacted:a]89"),
        ([Span(2, 4, "a"), Span(2, 4, "a")], "01[redacted:a]456789"),
        ([Span(5, 6, "b"), Span(0, 1, "a")], "[redacted:a]1234[redacted:b]6789"),
    ],
)
def test_spans_that_overlap_are_one(spans: list[Span], expected: str) -> None:
    assert hidden("0123456789", spans, word) == expected
