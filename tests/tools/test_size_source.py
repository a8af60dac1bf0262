"""What the meter counts in one source, on small ones that are written here."""

from __future__ import annotations

import ast
import io
import tokenize
from pathlib import Path
from typing import Final

import pytest

from tools.size.source import Source, count_tokens, weigh

LAYOUT: Final = {
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE),
    *(tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER),
}
PARTS: Final = tuple([getattr(tokenize, f"FSTRING_{part}", -1) for part in ("START", "END")])
METER: Final = Path(weigh.__code__.co_filename).parent
TABLE: Final = "WORDS = [\n{}]\n"
ROWS: Final = '    "a",\n' * 4


def weighed(text: str) -> Source:
    return weigh(text, ast.parse(text))


def count_by_tokenize(text: str) -> int:
    """The tokens that Python itself finds; the parts of an f-string (from 3.12 on) are one."""
    found = depth = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        found += not depth and token.type not in LAYOUT
        depth += (token.type == PARTS[0]) - (token.type == PARTS[1])
    return found


@pytest.mark.parametrize(
    "text",
    [
        "x = 1\n# a comment that ends the file",
        "x = \\\n    1_000 + 0x1F - 1.5e-3 + .5j\n",
        "s = f'a {x!r:>{width}} # b' + rb'\\'' + \"it's\" + '''a'b\n\"''' + R\"\"\"c\\\"\"\"\"\n",
        "a **= b // c >> d != e\nif (n := a @ b) <= ...: lambda *q, **k: q[1:]\n",
        "def f(x: int, /) -> str:\n    return f\"{x} {'y'}\"\n",
        "Größe = 'ß'\n\n\nclass A: pass\n",
        "",
        *[file.read_text("utf-8") for file in sorted(METER.glob("*.py"))],
    ],
)
def test_tokens_are_those_of_python(text: str) -> None:
    assert count_tokens(text) == count_by_tokenize(text)


@pytest.mark.parametrize(
    ("more", "tokens"),
    [
        ("# a comment\n\n", 0),
        ('"""A docstring."""\n', 0),
        ('def f():\n    """What it does."""\n', 5),
        ('X = 1\n"""What X is."""\n', 3),
        ('X = """A text that is used."""\n', 3),
        ("    \n\t\n", 0),
        (TABLE.format(ROWS), 0),
        (TABLE.format(ROWS[:-9]), 10),
    ],
)
def test_comments_docstrings_blank_lines_and_tables_are_no_tokens(more: str, tokens: int) -> None:
    assert weighed(more).tokens == tokens


@pytest.mark.parametrize(
    ("text", "data"),
    [
        (TABLE.format(ROWS), 6),
        (TABLE.format(ROWS[:-9]), 0),  # one row less
        ("W: Final = frozenset(\n    {\n        1,\n        2,\n    }\n)\n", 6),
        (
            (
                "W = {\n    'a': Rule('b', -1, x=Y | Z),\n    'c': (),\n    **MORE,\n    'd': "
                "{1},\n}\n"
            ),
            6,
        ),
        ('W = listed("""\n    a\n    b\n    c\n    d\n""")\n', 6),
        ('W = """\n    a\n    b\n    c\n    d\n"""\n', 0),
        ("W = [\n    x\n    for x in (\n        1,\n    )\n]\n", 0),
        ("W = [\n    1,\n    2,\n    lambda: 3,\n    4,\n]\n", 0),
        ("W = call(\n    1,\n    2,\n    3,\n    4,\n)\n", 0),
        ("def f():\n    w = [\n        1,\n        2,\n        3,\n        4,\n    ]\n", 0),
    ],
)
def test_a_table_is_written_out_at_module_level_over_six_lines(text: str, data: int) -> None:
    found = weighed(text)
    assert (found.data, found.lines, found.length) == (
        data,
        len(text.splitlines()) - data,
        len(text.splitlines()),
    )


def function(*lines: str) -> str:
    return "\n    ".join(["def f(x, y):", *lines]) + "\n"


@pytest.mark.parametrize(
    ("line", "ways"),
    [
        ("if x: pass", 1),
        ("if x and y or x: pass", 3),
        ("z = x and y and x", 2),
        ("z = x if y else x", 1),
        ("z = [a for a in x for b in y]", 2),
        ("for z in x: pass", 1),
        ("while x: pass", 1),
        ("assert x", 1),
        ("z = lambda: x or y", 1),
        ("def g(): return x or y", 1),
        ("z = 'if x and y'  # or", 0),
        ("return x(y)[0]", 0),
    ],
)
def test_boolean_operators_and_what_is_inside_count(line: str, ways: int) -> None:
    """A function may have 15 ways: one by itself and 14 of its own; what is added shows."""
    found = weighed(function(*["if x: pass"] * 14, line))
    assert found.excess == ways
    assert found.places["complex"] == ([f"1 f: {15 + ways}"] if ways else [])


def test_each_handler_counts() -> None:
    tried = ("try: x()", "except A: pass", "except B: pass", "finally: pass")
    assert weighed(function(*["if x: pass"] * 14, *tried)).excess == 2


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("from stanchion import Shield\n", []),
        (function("from stanchion.kernel import x"), ["2"]),
        (function("import msgspec, stanchion_lab"), ["2"]),
        (function("from . import x"), ["2"]),
        (function("if x:", "    def g():", "        import tools.size"), ["4"]),
        (function("import msgspec", "from stanchionette import x"), []),
        ("class A:\n    from stanchion import x\n", []),
    ],
)
def test_imports_of_the_house_count_inside_of_functions(text: str, places: list[str]) -> None:
    assert weighed(text).places["own-imports"] == places


def test_a_line_of_more_than_100_characters_is_wide() -> None:
    assert weighed(f"x = '{'ü' * 94}'\ny = '{'u' * 95}'\n").places["wide"] == ["2"]


def test_classes_of_the_module_itself_are_known_by_name() -> None:
    inner = "class Outer:\n    class Inner: ...\n"
    assert weighed(inner + function("class Local: ...")).classes == ["Outer"]
