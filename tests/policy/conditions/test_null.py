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


CALLED = Vocabulary({"args": map_of(DYN).or_null(), "b": BOOL, "xs": list_of(INT)}, "args")


@pytest.mark.parametrize("args", [{}, {"x": None}], ids=["missing", "null"])
@pytest.mark.parametrize(
    "text",
    [
        *[f"args.x {sign} 1" for sign in ("<", "<=", ">", ">=", "==", "!=")],
        *["'a' == args.x", "args.x == args.y", "not (args.x > 1)", "args['x'] > 1"],
        *["args.x in ['a', 'b']", "args.x in xs", "'a' in args.x", "args.x.deeper == 1"],
        *["args.x.startsWith('a')", "args.x.endsWith('a')", "args.x.contains('a')"],
        *["args.x.matches('a')", "glob(args.x, '*')", "under(args.x, '.')", "'a'.contains(args.x)"],
        *["args.x.exists(e, true)", "args.x.all(e, true)", "args.x.exists_one(e, true)"],
        *["size(args.x) > 1", "int(args.x) > 1", "string(args.x) == 'a'", "dyn(args.x) == 1"],
        *["args.x.filter(e, true) == [1]", "(b ? args.x : 1) == 1", "xs.exists(e, e == args.x)"],
        *["[{'k': args.x}].exists(e, e.k > 1)"],
    ],
)
def test_nothing_is_said_of_an_argument_that_is_not_there(text: str, args: object) -> None:
    with pytest.raises(EvaluationError, match="is missing or null"):
        compile_expression(text, CALLED).evaluate(SimpleNamespace(args=args, b=True, xs=[1]))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("has(args.x)", False),
        ("args.x == null", True),
        ("null != args.x", False),
        ("args.x.deeper == null", True),
        ("args.x", None),
        ("not args.x", True),
        ("args.x ? 1 : 2", 2),
        ("args.x and b", False),
        ("'x' in args", False),
        ("has(args.x) and args.x > 1", False),
        ("args.x > 1 and has(args.x)", False),
        ("args.x == null or args.x > 1", True),
        ("b or args.x > 1", True),
        ("(args.x ? 'a' : 'b') == 'b'", True),
    ],
)
def test_an_argument_that_is_not_there_can_be_asked_for(text: str, value: object) -> None:
    found = compile_expression(text, CALLED).evaluate(SimpleNamespace(args={}, b=True, xs=[1]))
    assert found is value if value in (None, True, False) else found == value


def test_an_event_of_no_call_has_no_arguments_and_that_is_no_error() -> None:
    view = SimpleNamespace(args=None, b=True, xs=[])
    for text in ("args.x > 1", "args.x == 'a'", "args.x.contains('a')", "args.x.exists(e, true)"):
        assert compile_expression(text, CALLED).evaluate(view) is False


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
