"""Hostile conditions are refused at load or bounded in steps; nothing but the language's own errors
comes out."""

from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from stanchion.policy.conditions import (
    Condition,
    ConditionError,
    EvaluationError,
    Vocabulary,
    compile_expression,
    limits,
)
from stanchion.policy.conditions.kinds import DYN, INT, STRING, list_of, map_of
from stanchion.policy.conditions.tokens import LITERALS, RESERVED, WORDS
from stanchion.policy.conditions.view import STANDARD
from tests.policy.conditions import drawn
from tests.properties.examples import SOAK

NAMES = Vocabulary(
    {"xs": list_of(INT), "s": STRING, "big": STRING, "data": map_of(DYN), "deep": DYN}
)
LONG = list(range(200))


def nested(depth: int) -> list[Any]:
    made: list[Any] = []
    for _ in range(depth):
        made = [made]
    return made


VIEW = SimpleNamespace(
    xs=LONG, s="a" * 10_000, big="ab" * 500_000, data={"a": LONG}, deep=nested(5_000)
)

REFUSED = {
    "long": "1 + " * 5_000 + "1",
    "long name": "a" * 9_999,
    "long chain of fields": "s" + ".a" * 1_000,
    "many brackets": "(" * 5_000 + "1" + ")" * 4_000,
    "unclosed brackets": "[" * 9_000,
    "many lists": "[" * 100 + "]" * 100,
    "many maps": "{1:" * 100 + "1" + "}" * 100,
    "many signs": "!" * 9_000 + "true",
    "many minuses": "-" * 9_000 + "1",
    "many nots": "not " * 2_000 + "true",
    "many branches": "true ? 1 : " * 500 + "1",
    "many sums": "+".join("1" * 2_000),
    "many calls": "size(" * 500 + "s" + ")" * 500,
    "many indices": "data" + "['a']" * 100,
    "many macros": "xs.exists(x, " * 100 + "true" + ")" * 100,
    "many parts": " or ".join(["true"] * 1_500),
    "long list": "1 in [" + "1," * 1_001 + "1]",
    "huge integer": "1" * 400 + " > 0",
    "integer of 65 bits": "18446744073709551616u == 1u",
    "integer beyond 63 bits": "9223372036854775808 > 0",
    "huge hexadecimal": "0x" + "f" * 5_000 + " > 0",
    "huge double": "1e999 > 0.0",
    "class": "s.__class__ == null",
    "class of a name": "__class__ == null",
    "builtins": "__builtins__.open('x') == null",
    "import": "__import__('os').system('x') == null",
    "subclasses": "''.__class__.__mro__[1].__subclasses__() == null",
    "quoted dunder": "s.`__class__` == null",
    "format": "'{0.__class__}'.format(s) == ''",
    "percent": "'%s' % s == ''",
    "f-string": "f'{s}' == ''",
    "lambda": "(lambda: 1)() == 1",
    "comprehension": "[x for x in xs] == []",
    "walrus": "(x := 1) == 1",
    "statement": "s == 'a'; s",
    "assignment": "s = 'a'",
    "power": "2 ** 1000000 > 1",
    "shift": "1 << 1000000 > 1",
    "variable of compiled code": "v.s == 'a'",
    "purse": "p[0] == 1",
    "operation": "op_true(true)",
    "attribute of the view": "data_a == 1",
    "full-width letters": "ｓ == 'a'",
    "full-width quote": "s == ＇a＇",
    "Cyrillic letter": "ѕ == 'a'",
    "bidirectional override": "s == 'a\u202e'",
    "zero-width space": "s\u200b == 'a'",
    "half a surrogate pair": "s == '\ud800'",
    "escaped surrogate": "s == '\\ud800'",
    "NUL": "s == 'a' \x00",
    "pattern with back-reference": "s.matches(r'(a)\\1')",
    "pattern with look-ahead": "s.matches('a(?=b)')",
    "pattern of many repetitions": "s.matches('((a{1,100}){1,100}){1,100}')",
    "pattern that is long": "s.matches('" + "a?" * 600 + "')",
    "pattern from the event": "s.matches(big)",
    "glob that is long": "glob(s, '" + "*a" * 400 + "')",
    "glob with three stars": "glob(s, '***')",
}

COSTLY = {
    "nested loops": "xs.all(a, xs.all(b, xs.all(c, a + b + c >= 0)))",
    "loop that compares lists": "xs.all(a, xs == xs)",
    "loop that searches": "xs.all(a, a in xs and xs.exists(b, a == b))",
    "loop over a long text": "xs.all(a, not big.contains('c'))",
    "loop with a pattern": "xs.all(a, not big.matches('a[^b]c'))",
    "loop that compares texts": "xs.all(a, big == big + '')",
    "loop that builds texts": "xs.map(a, big + big).size() == 1",
    "loop that builds bytes": "xs.map(a, bytes(big)).size() == 1",
    "loop that builds lists": "xs.map(a, xs.map(b, xs + xs)).size() == 1",
    "loop with a large body": "xs.all(a, xs.all(b, " + " and ".join(["a >= 0"] * 400) + "))",
    "doubling": (
        "[1].map(a, s + s + s).map(b, b + b + b + b + b).map(c, c + c + c + c + c + c + "
        "c).size() == 1"
    ),
    "deep equality": "deep == deep and xs.all(a, xs.all(b, deep == deep))",
}


