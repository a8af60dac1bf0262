"""Hostile schemas and values: whatever they are, work stays in proportion to what is sent, or
nothing is done."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

from stanchion.guards._jsonschema.checker import MAX_BYTES, MAX_NESTED, WORK, SchemaChecker
from stanchion.guards._jsonschema.outline import MAX_CIRCULAR, MAX_DEPTH, MAX_UNFOLDED, SchemaFault
from stanchion.readings import read
from tests.guards.schema.judging import call, guard_for, judged
from tests.guards.steps import steps_of
from tests.properties.examples import sample

TEXT = {"type": "object", "properties": {"s": {"type": "string", "pattern": "^(a+)+$"}}}


def fan_out(levels: int, last: Any, wide: int = 2) -> dict[str, Any]:
    """A schema whose references double at every level."""
    defs = {f"d{at}": {"allOf": [{"$ref": f"#/$defs/d{at + 1}"}] * wide} for at in range(levels)}
    return {"$defs": {**defs, f"d{levels}": last}, "$ref": "#/$defs/d0"}


def nested(levels: int) -> dict[str, Any]:
    """An object in an object, so many times."""
    made: dict[str, Any] = {}
    for _ in range(levels):
        made = {"a": made}
    return made


@pytest.mark.parametrize(
    "pattern", ["^(a+)+$", "(x+x+)+y", "^(a|a)*$", "(a*)*b", "^(([a-z])+.)+[A-Z]([a-z])+$"]
)
def test_a_pattern_that_backtracks_elsewhere_is_matched_in_one_pass(pattern: str) -> None:
    """With backtracking a hundred thousand characters would take longer than the world has
    existed."""
    schema = {"type": "object", "properties": {"s": {"type": "string", "pattern": pattern}}}
    finding = judged(schema, {"s": "a" * 100_000 + "!"})
    assert finding is None or finding.code == "schema.value"


@pytest.mark.parametrize(
    "pattern", [r"(a)\1", "(?=a)b", "(?<!a)b", "a{100000000}", "((a{100}){100}){100}", "(", "[z-a]"]
)
def test_a_pattern_that_no_linear_engine_has_is_no_schema(pattern: str) -> None:
    with pytest.raises(SchemaFault):
        SchemaChecker({"pattern": pattern})


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "https://example.org/s.json"},
        {"$ref": "file:///etc/passwd"},
        {"properties": {"a": {"$ref": "other.json#/x"}}},
        {"$id": "https://example.org/a/", "$ref": "b"},
        {"$dynamicRef": "https://example.org/s#x"},
    ],
)
def test_nothing_is_fetched(schema: Any) -> None:
    with pytest.raises(SchemaFault, match="not in the schema itself"):
        SchemaChecker(schema)


@pytest.mark.parametrize("reference", ["#/nope", "#nope", "#/$defs/a/9"])
def test_what_leads_nowhere_is_no_schema(reference: str) -> None:
    with pytest.raises(SchemaFault, match="it refers to"):
        SchemaChecker({"$defs": {"a": {}}, "$ref": reference})


def test_references_that_fan_out_are_counted_before_they_are_followed() -> None:
    assert SchemaChecker(fan_out(8, {"type": "string"})).outline.weight < MAX_UNFOLDED
    with pytest.raises(SchemaFault, match="unfold to more than 20,000 parts"):
        SchemaChecker(fan_out(60, {"type": "string"}))


def test_references_that_fan_out_in_a_circle_are_counted_too() -> None:
    back = {"type": "object", "additionalProperties": {"$ref": "#/$defs/d0"}}
    assert SchemaChecker(fan_out(3, back)).fits(nested(30))
    with pytest.raises(SchemaFault, match=f"unfold to more than {MAX_CIRCULAR:,} parts"):
        SchemaChecker(fan_out(40, back))


def test_types_that_all_hold_each_other_are_counted_too() -> None:
    kinds = 24
    each = [{"properties": {"l": {"$ref": f"#/$defs/t{at}"}}} for at in range(kinds)]
    with pytest.raises(SchemaFault, match="unfold to more than"):
        SchemaChecker(
            {"$defs": {f"t{at}": {"anyOf": each} for at in range(kinds)}, "$ref": "#/$defs/t0"}
        )


def test_a_schema_that_holds_itself_is_followed_as_deep_as_the_value() -> None:
    value = {
        "$defs": {
            "v": {"type": ["object", "string"], "additionalProperties": {"$ref": "#/$defs/v"}}
        }
    }
    schema = {**value, "type": "object", "additionalProperties": {"$ref": "#/$defs/v"}}
    assert judged(schema, nested(60)) is None
    finding = judged(schema, {"a": {"b": {"c": 5}}})
    assert finding is not None
    assert "`a.b.c` is integer, expected object or string" in finding.message


@pytest.mark.parametrize(
    "schema",
    [{"$ref": "#"}, {"allOf": [{"$ref": "#"}]}, {"$dynamicAnchor": "x", "$dynamicRef": "#x"}],
)
def test_a_schema_that_is_only_itself_ends(schema: Any) -> None:
    SchemaChecker(schema).fits({"a": 1})


def test_schemas_are_neither_too_long_nor_too_deep() -> None:
    with pytest.raises(SchemaFault, match="longer than"):
        SchemaChecker({"enum": ["x" * MAX_BYTES]})
    deep: Any = {"type": "string"}
    for _ in range(MAX_DEPTH):
        deep = {"items": deep}
    SchemaChecker({"items": {"type": "string"}})
    with pytest.raises(SchemaFault, match="nested deeper"):
        SchemaChecker({"items": deep})


@pytest.mark.parametrize("schema", [5, "x", [], None, {"a": object()}])
def test_what_is_no_schema_at_all_is_said_to_be_none(schema: Any) -> None:
    with pytest.raises(SchemaFault):
        SchemaChecker(schema)


def test_values_that_are_too_deep_are_not_looked_at() -> None:
    finding = judged({"type": "object", "properties": {"a": {"$ref": "#"}}}, nested(MAX_NESTED + 1))
    assert finding is not None
    assert finding.code == "schema.bad"
    assert (
        judged({"type": "object", "properties": {"a": {"$ref": "#"}}}, nested(MAX_NESTED - 1))
        is None
    )


def test_the_heavier_a_schema_the_fewer_values_are_looked_at() -> None:
    heavy = SchemaChecker(
        {
            "type": "object",
            "additionalProperties": fan_out(12, True),
            "$defs": fan_out(12, True)["$defs"],
        }
    )
    most = WORK // heavy.outline.weight
    assert heavy.too_much({"a": list(range(most - 3))}, 10**9) == ""
    assert heavy.too_much({"a": list(range(most))}, 10**9) == f"it has more than {most:,} values"


SHAPES: dict[str, Any] = {
    "long text": lambda size: {"s": "a" * size + "!"},
    "many arguments": lambda size: {f"a{at}": at for at in range(size)},
    "many items": lambda size: {"list": [1] * size},
    "many wrong items": lambda size: {"list": ["x"] * size},
    "many objects": lambda size: {"list": [{"x": 1}] * size},
    "long names": lambda size: {"a" * size: 1},
}
SCHEMAS: dict[str, Any] = {
    "closed": {**TEXT, "additionalProperties": False},
    "patterns": {
        "type": "object",
        "patternProperties": {"^(a+)+$": {"type": "string"}, "a": {"type": "integer"}},
    },
    "items": {
        "type": "object",
        "properties": {"list": {"type": "array", "items": {"type": "integer", "minimum": 2}}},
    },
    "alternatives": {
        "anyOf": [
            {"required": ["x"]},
            {"properties": {"list": {"items": {"anyOf": [{"type": "null"}]}}}},
        ]
    },
    "unique": {
        "type": "object",
        "properties": {"list": {"uniqueItems": True, "contains": {"const": 9}}},
    },
    "leftovers": {"type": "object", "unevaluatedProperties": False},
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("schema", SCHEMAS)
def test_twice_the_size_is_at_most_twice_the_work(schema: str, shape: str) -> None:
    guard = guard_for(SCHEMAS[schema], coerce=True, extra="drop")
    small, large = (call(SHAPES[shape](size)) for size in (2_000, 4_000))
    guard.judge(read(small))
    once, twice = (
        steps_of(lambda: guard.judge(read(small))),
        steps_of(lambda: guard.judge(read(large))),
    )
    assert twice <= 2.2 * once + 200


json = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
    ),
    max_leaves=8,
)
types = st.sampled_from(["string", "integer", "number", "boolean", "null", "array", "object"])
schemas = st.recursive(
    st.booleans()
    | st.fixed_dictionaries(
        {}, optional={"type": types | st.lists(types, min_size=1, max_size=3, unique=True)}
    )
    | st.fixed_dictionaries({"enum": st.lists(json, max_size=3)})
    | st.fixed_dictionaries(
        {"minimum": st.integers(-3, 3)}, optional={"multipleOf": st.integers(1, 3)}
    ),
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "type": types,
            "properties": st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
            "required": st.lists(st.sampled_from("abc"), max_size=2, unique=True),
            "additionalProperties": inner,
            "patternProperties": st.dictionaries(st.sampled_from(["^a", "b|c"]), inner, max_size=2),
            "items": inner,
            "prefixItems": st.lists(inner, min_size=1, max_size=2),
            "anyOf": st.lists(inner, min_size=1, max_size=3),
            "oneOf": st.lists(inner, min_size=1, max_size=3),
            "allOf": st.lists(inner, min_size=1, max_size=2),
            "not": inner,
            "minItems": st.integers(0, 2),
            "maxLength": st.integers(0, 2),
        },
    ),
    max_leaves=6,
)


@sample(37)
@given(schemas, st.dictionaries(st.sampled_from("abcd"), json, max_size=3))
def test_what_does_not_fit_is_always_refused_in_words_and_what_was_made_to_fit_does(
    schema: Any, args: Any
) -> None:
    checker = SchemaChecker(schema)
    strict = judged(schema, args)
    assert (strict is None) == checker.fits(args)
    if strict is not None:
        assert strict.code in ("schema.missing", "schema.type", "schema.extra", "schema.value")
        assert len(strict.message) < 2_000
    lenient = judged(schema, args, coerce=True, extra="drop")
    if lenient is not None and lenient.patches:
        from stanchion.kernel.patches import apply

        patched = apply(args, lenient.patches)
        assert checker.fits(patched)
        assert guard_for(schema, coerce=True, extra="drop").judge(read(call(patched))) is None
    elif lenient is not None:
        assert strict is not None
