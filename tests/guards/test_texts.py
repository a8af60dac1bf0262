"""The texts of content: all of them are seen, and what is hidden is hidden on the structure."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

from stanchion.kernel.findings import Patch
from stanchion.kernel.patches import PatchError, apply
from stanchion.readings.texts import TextLeaf, TextSpan, hidden, hiding, leaves

MARK = "SECRET-MARK"

content = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=8)
    | st.just(f"a{MARK}b"),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.text(max_size=4) | st.just(MARK) | st.just(f"{MARK}2"), inner, max_size=4
        )
    ),
    max_leaves=20,
)


def word(kind: str, _text: str) -> str:
    return f"[redacted:{kind}]"


def found(texts: list[TextLeaf]) -> list[list[TextSpan]]:
    spans: list[list[TextSpan]] = []
    for leaf in texts:
        at = leaf.text.find(MARK)
        spans.append([TextSpan(at, at + len(MARK), "mark")] if at >= 0 else [])
    return spans


def shape(value: Any) -> Any:
    if isinstance(value, dict):
        return ["object", *[shape(item) for item in value.values()]]
    return ["list", *[shape(item) for item in value]] if isinstance(value, list) else type(value)


@given(content)
def test_nothing_that_was_found_is_left_and_the_shape_is_kept(value: Any) -> None:
    texts = leaves(value)
    redacted = apply(value, hiding(texts, found(texts), word))
    assert MARK not in repr(redacted)
    assert shape(redacted) == shape(value)


@given(content)
def test_content_in_which_nothing_is_found_is_not_touched(value: Any) -> None:
    texts = leaves(value)
    assert hiding(texts, [[] for _ in texts], word) == ()


def test_names_long_numbers_and_nested_values_are_texts() -> None:
    assert leaves(
        {"a": ["x", {"b c": 4111111111111111}], "a_name_that_is_long": True, "d": 12}
    ) == [
        TextLeaf((), "a_name_that_is_long", named=True),
        TextLeaf(("a", 0), "x"),
        TextLeaf(("a", 1), "b c", named=True),
        TextLeaf(("a", 1, "b c"), "4111111111111111", number=True),
    ]


def test_two_names_that_become_one_are_both_kept() -> None:
    value = {f"{MARK}": 1, "[redacted:mark]": 2}
    texts = leaves(value)
    assert apply(value, hiding(texts, found(texts), word)) == {
        "[redacted:mark] 2": 1,
        "[redacted:mark]": 2,
    }


def test_names_are_edited_with_everything_under_them_in_their_order() -> None:
    value = {"a": 0, f"x {MARK}": {f"{MARK} y": [MARK, {MARK: 1}]}, f"z{MARK}": 2}
    texts = leaves(value)
    redacted = apply(value, hiding(texts, found(texts), word))
    said = "[redacted:mark]"
    assert list(redacted.items()) == [
        ("a", 0),
        (f"x {said}", {f"{said} y": [said, {said: 1}]}),
        (f"z{said}", 2),
    ]


@pytest.mark.parametrize(
    ("patches", "expected"),
    [
        pytest.param(
            [Patch(("ab", "c"), "no"), Patch(("ab",), "-", 0, 1, named=True)],
            {"-b": {"c": "no"}},
            id="both",
        ),
        pytest.param(
            [Patch(("ab",), "-", 0, 1, named=True), Patch(("ab",), "+", 1, 2, named=True)],
            {"-+": {"c": 1}},
            id="twice",
        ),
        pytest.param([Patch(("ab",), "all", named=True)], {"all": {"c": 1}}, id="whole"),
        pytest.param(
            [Patch(("ab", "c"), "d", 0, 1, named=True), Patch(("ab",), 7)], {"ab": 7}, id="under"
        ),
    ],
)
def test_edits_of_names_and_of_values_go_together(patches: list[Patch], expected: Any) -> None:
    assert apply({"ab": {"c": 1}}, patches) == expected


@pytest.mark.parametrize("path", [("b",), ("a", 0), ("a", "x")])
def test_a_name_that_is_not_there_cannot_be_edited(path: tuple[str | int, ...]) -> None:
    with pytest.raises(PatchError):
        apply({"a": ["x"]}, [Patch(path, "y", named=True)])


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        ([], "0123456789"),
        ([TextSpan(2, 4, "a"), TextSpan(3, 6, "b")], "01[redacted:a]6789"),
        ([TextSpan(2, 8, "a"), TextSpan(3, 5, "b")], "01[redacted:a]89"),
        ([TextSpan(2, 4, "a"), TextSpan(2, 4, "a")], "01[redacted:a]456789"),
        ([TextSpan(5, 6, "b"), TextSpan(0, 1, "a")], "[redacted:a]1234[redacted:b]6789"),
    ],
)
def test_spans_that_overlap_are_one(spans: list[TextSpan], expected: str) -> None:
    assert hidden("0123456789", spans, word) == expected
