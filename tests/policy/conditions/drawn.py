"""Drawn expressions and views: mostly well typed, so that they compile, with every kind of value
behind `dyn`."""

from types import SimpleNamespace
from typing import Any

from hypothesis import strategies as st

from stanchion.policy.conditions import Vocabulary
from stanchion.policy.conditions.kinds import BOOL, DOUBLE, DYN, INT, STRING, list_of, map_of

NAMES = Vocabulary(
    {
        "s": STRING,
        "t": STRING.or_null(),
        "n": INT,
        "m": INT.or_null(),
        "d": DOUBLE,
        "b": BOOL,
        "xs": list_of(INT),
        "ss": list_of(STRING),
        "data": map_of(DYN).or_null(),
        "any": DYN,
        "g.h": STRING,
    },
    arguments="data",
)

TEXTS = (
    "",
    "a",
    "b",
    "ab",
    "a/b",
    "src/test_a.py",
    "src/x_test.py",
    "../a",
    "/a/b",
    "/a/bc",
    "test_",
    "a.py",
    "A",
)
NUMBERS = (0, 1, -1, 2, 3, 2**63 - 1, -(2**63), 2**53 + 1, 7)
DOUBLES = (0.0, -0.0, 1.0, 1.5, -2.25, 9007199254740993.0, 9.223372036854775807e18, float("inf"))
GLOBS = (
    "**/test_*",
    "**/*_test.*",
    "*",
    "**",
    "a/*",
    "src/**",
    "**/*.py",
    "*a*",
    "?",
    "a?b",
    "**/a/**",
    "/a/**/b*",
)
PATTERNS = ("a", "^a", "b$", "^ab$", "a|b", "t.st", "(a+)+$", "[a-z]+/", "x?y?z?")

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from(NUMBERS),
    st.sampled_from(DOUBLES),
    st.sampled_from(TEXTS),
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(("a", "b", "c")), inner, max_size=3)
    ),
    max_leaves=6,
)
names = st.fixed_dictionaries(
    {
        "s": st.sampled_from(TEXTS),
        "t": st.none() | st.sampled_from(TEXTS),
        "n": st.sampled_from(NUMBERS),
        "m": st.none() | st.sampled_from(NUMBERS),
        "d": st.sampled_from(DOUBLES),
        "b": st.booleans(),
        "xs": st.lists(st.sampled_from(NUMBERS), max_size=4),
        "ss": st.lists(st.sampled_from(TEXTS), max_size=4),
        "data": st.none() | st.dictionaries(st.sampled_from(("a", "b", "c")), values, max_size=3),
        "any": values,
        "g.h": st.sampled_from(TEXTS),
    }
)


def view(given: dict[str, Any]) -> SimpleNamespace:
    """A view with these values."""
    return SimpleNamespace(**{key.replace(".", "_"): value for key, value in given.items()})


