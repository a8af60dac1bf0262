"""Calls that worked are compared argument by argument, and what differs is said."""

from __future__ import annotations

from typing import Any

import msgspec

from stanchion.experience.bounded import bounded, encoded, fingerprint
from stanchion.experience.incident import Practice
from stanchion.experience.similarity import Difference, similar_to


def practice(args: dict[str, Any], count: int = 1, at_ms: int = 0) -> Practice:
    data = encoded(bounded(args))
    return Practice(fingerprint("t", data), "t", count, 0, data, at_ms)


def test_the_nearest_call_comes_first_whatever_the_order_they_are_in() -> None:
    near = practice({"city": "Rome", "unit": "metric", "days": 3})
    far = practice({"city": "Oslo", "unit": "imperial", "days": 7}, count=100)
    for order in ([near, far], [far, near]):
        found = similar_to({"city": "Rome", "unit": "metric", "days": 4}, order)
        assert [one.fingerprint for one in found] == [near.fingerprint, far.fingerprint]
        assert found[0].differences == (Difference("days", "value", "3", "4"),)


def test_calls_that_are_as_near_come_by_use_then_by_fingerprint() -> None:
    seldom, often = practice({"city": "Rome"}), practice({"city": "Oslo"}, count=9)
    assert similar_to({"city": "Bern"}, [seldom, often])[0].fingerprint == often.fingerprint


def test_every_way_to_differ_is_said_by_name() -> None:
    worked = practice(
        {"city": "Rome", "days": 3, "filter": {"limit": 5}, "tags": ["a"], "unit": "metric"}
    )
    (found,) = similar_to(
        {"days": "3", "filter": {"limit": 9}, "more": True, "tags": "a", "unit": "metric"}, [worked]
    )
    assert found.differences == (
        Difference("city", "missing", '"Rome"'),
        Difference("days", "type", "3", '"3"'),
        Difference("tags", "type", '["a"]', '"a"'),
        Difference("filter.limit", "value", "5", "9"),
        Difference("more", "extra", "", "true"),
    )


def test_the_same_call_is_wholly_alike() -> None:
    assert similar_to({}, [practice({})])[0].likeness == 1.0
    assert (
        similar_to({"a": [1, {"b": None}]}, [practice({"a": [1, {"b": None}]})])[0].likeness == 1.0
    )


def test_without_values_there_are_names_and_kinds_alone() -> None:
    worked = practice({"to": "ann@example.org", "headers": {"ann@example.org": "x"}, "amount": 12})
    (found,) = similar_to({"to": 5, "headers": {}, "amount": 13}, [worked])
    shown = found.without_values()
    text = msgspec.json.encode(shown).decode()
    assert "ann@" not in text
    assert shown.args is None
    assert shown.differences == (
        Difference("headers.…", "missing", "a text"),
        Difference("to", "type", "a text", "a number"),
        Difference("amount", "value", "a number", "a number"),
    )
