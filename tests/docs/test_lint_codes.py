"""The page on lint names every code that lint can give, and no other."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Final

from tests.sources import nodes, tree_of

ROOT: Final = Path(__file__).parents[2]
PAGE: Final = ROOT / "docs" / "how-to" / "lint-a-policy.md"
ROOMS: Final = ("kernel", "guards", "policy")
CODE_AT: Final = {"Point": 0, "Remark": 1, "LintRule": 0}
"""Which argument is the code, of what lint says things with."""


def given() -> set[str]:
    """The codes in the source; one that is no text there is handed on from a place where it is."""
    found = set()
    for path in [
        file for room in ROOMS for file in (ROOT / "src" / "stanchion" / room).rglob("*.py")
    ]:
        for node in nodes(tree_of(path.read_text("utf-8")), ast.Call):
            if isinstance(node.func, ast.Name) and node.func.id in CODE_AT:
                at = CODE_AT[node.func.id]
                code = node.args[at] if len(node.args) > at else None
                if isinstance(code, ast.Constant) and isinstance(code.value, str):
                    found.add(code.value)
    return found


def named() -> set[str]:
    """The codes in the page's table."""
    section = (
        PAGE.read_text("utf-8").partition("## What is found")[2].partition("\nFor programs")[0]
    )
    rows = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    return {code for row in rows for code in re.findall(r"`([a-z_]+)`", row)}


def test_every_code_of_lint_is_on_its_page() -> None:
    assert given() == named()
