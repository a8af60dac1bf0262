"""Nobody rests with a lock: a frame that yields or awaits may never come back, and nobody takes
over from it."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.sources import nodes, tree_of

ROOT = Path(__file__).resolve().parents[2] / "src"
KINDS = {"Lock", "Reentrant"}
RESTS = (ast.Yield, ast.YieldFrom, ast.Await, ast.AsyncFor, ast.AsyncWith)
OWN_FRAME = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.GeneratorExp)


@cache
def trees(root: Path) -> dict[str, ast.Module]:
    """Every module that has a lock, makes one or takes one, by its path."""
    texts = {
        file.relative_to(root).as_posix(): file.read_text(encoding="utf-8")
        for file in sorted(root.rglob("*.py"))
    }
    return {
        path: tree_of(text)
        for path, text in texts.items()
        if "with " in text or "stanchion.locks" in text
    }


def locks(tree: ast.Module) -> set[str]:
    """The names under which a module keeps locks of ours: of variables, and of attributes."""
    known = {
        alias.asname or alias.name
        for node in nodes(tree, ast.ImportFrom)
        if (node.module or "").startswith("stanchion.locks")
        for alias in node.names
        if alias.name in KINDS
    }
    found = set()
    assigned: list[ast.Assign | ast.AnnAssign] = [
        *nodes(tree, ast.Assign),
        *nodes(tree, ast.AnnAssign),
    ]
    for node in assigned:
        if not isinstance(node.value, ast.Call):
            continue
        if isinstance(node.value.func, ast.Name) and node.value.func.id in known:
            found |= {name for target in _targets(node) if (name := last_name(target))}
    return found


def _targets(node: ast.Assign | ast.AnnAssign) -> list[ast.expr]:
    return [node.target] if isinstance(node, ast.AnnAssign) else node.targets


def last_name(node: ast.expr) -> str:
    """What an expression is called: `_lock` for `self._lock`; of a call, what its method belongs
    to."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Call(func=ast.Attribute(value=of)):
            return last_name(of)
        case _:
            return ""


def in_this_frame(nodes: list[ast.stmt]) -> Iterator[ast.AST]:
    """What is done by the frame that has these statements, and not by functions that it defines."""
    rest: list[ast.AST] = [*nodes]
    while rest:
        node = rest.pop()
        yield node
        if not isinstance(node, OWN_FRAME):
            rest += ast.iter_child_nodes(node)


def faults(root: Path) -> list[str]:
    """Say where a frame rests that has a lock."""
    modules = trees(root)
    names = set().union(*map(locks, modules.values()))
    return [
        f"{path}:{inner.lineno} rests with `{last_name(item.context_expr)}`: let go of it before"
        for path, tree in modules.items()
        for node in nodes(tree, ast.With)
        for item in node.items
        if last_name(item.context_expr) in names
        for inner in in_this_frame(node.body)
        if isinstance(inner, RESTS)
    ]


def test_nothing_rests_with_a_lock() -> None:
    found = faults(ROOT)
    assert not found, "\n" + "\n".join(found)


def test_locks_are_found() -> None:
    """By the names that they have in several rooms, so that the test above looks at something."""
    names = set().union(*map(locks, trees(ROOT).values()))
    assert {"_lock", "_turn", "_changing", "_starting"} <= names


HEAD = (
    "from stanchion.locks import Lock, Reentrant as Again\n\nfree = Again()\n\n\nclass Kept:\n    "
    "def __init__(self):\n"
)
HEAD += "        self._lock = Lock()\n\n"


@pytest.mark.parametrize(
    "body",
    [
        "    def f(self):\n        with self._lock:\n            yield 1\n",
        (
            "    def f(self, x):\n        with x, self._lock:\n            if x:\n                "
            "y = yield from x\n"
        ),
        (
            "    async def f(self):\n        with self._lock:\n            return [await x for x "
            "in ()]\n"
        ),
        (
            "    async def f(self):\n        with self._lock:\n            async with x:\n         "
            "       pass\n"
        ),
        "    def f(self):\n        with self._lock.within(1) as held:\n            yield held\n",
        "    def f(self):\n        with free:\n            yield\n",
        "    def f(self, other):\n        with other.deep._lock:\n            yield\n",
    ],
)
def test_a_fault_is_named(body: str, tmp_path: Path) -> None:
    (tmp_path / "kept.py").write_text(HEAD + body, encoding="utf-8")
    found = faults(tmp_path)
    assert len(found) == 1
    assert found[0].startswith("kept.py:")


@pytest.mark.parametrize(
    "body",
    [
        "    def f(self):\n        with self._lock:\n            x = 1\n        yield x\n",
        (
            "    def f(self):\n        with self._lock:\n            def g():\n                "
            "yield 1\n"
        ),
        "    def f(self, other):\n        with other.lent:\n            yield 1\n",
    ],
)
def test_who_lets_go_before_may_rest(body: str, tmp_path: Path) -> None:
    (tmp_path / "kept.py").write_text(HEAD + body, encoding="utf-8")
    assert faults(tmp_path) == []
