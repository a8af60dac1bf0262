"""What functions say of themselves: the first sentence of their docstrings, and the phases that
they number."""

import ast
import re
from pathlib import Path

from tools.drawings.house import SOURCES

_NUMBERED = re.compile(r"(\d+)\.\s+(.+)")


def sentence(place: str) -> str:
    """The first sentence that a function says of itself; `place` is `room/file.py:function`."""
    said = ast.get_docstring(_function(place)) or ""
    first = re.split(r"(?<=\.)\s", said.replace("\n", " "), maxsplit=1)[0]
    if not first:
        raise ValueError(f"`{place}` says nothing of itself: give it a docstring")
    return first.replace("`", "")


def returning(place: str) -> frozenset[int]:
    """The numbers of the phases, by comments, in which a function has made what it returns."""
    node = _function(place)
    lines = (SOURCES / place.split(":")[0]).read_text(encoding="utf-8").splitlines()
    found, number = set(), 0
    ends = {one.lineno for one in ast.walk(node) if isinstance(one, ast.Return | ast.Break)}
    for at in range(node.lineno, (node.end_lineno or node.lineno) + 1):
        begins = _NUMBERED.fullmatch(lines[at - 1].strip(" #"))
        number += bool(begins and int(begins[1]) == number + 1)
        if at in ends:
            found.add(number)
    return frozenset(found)


def phases(place: str) -> list[str]:
    """The phases that a function numbers, in its docstring or in comments, in their order."""
    node = _function(place)
    lines = (
        (SOURCES / place.split(":")[0])
        .read_text(encoding="utf-8")
        .splitlines()[node.lineno - 1 : node.end_lineno]
    )
    found: list[str] = []
    for line in lines:
        text = line.strip()
        bare = text.removeprefix("#").strip()
        begins = _NUMBERED.fullmatch(bare)
        if begins and int(begins[1]) == len(found) + 1:
            found.append(begins[2])
        elif (
            found
            and bare
            and (text.startswith("#") or _goes_on(line, node))
            and not _NUMBERED.fullmatch(bare)
        ):
            found[-1] += f" {bare}"
    if len(found) < 2:
        raise ValueError(
            f"`{place}` numbers no phases: number them, in its docstring or in comments"
        )
    return [each.replace("`", "") for each in found]


def _goes_on(line: str, node: ast.FunctionDef) -> bool:
    """Whether a line goes on with what a docstring's list has begun."""
    return line.startswith(" " * (node.col_offset + 7)) and line.strip() in (
        ast.get_docstring(node) or ""
    )


def _function(place: str) -> ast.FunctionDef:
    file, _, name = place.partition(":")
    tree = ast.parse(Path(SOURCES / file).read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return node
    raise ValueError(f"there is no `{place}`: correct its name in the picture")
