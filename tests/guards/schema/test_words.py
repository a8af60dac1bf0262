"""What the agent reads: names and types that help it, no value that could be a secret, and never
much."""

from __future__ import annotations

from typing import Any

import pytest

from tests.guards.schema.judging import judged

SECRET = "hunter2-AKIAIOSFODNN7EXAMPLE"
SCHEMA = {
    "type": "object",
    "properties": {
        "password": {"type": "string", "maxLength": 3},
        "token": {"type": "integer"},
        "mode": {"enum": ["a", "b"]},
        "key": {"type": "string", "pattern": "^x$"},
        "list": {"type": "array", "items": {"const": 1}},
        "either": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "kind": {
            "oneOf": [
                {"type": "object", "required": ["url"]},
                {"type": "object", "required": ["path", "line"]},
            ]
        },
    },
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    "args",
    [
        {"password": SECRET},
        {"token": SECRET},
        {"mode": SECRET},
        {"key": SECRET},
        {"list": [SECRET]},
        {"either": SECRET},
        {"kind": SECRET},
        {"kind": {"other": SECRET}},
        {"pasword": SECRET},
        {"password": {"inner": SECRET}},
    ],
)
@pytest.mark.parametrize("coerce", [True, False])
def test_no_value_is_repeated(args: dict[str, Any], coerce: bool) -> None:
    finding = judged(SCHEMA, args, coerce=coerce)
    assert finding is not None
    assert not finding.patches or coerce
    said = finding.message + finding.advice + str(finding.args)
    assert SECRET not in said
    assert SECRET[:8] not in said


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ({"either": "5"}, "`either` is string, expected integer or null"),
        ({"kind": {"path": "x"}}, "lacks `kind.url`"),
        ({"list": [1, 1, 2]}, "`list[2]` has to be `1`"),
        (
            {"password": 5, "token": "x"},
            "`password` is integer, expected string; `token` is string, expected integer",
        ),
    ],
)
def test_the_nearest_alternative_is_explained(args: dict[str, Any], says: str) -> None:
    finding = judged(SCHEMA, args)
    assert finding is not None
    assert says in finding.message


@pytest.mark.parametrize(
    ("schema", "args", "says"),
    [
        ({"not": {"required": ["a"]}}, {"a": 1}, "`arguments` do not fit the tool's schema"),
        ({"properties": {"a": False}}, {"a": 1}, "`a` is not allowed here"),
        ({"properties": {"a": {"enum": []}}}, {"a": 1}, "allows no value"),
        ({"properties": {"a": {"exclusiveMinimum": 3}}}, {"a": 3}, "has to be more than 3"),
        ({"properties": {"a": {"multipleOf": 3}}}, {"a": 4}, "has to be a multiple of 3"),
        ({"dependentRequired": {"a": ["b"]}}, {"a": 4}, "lacks `b` (needed beside `a`)"),
        ({"minProperties": 2}, {"a": 4}, "needs at least 2 entries"),
        (
            {"$defs": {"n": {"type": "null"}}, "properties": {"a": {"$ref": "#/$defs/n"}}},
            {"a": 1},
            "expected null",
        ),
        (
            {
                "$defs": {"n": {"type": "null"}},
                "properties": {"a": {"$ref": "#/$defs/n"}},
                "required": ["a"],
            },
            {},
            "(null)",
        ),
        (
            {"required": ["a"], "properties": {"a": {"enum": ["x", 1]}}},
            {},
            "lacks `a` (one of `x`, `1`)",
        ),
        ({"additionalProperties": False}, {"a": 1}, "it takes none"),
    ],
)
def test_every_keyword_has_words(schema: Any, args: dict[str, Any], says: str) -> None:
    finding = judged(schema, args)
    assert finding is not None
    assert says in finding.message


def test_names_are_cut_and_nothing_of_them_is_acted_on() -> None:
    finding = judged({"additionalProperties": False}, {"\x1b[31m`x`\n" + "y" * 5_000: 1})
    assert finding is not None
    assert len(finding.message) < 200
    assert "\x1b" not in finding.message
    assert "\n" not in finding.message
    assert "`x`" not in finding.message


def test_many_mistakes_are_a_short_message() -> None:
    finding = judged({"additionalProperties": False}, {f"name{at}" * 10: at for at in range(1_000)})
    assert finding is not None
    assert len(finding.message) < 700
