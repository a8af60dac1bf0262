"""Circles of imports: which files import each other, over however many others, and which rooms of
the runtime do."""

import ast
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from tests.architecture.import_rules import imports
from tests.sources import nodes, tree_of

RUNTIME = "stanchion.runtime"
ORDER = (
    "sandbox",
    "values",
    "driving",
    "answers",
    "standing",
    "people",
    "deciding",
    "learning",
    "calling",
    "streams",
    "coverage",
    "operating",
    "remote",
    "door",
)
"""The rooms of the runtime: each imports those before it, and none behind it."""
BELOW = frozenset({"asides", "errors", "keywords", "setting"})
"""Files of the runtime that stand in no room, and import none."""
ABOVE = ("by_people", "run", "shield")
"""Files of the runtime that wire the rooms, in their order."""

BESIDE = {"options": "operating"}
"""Files of the runtime that stand in no room because users import them, and at the place of which
room."""

HANDED = frozenset({f"{RUNTIME}.shield", f"{RUNTIME}.deciding.desk"})
"""The shield and the desk of a run are handed to everything below them, which may name their
classes for types alone."""

Graph = dict[str, set[str]]
"""Modules, each with those it imports: at the top, in functions, and for types."""


def graph_of(src: Path) -> Graph:
    """The modules below a folder, each with those of them that it imports anywhere, but for what
    the rule lets out."""
    files = {_module(file.relative_to(src)): file for file in sorted(src.rglob("*.py"))}
    graph: Graph = {}
    for name, file in files.items():
        path = PurePosixPath(file.relative_to(src).as_posix())
        found = set()
        tree = tree_of(file.read_text(encoding="utf-8"))
        typed = _lines_for_types(tree)
        for each in imports(path, tree):
            target = each.full if each.full in files else each.module
            named = target in HANDED and each.line in typed
            if target in files and target != name and not named:
                found.add(target)
        graph[name] = found
    return graph


def _lines_for_types(tree: ast.Module) -> set[int]:
    """The lines of what is imported under TYPE_CHECKING."""
    return {
        each.lineno
        for block in nodes(tree, ast.If)
        if isinstance(block.test, ast.Name) and block.test.id == "TYPE_CHECKING"
        for each in block.body
    }


def _module(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def circles(graph: Graph) -> list[tuple[str, ...]]:
    """The sets of modules of which each leads to each other, in order of their names (Tarjan's
    algorithm)."""
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    path: list[str] = []
    found: list[tuple[str, ...]] = []

    def visit(name: str) -> None:
        number[name] = low[name] = len(number)
        path.append(name)
        for other in sorted(graph[name]):
            if other not in number:
                visit(other)
            if other in path:
                low[name] = min(low[name], low[other])
        if low[name] == number[name]:
            at = path.index(name)
            if len(path) > at + 1:
                found.append(tuple(sorted(path[at:])))
            del path[at:]

    for name in sorted(graph):
        if name not in number:
            visit(name)
    return sorted(found)


def against_the_order(graph: Graph) -> Iterator[str]:
    """Imports between rooms of the runtime that point from a room to one behind it."""
    for name in sorted(graph):
        room = _room(name)
        for other in sorted(graph[name]) if room else ():
            target = _room(other)
            if target and target != room and _place(target) >= _place(room):
                yield (
                    f"`{name}` imports `{other}`, which stands above it; move one, or turn the "
                    f"dependency round"
                )


def _room(name: str) -> str:
    """The room of a module of the runtime; empty for every other module."""
    if not name.startswith(f"{RUNTIME}."):
        return ""
    room = name.removeprefix(f"{RUNTIME}.").split(".")[0]
    return BESIDE.get(room, room)


def _place(room: str) -> int:
    if room in BELOW:
        return -1
    return (*ORDER, *ABOVE).index(room)