def quoted(text: str) -> str:
    """A text as a literal."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


@st.composite
def _join(draw: st.DrawFn, form: str, *parts: Any) -> str:
    return form.format(*(draw(part) for part in parts))


def _forms(*rows: tuple[Any, ...]) -> st.SearchStrategy[str]:
    return st.one_of(*(_join(form, *parts) for form, *parts in rows))


strings: st.SearchStrategy[str] = st.deferred(
    lambda: st.one_of(
        st.sampled_from(("s", "t", "g.h", "ss[0]", "ss[n]")),
        st.sampled_from(TEXTS).map(quoted),
        _forms(("({} + {})", strings, strings), ("({} ? {} : {})", truths, strings, strings)),
    )
)
integers: st.SearchStrategy[str] = st.deferred(
    lambda: st.one_of(
        st.sampled_from(("n", "m", "xs[1]", "size(s)", "size(xs)", "ss.size()", "size(data)")),
        st.sampled_from(NUMBERS).map(str),
        _forms(
            ("({} {} {})", integers, st.sampled_from("+-*/%"), integers),
            ("-({})", integers),
            ("size({})", strings),
        ),
    )
)
doubles: st.SearchStrategy[str] = st.deferred(
    lambda: st.one_of(
        st.sampled_from(("d", "1.5", "-0.0", "2.0")),
        _forms(("({} {} {})", doubles, st.sampled_from("+-*/"), doubles), ("-({})", doubles)),
    )
)
anything: st.SearchStrategy[str] = st.deferred(
    lambda: st.one_of(
        st.sampled_from(
            (
                "any",
                "data.a",
                "data.b.c",
                "data['c']",
                "any.a",
                "any[0]",
                "any.a.b",
                "any['a']",
                "null",
            )
        ),
        _forms(("dyn({})", st.one_of(strings, integers, doubles, truths, lists))),
        _forms(("{}[{}]", lists, integers), ("{{'a': {}, 'b': {}}}", anything, integers)),
    )
)
lists: st.SearchStrategy[str] = st.deferred(
    lambda: st.one_of(
        st.sampled_from(
            ("xs", "ss", "[]", "[1, 2, 3]", "['a', 'b']", "[1, 'a', null]", "[true, 1.0]")
        ),
        _forms(
            ("[{}, {}]", anything, integers),
            ("xs.filter(x, {})", truths),
            ("data.a.filter(x, {})", truths),
            ("ss.map(y, {})", st.one_of(strings, integers)),
        ),
    )
)
_ORDER = st.sampled_from(("<", "<=", ">", ">="))
_SAME = st.sampled_from(("==", "!="))
truths: st.SearchStrategy[str] = st.deferred(
    lambda: st.one_of(
        st.sampled_from(
            ("b", "true", "false", "has(data.a)", "has(any.a)", "has(g.h)", "has(data.a.b)")
        ),
        _forms(
            ("({} {} {})", strings, _SAME, strings),
            ("({} {} {})", integers, _SAME, integers),
            ("({} {} {})", integers, st.sampled_from(("==", "<", ">=")), doubles),
            (
                "({} {} {})",
                anything,
                _SAME,
                st.one_of(anything, strings, integers, doubles, lists, truths),
            ),
            ("({} {} {})", strings, _ORDER, strings),
            ("({} {} {})", integers, _ORDER, integers),
            ("({} {} {})", anything, _ORDER, st.one_of(anything, strings, integers, doubles)),
            (
                "({} in {})",
                st.one_of(strings, integers, anything),
                st.sampled_from(("data", "any", "[1, 'a', null]")),
            ),
            ("({} in {})", strings, st.sampled_from(("ss", "['a', 'b']", "['', 'src/test_a.py']"))),
            ("({} in {})", integers, st.sampled_from(("xs", "[1, 2, 3]", "[1.0, 2]"))),
            ("{}.startsWith({})", strings, strings),
            ("{}.endsWith({})", strings, strings),
            ("{}.contains({})", strings, strings),
            ("dyn({}).contains({})", anything, strings),
            ("glob({}, {})", st.one_of(strings, anything), st.sampled_from(GLOBS).map(quoted)),
            (
                "under({}, {})",
                st.one_of(strings, anything),
                st.one_of(st.just("'a'"), st.just("'/a/b'"), strings),
            ),
            ("{}.matches({})", strings, st.sampled_from(PATTERNS).map(quoted)),
        ),
        _forms(
            ("({} {} {})", truths, st.sampled_from(("and", "or", "&&", "||", "AND", "OR")), truths),
            ("({} and {} and {})", truths, truths, truths),
            ("(not {})", truths),
            ("!({})", truths),
            ("({} ? {} : {})", truths, truths, truths),
            ("({} and {})", anything, truths),
            ("{}.exists(x, {})", lists, truths),
            ("{}.all(z, {} or z == {})", lists, truths, anything),
            ("ss.exists(y, y == {} or {})", strings, truths),
            ("xs.exists_one(y, y > {})", integers),
            ("any.exists(y, y == {})", anything),
            ("data.b.exists(y, {} == y)", anything),
            ("data.b.all(y, y.a == {} and (y.b ? true : {}))", anything, truths),
            ("(data.a ? {} : {})", truths, truths),
            ("(size(data.c) {} {})", _ORDER, integers),
            ("any.all(y, xs.exists(x, x == y))",),
        ),
    )
)
