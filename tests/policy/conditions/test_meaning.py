"""Compiled conditions mean what the direct interpreter of the parse tree says they mean."""

from typing import Any

from hypothesis import assume, example, given, settings, strategies as st

from stanchion.policy.conditions import ConditionError, EvaluationError, compile_expression
from stanchion.policy.conditions.limits import TooCostly
from stanchion.policy.conditions.parser import parse
from tests.policy.conditions import drawn
from tests.policy.conditions.interpreter import Undefined, interpret
from tests.policy.conditions.vectors import same
from tests.properties.examples import SOAK

ERROR = object()


def meant(text: str, given_names: dict[str, Any]) -> Any:
    """What the interpreter says."""
    try:
        return interpret(parse(text), given_names)
    except Undefined:
        return ERROR


def compiled(text: str, given_names: dict[str, Any]) -> Any:
    """What the compiled code says."""
    try:
        return compile_expression(text, drawn.NAMES).evaluate(drawn.view(given_names))
    except TooCostly:
        assume(False)
    except EvaluationError:
        return ERROR


EMPTY: dict[str, Any] = {
    "s": "", "t": None, "n": 0, "m": None, "d": 0.0, "b": False, "xs": [], "ss": [], "data": None,
    "any": None, "g.h": "",
}  # fmt: skip


@settings(max_examples=SOAK or 40)
@given(
    text=st.one_of(drawn.truths, drawn.integers, drawn.lists, drawn.doubles, drawn.strings),
    known=drawn.names,
)
@example(text="(any and true)", known={**EMPTY, "any": 1})
@example(text="(any == true)", known={**EMPTY, "any": 1})
@example(text="any == 1", known={**EMPTY, "any": True})
@example(text="[1 / n, 2] == [1] or b", known=EMPTY)
@example(text="xs.exists(x, 1 / x == 1)", known={**EMPTY, "xs": [0, 1]})
@example(text="xs.all(x, 1 / x == 1)", known={**EMPTY, "xs": [0, 2]})
@example(text="any in [1, 'a', null]", known={**EMPTY, "any": True})
@example(text="data['a'] == null", known=EMPTY)
@example(text="data.a == null", known={**EMPTY, "data": {}})
@example(text="data.a != 1 or b", known={**EMPTY, "data": {}, "b": True})
@example(text="data.a.b > 1", known={**EMPTY, "data": {"a": {"b": None}}})
@example(text="dyn(data.a).contains('x')", known={**EMPTY, "data": {}})
@example(text="data.a.exists(x, x.b > 1)", known={**EMPTY, "data": {"a": [{}]}})
@example(text="1 in data.a.map(x, x)", known={**EMPTY, "data": {}})
@example(text="(b ? data.a : 1) < 2", known={**EMPTY, "data": {}})
@example(text="(b ? data.a : 1) < 2", known={**EMPTY, "data": {}, "b": True})
def test_the_code_and_the_interpreter_agree(text: str, known: dict[str, Any]) -> None:
    try:
        result = compiled(text, known)
    except ConditionError:
        assume(False)
    wanted = meant(text, known)
    assert (result is ERROR) == (wanted is ERROR), (text, result, wanted)
    assert result is ERROR or same(result, wanted), (text, result, wanted)


@settings(max_examples=SOAK or 60)
@given(text=drawn.truths, known=drawn.names)
def test_outside_of_what_it_needs_a_condition_is_false(text: str, known: dict[str, Any]) -> None:
    joined = f"s == 'a' and {text} and (n in [1, 2] or n == 3) and data.a == 'b'"
    try:
        condition = compile_expression(joined, drawn.NAMES)
    except ConditionError:
        assume(False)
    assert condition.needs["s"] <= {"a"}
    view = drawn.view(known)
    data = known["data"]
    values = {"s": known["s"], "n": known["n"], "data.a": None if data is None else data.get("a")}
    unmet = [
        name
        for name, allowed in condition.needs.items()
        if name in values and not any(same(values[name], each) for each in allowed)
    ]
    missing = data is not None and data.get("a") is None
    if unmet and not (unmet == ["data.a"] and missing):
        assert condition.test(view) is False, (joined, unmet)
