"""Canonical JSON: the same bytes for the same data, as RFC 8785 has them."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given, strategies as st

from stanchion.tutor.bundles.canonical import EXACT, NotCanonical, canonical, digest

DATA = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-EXACT, EXACT)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inside: st.lists(inside, max_size=4) | st.dictionaries(st.text(), inside, max_size=4),
    max_leaves=20,
)


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (333333333.33333329, "333333333.3333333"),
        (1e30, "1e+30"),
        (4.50, "4.5"),
        (2e-3, "0.002"),
        (1e-27, "1e-27"),
        (1e-6, "0.000001"),
        (1e-7, "1e-7"),
        (1e21, "1e+21"),
        (123456789012345680000.0, "123456789012345680000"),
        (-0.0, "0"),
        (5e-324, "5e-324"),
        (-1.5, "-1.5"),
        (100.0, "100"),
        ('\u20ac$\x0f\nA\'B"\\\\"/', '"\u20ac$\\u000f\\nA\'B\\"\\\\\\\\\\"/"'),
        ([True, None, {}], "[true,null,{}]"),
    ],
)
def test_values_are_written_as_the_rfc_writes_them(value: Any, written: str) -> None:
    assert canonical(value).decode() == written


def test_keys_are_sorted_by_their_utf_16_units() -> None:
    data = {"\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "\U0001f600": 5, "\x80": 6, "\xf6": 7}
    assert list(json.loads(canonical(data))) == [
        "\r",
        "1",
        "\x80",
        "\xf6",
        "\u20ac",
        "\U0001f600",
        "\ufb33",
    ]


@given(DATA)
def test_what_was_read_again_is_the_same(value: Any) -> None:
    once = canonical(value)
    assert canonical(json.loads(once, parse_int=float)) == once
    assert digest(value) == f"sha256:{sha256(once).hexdigest()}"


def _deep() -> Any:
    made: Any = 1
    for _ in range(70):
        made = [made]
    return made


@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        float("inf"),
        EXACT + 1,
        10**400,
        {1: 2},
        b"",
        "\ud800",
        {"\ud800": 1},
        _deep(),
        {"a": {1, 2}},
    ],
)
def test_what_has_no_form_is_refused(value: Any) -> None:
    with pytest.raises(NotCanonical):
        canonical(value)
