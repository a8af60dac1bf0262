"""Names that had many meanings have one."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Final

import pytest

from tests.sources import nodes, tree_of

ROOT: Final = Path(__file__).parents[2]
FOLDERS: Final = ("src/stanchion", "lab/src/stanchion_lab")


def _defined(tree: ast.Module) -> set[str]:
    """The classes and aliases that a module defines, whether they are private or not."""
    named = {node.name for node in nodes(tree, ast.ClassDef)}
    for node in tree.body:
        targets = (
            node.targets
            if isinstance(node, ast.Assign)
            else [node.target]
            if isinstance(node, ast.AnnAssign)
            else []
        )
        named |= {target.id for target in targets if isinstance(target, ast.Name)}
    return {name.lstrip("_") for name in named}


@pytest.fixture(scope="module")
def definitions() -> dict[str, list[str]]:
    """Where each name is defined."""
    found: dict[str, list[str]] = {}
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            for name in _defined(tree_of(path.read_text("utf-8"))):
                found.setdefault(name, []).append(str(path.relative_to(ROOT)))
    return found


@pytest.mark.parametrize(
    ("name", "home"),
    [
        ("Place", ["src/stanchion/readings/paths/place.py"]),
        ("Judged", []),
        ("RiskName", ["src/stanchion/kernel/actions.py"]),
        ("Grant", ["src/stanchion/approvals/grants.py"]),
        ("Allotment", ["src/stanchion/guards/budget/guard.py"]),
    ],
)
def test_a_name_is_defined_in_one_place(
    name: str, home: list[str], definitions: dict[str, list[str]]
) -> None:
    assert definitions.get(name, []) == home
