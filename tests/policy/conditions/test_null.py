"""What is missing is null, and what null does."""

from types import SimpleNamespace

import pytest

from stanchion.policy.conditions import EvaluationError, Vocabulary, compile_expression
from stanchion.policy.conditions.kinds import BOOL, DYN, INT, NAMES, STRING, list_of, map_of

WORDS = Vocabulary(
    {
        "a": map_of(DYN).or_null(),
        "s": STRING.or_null(),
        "n": INT.or_null(),
        "b": BOOL.or_null(),
        "xs": list_of(INT).or_null(),
        "names": NAMES.or_null(),
        "any": DYN,
        "list": list_of(STRING),
    }
)
MISSING = SimpleNamespace(a=None, s=None, n=None, b=None, xs=None, names=None, any=None, list=[])


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a.b.c", None),
        ("a['b'][0].c", None),
        ("list[3]", None),
        ("list[-1]", None),
        ("s == null", True),
        ("s == 'x'", False),
        ("s != 'x'", True),
        ("n == 0", False),
        ("n < 1", False),
        ("n >= 1", False),
        ("not (n < 1)", True),
        ("any > 1", False),
        ("any == null", True),
        ("s.startsWith('')", False),
        ("s.endsWith('')", False),
        ("s.contains('')", False),
        ("s.matches('')", False),
        ("glob(s, '**')", False),
        ("under(s, '.')", False),
        ("any.contains('x')", False),
        ("'x'.startsWith(any)", False),
        ("glob('x', any)", False),
        ("b", None),
        ("b and true", False),
        ("b or true", True),
        ("not b", True),
        ("any ? 1 : 2", 2),
        ("xs.exists(x, true)", False),
        ("xs.all(x, true)", False),
        ("xs.exists_one(x, true)", False),
        ("xs.filter(x, true)", None),
        ("xs.map(x, x)", None),
        ("list.all(x, false)", True),
        ("'x' in any", False),
        ("1 in xs.map(x, x)", False),
        ("'x' in names", False),
        ("names == null", True),
        ("null in [null]", True),
        ("s in ['x', null]", True),
        ("s in ['x']", False),
        ("has(a.b)", False),
        ("has({'b': null}.b)", True),
        ("size(s)", None),
        ("size(s) > 0", False),
        ("int(any)", None),
        ("string(any)", None),
        ("bool(any)", None),
    ],
)
def test_null(text: str, value: object) -> None:
    result = compile_expression(text, WORDS).evaluate(MISSING)
    assert result == value
    assert type(result) is type(value)


@pytest.mark.parametrize("text", ["n + 1", "s + 'x'", "-n", "any * 2", "xs + [1]", "any % 2"])
def test_nothing_can_be_computed_from_null(text: str) -> None:
    with pytest.raises(EvaluationError):
        compile_expression(text, WORDS).evaluate(MISSING)


@pytest.mark.parametrize(
    "text", ["any.b", "any[0]", "any.b.c", "has(any.b)", "any.exists(x, true)", "'x' in any"]
)
def test_a_scalar_on_the_way_is_an_error_not_null(text: str) -> None:
    with pytest.raises(EvaluationError):
        compile_expression(text, WORDS).evaluate(SimpleNamespace(any=5))


def test_a_condition_counts_null_as_false() -> None:
    condition = compile_expression("any", WORDS)
    assert condition.test(MISSING) is False
    assert condition.test(SimpleNamespace(any=True)) is True
    with pytest.raises(EvaluationError):
        condition.test(SimpleNamespace(any="yes"))
