"""Patches: nothing that is covered survives, everything else does, and what is not touched is not
copied."""

import copy
from typing import Any

import pytest
from hypothesis import given, strategies as st

from stanchion.kernel.findings import Patch
from stanchion.kernel.patches import PatchError, apply
from tests.properties.examples import sample

LETTERS = "".join(chr(0x3B1 + number) for number in range(24))
"""A text of letters that are all different, so that each can be looked for."""

spans = st.lists(
    st.tuples(st.integers(0, 23), st.integers(1, 6), st.sampled_from("123")).map(
        lambda drawn: Patch((), drawn[2], drawn[0], min(drawn[0] + drawn[1], 24))
    ),
    max_size=7,
)


@sample(75, share=0.2)
@given(spans)
def test_no_covered_character_survives_and_all_others_do_in_order(patches: list[Patch]) -> None:
    covered = {at for patch in patches for at in range(patch.start, patch.end)}
    kept = "".join(char for char in apply(LETTERS, patches) if char not in "123")
    assert kept == "".join(char for at, char in enumerate(LETTERS) if at not in covered)


@sample(75, share=0.2)
@given(spans)
def test_overlapping_spans_are_replaced_once_by_the_leftmost_and_longest(
    patches: list[Patch],
) -> None:
    groups: list[list[Patch]] = []
    for patch in sorted(patches, key=lambda patch: (patch.start, -patch.end)):
        if groups and patch.start < max(other.end for other in groups[-1]):
            groups[-1].append(patch)
        else:
            groups.append([patch])
    words = "".join(char for char in apply(LETTERS, patches) if char in "123")
    assert words == "".join(str(group[0].value) for group in groups)


@sample(75, share=0.1)
@given(spans, st.randoms(use_true_random=False))
def test_the_order_of_patches_matters_only_between_equal_spans(
    patches: list[Patch], chance: Any
) -> None:
    unlike = list({(patch.start, patch.end): patch for patch in patches}.values())
    shuffled = list(unlike)
    chance.shuffle(shuffled)
    assert apply(LETTERS, shuffled) == apply(LETTERS, unlike)


@sample(75, share=0.1)
@given(spans)
def test_spans_of_a_list_are_spans_of_its_items(patches: list[Patch]) -> None:
    assert "".join(apply(list(LETTERS), patches)) == apply(LETTERS, patches)


def test_what_is_inside_a_list_is_patched_before_items_are_cut_out_of_it() -> None:
    content = {"rows": ["a", "b", "c", {"name": "secret"}]}
    patches = [
        Patch(("rows",), "2 rows", 0, 2),
        Patch(("rows", 3, "name"), "***", 0, 6),
        Patch(("rows", 1), "gone"),
    ]
    assert apply(content, patches) == {"rows": ["2 rows", "c", {"name": "***"}]}
    assert content == {"rows": ["a", "b", "c", {"name": "secret"}]}


contents = st.recursive(
    st.text("ab ", max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("xyz"), inner, max_size=3)
    ),
    max_leaves=8,
)


def paths(content: Any) -> list[tuple[str | int, ...]]:
    """Every path there is in some content."""
    steps: list[tuple[str | int, Any]] = []
    if isinstance(content, dict):
        steps = list(content.items())
    elif isinstance(content, list):
        steps = list(enumerate(content))
    return [(), *[(step, *rest) for step, value in steps for rest in paths(value)]]


def at(content: Any, path: tuple[str | int, ...]) -> Any:
    """The value at a path."""
    for step in path:
        content = content[step]
    return content


@sample(75, share=0.1)
@given(contents, st.data())
def test_a_whole_value_is_replaced_and_the_rest_is_shared(
    content: Any, data: st.DataObject
) -> None:
    chosen = data.draw(st.sampled_from(paths(content)))
    before = copy.deepcopy(content)
    after = apply(
        content, [Patch(chosen, "new"), Patch(chosen, "late"), Patch((*chosen, "under"), 1)]
    )
    assert at(after, chosen) == "new"
    assert content == before
    for path in paths(content):
        if path[: len(chosen)] != chosen and chosen[: len(path)] != path:
            assert at(after, path) is at(content, path)


@pytest.mark.parametrize(
    "patch",
    [
        Patch(("missing",), 1),
        Patch(("list", 9), 1),
        Patch(("list", -1), 1),
        Patch(("list", "x"), 1),
        Patch(("text", 0), "x"),
        Patch(("number", "x"), 1),
        Patch(("text",), "x", 2, 2),
        Patch(("text",), "x", 0, 9),
        Patch(("number",), "x", 0, 1),
    ],
)
def test_a_patch_that_does_not_fit_is_an_error(patch: Patch) -> None:
    with pytest.raises(PatchError):
        apply({"text": "abc", "list": [1], "number": 7}, [patch])
