"""Whoever opens an SQLite database closes it: `with` alone only commits, and Python 3.13 warns of
what is left open."""

import ast
from pathlib import Path

import pytest

from tests.sources import nodes, tree_of

ROOT = Path(__file__).resolve().parents[2]
PLACES = ("src", "lab/src", "model", "examples", "tools", "tests")


def left_open(source: str) -> list[int]:
    """The lines in which a connection is made that nobody can close, as it is only entered or
    asked."""
    tree = tree_of(source)
    entered = [item.context_expr for node in nodes(tree, ast.With) for item in node.items]
    asked = [node.value for node in nodes(tree, ast.Attribute) if node.attr != "close"]
    return sorted([one.lineno for one in (*entered, *asked) if _connects(one)])


def _connects(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) == "sqlite3.connect"


def test_every_connection_is_closed() -> None:
    files = [file for place in PLACES for file in sorted((ROOT / place).rglob("*.py"))]
    sources = {
        file: text
        for file in files
        if "sqlite3.connect(" in (text := file.read_text(encoding="utf-8"))
    }
    found = [
        f"{file.relative_to(ROOT)}:{line}"
        for file, text in sources.items()
        for line in left_open(text)
    ]
    assert not found, f"put `contextlib.closing` around the connection: {', '.join(found)}"


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("with sqlite3.connect(a) as db: pass", [1]),
        ("with x as y, sqlite3.connect(a) as db:\n    pass", [1]),
        ("\nsqlite3.connect(a).execute(b)", [2]),
        ("with closing(sqlite3.connect(a)) as db: pass", []),
        ("sqlite3.connect(a).close()", []),
        ("db = sqlite3.connect(a)\ndb.close()", []),
        ("'sqlite3.connect(a).execute(b)'", []),
    ],
)
def test_what_is_left_open(source: str, lines: list[int]) -> None:
    assert left_open(source) == lines
