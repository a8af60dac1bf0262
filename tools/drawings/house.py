"""The rooms of the sources: what each holds, and which rooms it imports."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent.parent
SOURCES = ROOT / "src" / "stanchion"
WITHIN = ("runtime.door", "tutor.playing")
"""Rooms that stand in another and import more than it does."""


class Room(NamedTuple):
    """A room: its name, what its docstring says it holds, and the rooms it imports."""

    name: str
    holds: str
    imports: frozenset[str]


@cache
def rooms(folder: Path = SOURCES, package: str = "stanchion") -> dict[str, Room]:
    """The rooms of a package, by name, read once."""
    names = {path.name for path in folder.iterdir() if (path / "__init__.py").exists()}
    names.update(name for name in WITHIN if _place(folder, name).exists())
    found = {}
    for name in names:
        seen: set[str] = set()
        apart = [_place(folder, inner) for inner in names if inner.startswith(f"{name}.")]
        for file in sorted(_place(folder, name).rglob("*.py")):
            if any(file.is_relative_to(one) for one in apart):
                continue
            source = file.read_text(encoding="utf-8")
            if not _mentioned(source, package).isdisjoint((names | {""}) - seen - {name}):
                seen.update(
                    room for room in _imported(source, package) if room in names and room != name
                )
        found[name] = Room(name, _holds(_place(folder, name) / "__init__.py"), frozenset(seen))
    return dict(sorted(found.items()))


def _place(folder: Path, name: str) -> Path:
    return folder.joinpath(*name.split("."))


def level(name: str, found: dict[str, Room], above: frozenset[str] = frozenset()) -> int:
    """How many rooms stand below a room, one on the other."""
    if name in above:
        raise ValueError(f"`{name}` is imported in a circle: {' → '.join([*sorted(above), name])}")
    return max((1 + level(each, found, above | {name}) for each in found[name].imports), default=0)


def rows(found: dict[str, Room]) -> list[list[str]]:
    """The rooms in rows, importers above what they import, each as high as it can be."""
    depth: dict[str, int] = {}
    for name in sorted(found, key=lambda each: -level(each, found)):
        above = [depth[other] for other, room in found.items() if name in room.imports]
        depth[name] = 1 + max(above, default=-1)
    return [
        sorted(name for name in depth if depth[name] == row)
        for row in range(1 + max(depth.values()))
    ]


def steps(found: dict[str, Room]) -> dict[str, frozenset[str]]:
    """For each room those that it imports and that no other room between the two does."""
    return {
        name: frozenset(
            below
            for below in room.imports
            if not any(
                below in _all_below(other, found) for other in room.imports if other != below
            )
        )
        for name, room in found.items()
    }


def _all_below(name: str, found: dict[str, Room]) -> set[str]:
    below: set[str] = set()
    for each in found[name].imports:
        below |= {each} | _all_below(each, found)
    return below


def _mentioned(source: str, package: str) -> set[str]:
    """The rooms that a source could import, and "" where it imports from the package itself. To
    look for their names takes a small part of the time of parsing, and most files import only what
    another of their room does."""
    inner = "".join(f"{re.escape(name)}|" for name in WITHIN)
    return set(re.findall(rf"\b{re.escape(package)}(?:\.({inner}\w+)| import\b)", source))


def _imported(source: str, package: str) -> Iterator[str]:
    for node in _statements(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            for alias in node.names:
                yield from _room(f"{node.module}.{alias.name}", package)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                yield from _room(alias.name, package)


def _statements(tree: ast.Module) -> Iterator[ast.AST]:
    """Every statement, however deep: imports are among them, and nine of ten nodes are not."""
    rest: list[ast.AST] = [*tree.body]
    while rest:
        node = rest.pop()
        yield node
        for part in ("body", "orelse", "finalbody", "handlers", "cases"):
            rest += getattr(node, part, ())


def _room(dotted: str, package: str) -> Iterator[str]:
    if dotted.startswith(f"{package}."):
        parts = dotted.removeprefix(f"{package}.").split(".")
        inner = ".".join(parts[:2])
        yield inner if inner in WITHIN else parts[0]


def _holds(file: Path) -> str:
    said = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    said = said.split("\n\n")[0].replace("\n", " ").replace("`", "").replace("stanchion.", "")
    head, colon, rest = said.partition(": ")
    return rest[:1].upper() + rest[1:] if colon and head.lower() == file.parent.name else said