@pytest.mark.parametrize("text", REFUSED.values(), ids=REFUSED)
def test_refused_at_load(text: str) -> None:
    with pytest.raises(ConditionError) as caught:
        compile_expression(text, NAMES)
    assert 0 <= caught.value.start <= caught.value.end <= max(len(text), 1) + 1
    assert len(caught.value.message) < 500


@pytest.mark.parametrize("text", COSTLY.values(), ids=COSTLY)
def test_bounded_at_evaluation(text: str) -> None:
    condition = compile_expression(text, NAMES)
    with pytest.raises(EvaluationError, match=f"more than {limits.STEPS:,} steps"):
        condition.evaluate(VIEW)


@pytest.mark.parametrize(
    "text", ["xs.all(a, xs.exists(b, b == 3))", "200 in xs", "xs.map(a, a + 1).size() == 200"]
)
def test_ordinary_loops_are_well_within_the_bound(text: str) -> None:
    compile_expression(text, NAMES).evaluate(VIEW)


def test_nothing_absorbs_the_bound() -> None:
    condition = compile_expression("xs.all(a, xs.all(b, xs.all(c, true))) or true", NAMES)
    with pytest.raises(EvaluationError, match="steps"):
        condition.evaluate(VIEW)


def test_equality_of_deep_data_needs_no_stack() -> None:
    assert (
        compile_expression("deep == deep", NAMES).evaluate(SimpleNamespace(deep=nested(4_000)))
        is True
    )


@pytest.mark.parametrize(
    "broken", [SimpleNamespace(), SimpleNamespace(s=5, xs=3, data="x", big=b"", deep=object())]
)
@pytest.mark.parametrize(
    "text", ["s.startsWith('a')", "xs.exists(x, x == 1)", "data.a == 1", "big < s", "s + big == ''"]
)
def test_a_view_that_breaks_its_promise_is_an_evaluation_error(
    text: str, broken: SimpleNamespace
) -> None:
    with pytest.raises(EvaluationError):
        compile_expression(text, NAMES).evaluate(broken)


def survives(text: str, names: Vocabulary, view: Any) -> None:
    """Compile and evaluate; any exception that is not the language's own is a failure."""
    try:
        condition = compile_expression(text, names)
    except ConditionError as error:
        fault = error
    else:
        evaluates(condition, view)
        return
    assert 0 <= fault.start <= fault.end
    assert fault.message


def evaluates(condition: Condition, view: Any) -> None:
    with suppress(EvaluationError):
        condition.evaluate(view)
    with suppress(EvaluationError):
        assert type(condition.test(view)) is bool


@settings(max_examples=SOAK or 33)
@given(text=st.text(st.characters(codec=None), max_size=60))
def test_any_text(text: str) -> None:
    survives(text, NAMES, VIEW)


WORD_SOUP = [
    *WORDS, *LITERALS, *sorted(RESERVED)[:4], *drawn.NAMES.words, "x", "size", "glob", "matches",
    "exists", "all", "map", "filter", "has", "dyn", "int", "string", "(", ")", "[", "]", "{", "}",
    ".", ",", "?", ":", "==", "!=", "<", ">=", "+", "-", "*", "/", "%", "!", "&&", "||", "'a'", '"',
    "'", "r'\\d'", "b'a'", "1", "1u", "0x1F", "1.5", "9223372036854775808", "`a-b`", "'**/*'", "//",
    "\n", "__class__",
]  # fmt: skip


@settings(max_examples=SOAK or 50)
@given(
    words=st.lists(st.sampled_from(WORD_SOUP), max_size=25),
    known=drawn.names,
    glue=st.sampled_from(["", " "]),
)
def test_any_words(words: list[str], known: dict[str, Any], glue: str) -> None:
    survives(glue.join(words), drawn.NAMES, drawn.view(known))


@settings(max_examples=SOAK or 33)
@given(
    text=drawn.truths,
    known=drawn.names,
    at=st.integers(0, 200),
    cut=st.integers(0, 5),
    new=st.text(max_size=3),
)
def test_any_mutation_of_a_good_condition(
    text: str, known: dict[str, Any], at: int, cut: int, new: str
) -> None:
    survives(text[:at] + new + text[at + cut :], drawn.NAMES, drawn.view(known))


@settings(max_examples=SOAK or 33)
@given(value=drawn.values)
@pytest.mark.parametrize(
    "text",
    ["event.args.a.b == 1 and event.result > 2", "event.result.exists(x, x.a)", "event.args"],
)
def test_any_data_in_an_event(text: str, value: Any) -> None:
    view = SimpleNamespace(event_args={"a": value}, event_result=value)
    survives(text, STANDARD, view)
