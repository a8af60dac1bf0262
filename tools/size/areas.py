"""The areas of the house, weighed by package.

A package is a folder right below an area's root; `.` are the files that stand in the root itself.
Sources are files of Python, SQL and Lua: those of SQL and Lua count by their lines and as files,
and have no tokens. Every other text is data, and counts by its lines beside the data tables that
stand in sources (`tools.size.source` says which).
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from operator import add
from pathlib import Path
from typing import Final

from msgspec import Struct

from tools.size.source import KINDS, Source, weigh
from tools.size.table import Table

BOUNDED: Final = ("src", "lab", "tools", "model")
"""The areas that may only get lighter."""
AREAS: Final = (*BOUNDED, "tests")
ROOTS: Final = {"src": "src/stanchion", "lab": "lab/src/stanchion_lab"}
"""The folder of an area that is not called as it is."""
CODE, SHAPE, DOUBLED, DATA = "code", "shape", "doubled", "data"


class File(Struct, frozen=True):
    """A file of a package."""

    path: str
    area: str
    package: str
    holds: Source


def read_areas(root: Path, areas: Iterable[str]) -> list[File]:
    """Weigh all files of some areas; each is read, parsed and tokenized once, and no tree is kept:
    to keep them costs more than to parse."""
    found = []
    for area in areas:
        base = root / ROOTS.get(area, area)
        for path in sorted(base.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                package = path.relative_to(base).parts[0] if path.parent != base else "."
                place = path.relative_to(root).as_posix()
                found.append(File(place, area, package, _weigh_file(path)))
    return found


def tabulate(files: Sequence[File]) -> tuple[Table, Table, Table]:
    """The tables of a list of files: how much code there is, of what shape, and which names of
    public classes an area defines more than once.

    In `shape`, `doubled` counts such names and `defined` their definitions; `excess` is how many
    ways the complex functions have over 15, all together; `longest` is the length of the longest
    source; the rest are the kinds of places in Python.
    """
    code: dict[str, tuple[int, ...]] = {}
    shape: dict[str, tuple[int, ...]] = {}
    doubled: dict[str, tuple[int, ...]] = {}
    for file in sorted(files, key=lambda file: (AREAS.index(file.area), file.package)):
        held = file.holds
        for row in (file.area, f"{file.area}/{file.package}"):
            more = (held.tokens, held.lines, held.files, held.data)
            code[row] = tuple(map(add, code.get(row, (0, 0, 0, 0)), more))
    for area in BOUNDED:
        own = [file for file in files if file.area == area]
        names = count_doubled(own)
        doubled |= {f"{area}:{name}": (count,) for name, count in names.items()}
        counts = [sum([len(file.holds.places.get(kind, ())) for file in own]) for kind in KINDS]
        excess = sum([file.holds.excess for file in own])
        longest = max([file.holds.length for file in own], default=0)
        shape[area] = (len(names), sum(names.values()), *counts, excess, longest)
    return (
        Table(CODE, ("tokens", "lines", "files", DATA), code),
        Table(SHAPE, ("doubled", "defined", *KINDS, "excess", "longest"), shape),
        Table(DOUBLED, ("definitions",), doubled),
    )


def count_doubled(files: Iterable[File]) -> dict[str, int]:
    """How often each name of a public class is defined that is defined more than once."""
    names = Counter([name for file in files for name in file.holds.classes if name[0] != "_"])
    return {name: names[name] for name in sorted(names) if names[name] > 1}


def list_places(files: Sequence[File], kind: str) -> Iterator[str]:
    """Where the figures of a column of `shape` come from, a place a line."""
    doubled = {area: count_doubled([f for f in files if f.area == area]) for area in BOUNDED}
    for file in files:
        names = [name for name in file.holds.classes if name in doubled[file.area]]
        places = names if kind == DOUBLED else file.holds.places.get(kind, ())
        yield from [f"{file.path}:{place}" for place in places]


def _weigh_file(path: Path) -> Source:
    try:
        text = path.read_text("utf-8")
    except UnicodeDecodeError:
        return Source()
    if path.suffix == ".py":
        return weigh(text, ast.parse(text))
    count = len(text.splitlines())
    if path.suffix in (".sql", ".lua"):
        return Source(lines=count, files=1, length=count)
    return Source(data=count)
