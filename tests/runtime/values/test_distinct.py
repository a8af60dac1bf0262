"""Values that say different things have different content: approving one approves no other."""

from __future__ import annotations

import datetime
from base64 import b64encode
from pathlib import PurePosixPath
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings, strategies as st

from stanchion.approvals.digest import hashed
from stanchion.runtime.values import Unreadable, arguments, read, restored

LETTERS = st.sampled_from(["\ufdd0", "\\", "u", "x", "d", "c", "0", "8", "\udc00", "\udc80", "é"])
TEXTS = st.text(LETTERS, max_size=7)
MARKS = ["$int", "$float", "$complex", "$range", "$object", "$sha256", "$bytes"]
NAMES = st.one_of(st.sampled_from([*MARKS, "\ufdd0$int", "$$int"]), TEXTS)
SINGLE = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from([float("nan"), float("inf"), 1, 1.0, -0.0, 0, 2**70, -(2**63), 1j]),
    st.sampled_from(["nan", "inf", hex(2**70), range(3), b"\x89PNG\r\n\0", b"\xff\0"]),
    TEXTS,
)
VALUES = st.recursive(
    SINGLE, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(NAMES, inner, max_size=2)
)


def digest(value: Any) -> str:
    return hashed(arguments({"it": value}).content)


def exactly(value: Any) -> Any:
    """A value in a form that is equal only for the same value of the same type."""
    if isinstance(value, dict):
        return "dict", sorted((name, repr(exactly(item))) for name, item in value.items())
    return [exactly(item) for item in value] if isinstance(value, list) else repr(value)


@given(value=VALUES)
@settings(max_examples=300)
def test_content_is_no_content_of_its_own_unless_it_is_the_value(value: Any) -> None:
    """The nearest other value there is: what a value was written as, given as a value."""
    content = read(value).content
    msgspec.json.encode(content)
    assert (digest(content) == digest(value)) is (exactly(content) == exactly(value))


@given(one=VALUES, other=VALUES)
@settings(max_examples=300)
def test_two_values_have_the_same_content_only_if_they_are_the_same(one: Any, other: Any) -> None:
    assert (digest(one) == digest(other)) is (exactly(one) == exactly(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (float("nan"), {"$float": "nan"}),
        (2**70, {"$int": hex(2**70)}),
        ("\udc00", "\\udc00"),
        ("\udc00\\udc00", "\\udc00\udc00"),
        (b"\xff", "\\xff"),
        ({b"\xff": 1}, {"\\xff": 1}),
        ({("a, b", "c"): 1}, {("a", "b, c"): 1}),
        (1j, {"$complex": [0.0, 1.0]}),
        (range(3), {"$range": [0, 3, 1]}),
        (object(), {"$object": "builtins.object"}),
    ],
)
def test_what_was_written_out_is_not_what_looks_like_it(one: Any, other: Any) -> None:
    assert digest(one) != digest(other)


def test_an_object_that_has_a_name_of_content_is_not_read() -> None:
    with pytest.raises(Unreadable, match=r"a field with a name like `\$int`"):
        read(SimpleNamespace(**{"$int": "0x1"}))


@pytest.mark.parametrize(
    ("value", "known"),
    [
        (
            {"to": "x", "amount": 5},
            "798acb7427b7213b6b0cab4582b8152875a7cc3e0ffb48c7922a815c00afdf8c",
        ),
        (
            {"text": "ünï 😀 \\udc00 \\xff", "n": -0.5, "f": 1e300},
            "db7a9894cc85745f82f4efaae683f604933facb3cf75b3fd3e9c14f2632e6c57",
        ),
        (
            {"m": {"$set": {"a": 1}, "$ref": "#/x"}, "l": [1, [2, None, True]]},
            "805cf1eacdf2eba672573385cf7c6e23b1aec6f6c628c16560ad928a2cce34ac",
        ),
        (
            {"n": float("nan"), "big": 2**70, "b": b"abc", "img": b"\x89PNG\r\n\x1a\n\0"},
            "b1a43c581fd2a4f3d34c70ddc40f2d8e26dde6564e5e2cdd3c8851fc9bbcbe06",
        ),
        (
            {
                "p": PurePosixPath("/tmp"),
                "k": {1: 2, ("a", "b"): 3},
                "d": datetime.date(2026, 1, 2),
                "s": {3, 1},
                "r": range(3),
            },
            "d579d15c787ebc5e607fc43bc9d52f0fbf5d34e7ce821b2c4eacd4a774617183",
        ),
    ],
)
def test_the_digest_of_an_ordinary_value_stays(value: dict[str, Any], known: str) -> None:
    """Tickets that people have answered are found by it."""
    assert hashed(arguments(value).content) == known


def test_what_cannot_be_read_is_named_as_what_it_is() -> None:
    image = b64encode(b"\x89PNG\r\n\x1a\n" + bytes(90)).decode()
    assert read({"shot": image}).unread == ("`shot`, an image (PNG) in base64",)


@given(text=TEXTS)
@settings(max_examples=300)
def test_a_text_that_a_guard_has_changed_keeps_what_was_written_out(text: str) -> None:
    """Whoever gets it reads the rest as it was."""
    content = read(text).content
    assert restored(text, content, f"{content} [redacted]") == f"{text} [redacted]"
