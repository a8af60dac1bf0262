"""One file of Python, weighed.

Tokens are those of Python's `tokenize`, without comments, layout and docstrings: a string that is a
statement of its own is a docstring, wherever it stands. Lines are physical ones. Both leave data
tables out, which are counted apart by their lines. A data table is an assignment at module level
over six lines or more whose value is written out: a list, tuple, set or dictionary, or a text of
several lines that a function is called with (a list of words), made of constants, names, operators
and calls, with no condition, loop, lambda or f-string.

The complexity of a function is one, and one more for each `if`, `for`, `while`, `except`, `assert`,
conditional expression, loop of a comprehension, `and` and `or`. What is defined inside a function
counts in it, and once more by itself.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final

from msgspec import Struct

WIDEST: Final = 100
MOST_COMPLEX: Final = 15
SHORTEST_TABLE: Final = 6
KINDS: Final = ("own-imports", "complex", "wide")
"""Imports of the house inside of functions, functions too complex, lines too wide."""
OWN: Final = frozenset({"stanchion", "stanchion_lab", "model", "tools", "tests"})

# What `tokenize` finds, in a tenth of its time, and with an f-string as one token on every Python.
TOKEN: Final = re.compile(
    r"""
    (?: \s | \\\n | \#[^\n]* )*+
    (
      (?: [rRbBuUfF]{1,2} )?
      (?: \"{3} (?: [^"\\] | \\. | "(?!"") )* \"{3} | '{3} (?: [^'\\] | \\. | '(?!'') )* '{3}
        | " (?: [^"\\\n] | \\. )* "                 | ' (?: [^'\\\n] | \\. )* ' )
    | (?: \d | \.\d ) (?: [eE][+-] | [\w.] )*
    | \w+
    | \*\*= | //= | >>= | <<= | \.\.\. | != | -> | := | \*\* | // | >> | << | [-+*/%&|^@<>=]=
    | \S | \Z
    )
    """,
    re.VERBOSE | re.DOTALL,
)

Function = ast.FunctionDef | ast.AsyncFunctionDef
LOOP: Final = (ast.For, ast.AsyncFor, ast.While, ast.comprehension)
BRANCH: Final = (*LOOP, ast.If, ast.IfExp, ast.ExceptHandler, ast.Assert)
# What has no branch below it: two nodes of three.
LEAF: Final = (ast.Name, ast.Constant, ast.arg, ast.operator, ast.cmpop, ast.unaryop)
DISPLAY: Final = (ast.List, ast.Tuple, ast.Set, ast.Dict)
OPERATION: Final = (ast.UnaryOp, ast.unaryop, ast.BinOp, ast.operator, ast.expr_context)
CALL: Final = (ast.Call, ast.keyword, ast.Starred, ast.Attribute, ast.Name, ast.Constant)


class Source(Struct, frozen=True):
    """What a file holds: `data` are lines of data tables, `length` all of its lines, `excess` what
    its complex functions have over 15 ways in all, `classes` the names of its classes; `places` are
    lines, with what stands there, by the kind of `KINDS`."""

    tokens: int = 0
    lines: int = 0
    files: int = 0
    data: int = 0
    length: int = 0
    excess: int = 0
    classes: list[str] = []
    places: dict[str, list[str]] = {}


def weigh(text: str, tree: ast.Module) -> Source:
    """Weigh a source, of which `tree` is the syntax tree."""
    lines = text.removesuffix("\n").split("\n") if text else []
    statements = list(_walk_statements(tree.body))
    functions = [node for node in statements if isinstance(node, Function)]
    over = [(each, ways) for each in functions if (ways := complexity(each)) > MOST_COMPLEX]
    places = (
        [str(line) for line in sorted(set(chain(*map(_find_own_imports, functions))))],
        [f"{each.lineno} {each.name}: {ways}" for each, ways in over],
        [str(number) for number, line in enumerate(lines, 1) if len(line) > WIDEST],
    )
    tables = [lines[node.lineno - 1 : node.end_lineno] for node in tree.body if _is_table(node)]
    apart = [count_tokens("\n".join(table)) for table in tables]
    data = sum(map(len, tables))
    return Source(
        tokens=count_tokens(text) - sum(map(_is_docstring, statements)) - sum(apart),
        lines=len(lines) - data,
        files=1,
        data=data,
        length=len(lines),
        excess=sum([ways - MOST_COMPLEX for _, ways in over]),
        classes=[node.name for node in tree.body if isinstance(node, ast.ClassDef)],
        places=dict(zip(KINDS, places, strict=True)),
    )


def count_tokens(text: str) -> int:
    """How many tokens a text of Python has, docstrings included."""
    return sum(map(bool, TOKEN.findall(text)))  # the end is empty


def complexity(function: Function) -> int:
    """How many ways lead through a function, as this file counts them."""
    ways = 1
    waiting: list[ast.AST] = [function]
    while waiting:
        node = waiting.pop()
        ways += isinstance(node, BRANCH)
        if isinstance(node, ast.BoolOp):
            ways += len(node.values) - 1
        for field in node._fields:
            below = getattr(node, field, None)
            for each in below if isinstance(below, list) else (below,):
                if isinstance(each, ast.AST) and not isinstance(each, LEAF):
                    waiting.append(each)
    return ways


def _walk_statements(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Statements with all that stand in them, and the handlers and cases between."""
    waiting = list(body)
    while waiting:
        node = waiting.pop()
        yield node
        for part in ("body", "orelse", "finalbody", "handlers", "cases"):
            waiting.extend(getattr(node, part, ()))


def _is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(getattr(node.value, "value", None), str)


def _find_own_imports(function: Function) -> Iterator[int]:
    for node in _walk_statements(function.body):
        if isinstance(node, ast.Import | ast.ImportFrom):
            module = getattr(node, "module", None)
            names = [module] if module else [alias.name for alias in node.names]
            if getattr(node, "level", 0) or any(name.partition(".")[0] in OWN for name in names):
                yield node.lineno


def _is_table(node: ast.stmt) -> bool:
    if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
        return False
    if (node.end_lineno or node.lineno) - node.lineno + 1 < SHORTEST_TABLE:
        return False
    parts = list(ast.walk(node.value))
    texts = [str(part.value) for part in parts if isinstance(part, ast.Constant)]
    words = isinstance(node.value, ast.Call) and any("\n" in text for text in texts)
    shown = words or any(isinstance(part, DISPLAY) for part in parts)
    return shown and all(isinstance(part, DISPLAY + OPERATION + CALL) for part in parts)
