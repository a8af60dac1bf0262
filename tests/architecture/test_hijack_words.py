"""What decides about hijacks comes from a general lexicon and from tools' own definitions: no
source of a guard names a benchmark's tool, and no list of words stands in the guard."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stanchion.guards.flow import RULES
from tests.sources import tree_of

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src/stanchion"
JUDGING = sorted(
    [*(PACKAGE / "guards/flow").glob("*.py"), *(PACKAGE / "readings/prose").glob("*.py")]
)
GUARDS = sorted((PACKAGE / "guards").rglob("*.py"))
FORMS = {PACKAGE / "readings/prose/phrases.py", PACKAGE / "readings/prose/values.py"}
"""Sources of forms: phrases of languages, and how values are spelt, with the endings of files and
units."""
CORPORA = os.environ.get("STANCHION_CORPORA")
"""As it is when tests are collected; no test sees the variables of who runs it."""
SUITES = ("workspace", "banking", "travel", "slack")
COMPOUND = re.compile(r"[a-z0-9]+(?:_[a-z0-9]+)+|[a-z0-9]+(?:[A-Z][a-z0-9]*)+")
NAMED = re.compile(r"(?<![\w.])[A-Za-z][A-Za-z0-9_]*(?![\w(])")
PIECES = re.compile(r"[|()?:]+")
WORD = re.compile(r"[a-z][a-z'-]*")
MOST = 6
"""So many plain words may stand side by side; more are a list."""


def of_agentdojo() -> set[str]:
    """The names of the tools of AgentDojo's suites."""
    suites = importlib.import_module("agentdojo.task_suite.load_suites")
    return {tool.name for suite in SUITES for tool in suites.get_suite("v1.2.1", suite).tools}


def of_corpora(folder: Path) -> set[str]:
    """The names of the tools in files of definitions."""
    found: set[str] = set()
    waiting: list[Any] = [
        json.loads(file.read_text(encoding="utf-8")) for file in folder.glob("*_tools.json")
    ]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict) and isinstance(one.get("name"), str) and "description" in one:
            found.add(one["name"])
        elif isinstance(one, dict):
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one
    return found


def compound(names: set[str]) -> set[str]:
    """Those names that are made of several words: a single one is a word of the language."""
    return {name for name in names if COMPOUND.fullmatch(name)}


def texts(source: str) -> Iterator[tuple[int, str]]:
    """The texts of a source with their lines, and none of what Python itself calls by a name."""
    for node in ast.walk(tree_of(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


def naming(source: str, tools: set[str]) -> list[tuple[int, str]]:
    """Where a source names a tool."""
    return [
        (line, name)
        for line, text in texts(source)
        for name in NAMED.findall(text)
        if name in tools
    ]


def lists(source: str) -> Iterator[int]:
    """The lines of a source on which a list of plain words begins: a collection, one text that is
    split, a pattern."""
    tree = tree_of(source)
    slots = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and _names_slots(node)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Tuple | ast.List | ast.Set) and id(node) not in slots:
            if _plain([each.value for each in node.elts if isinstance(each, ast.Constant)]) > MOST:
                yield node.lineno
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            if _plain(PIECES.split(node.value)) > 2 * MOST and "|" in node.value:
                yield node.lineno
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "split"
        ):
            said = node.func.value
            if (
                isinstance(said, ast.Constant)
                and isinstance(said.value, str)
                and _plain(said.value.split()) > MOST
            ):
                yield node.lineno


def _names_slots(node: ast.Assign) -> bool:
    return any(isinstance(each, ast.Name) and each.id == "__slots__" for each in node.targets)


def _plain(said: list[Any]) -> int:
    """How many plain words there are, but for names of the guard's own rules."""
    return len(
        [
            word
            for word in said
            if isinstance(word, str) and WORD.fullmatch(word) and word not in RULES
        ]
    )


def told(files: list[Path], tools: set[str]) -> list[str]:
    return [
        f"{file.relative_to(ROOT)}:{line} names `{name}`"
        for file in files
        for line, name in naming(file.read_text(encoding="utf-8"), tools)
    ]


@pytest.mark.skipif(
    importlib.util.find_spec("agentdojo") is None, reason="agentdojo is not installed"
)
def test_no_guard_names_a_tool_of_agentdojo() -> None:
    tools = compound(of_agentdojo())
    assert len(tools) > 40
    assert not told(GUARDS + JUDGING, tools)


def test_no_guard_names_a_tool_of_the_corpora() -> None:
    if not CORPORA:
        pytest.skip("STANCHION_CORPORA names no folder of corpora")
    tools = compound(of_corpora(Path(CORPORA) / "flow"))
    if not tools:
        pytest.skip(f"no definitions of tools are in {CORPORA}/flow")
    assert not told(JUDGING, tools)


def test_word_lists_stand_in_the_seeds_and_the_phrases_only() -> None:
    found = [
        f"{file.relative_to(ROOT)}:{line}"
        for file in JUDGING
        if file not in FORMS
        for line in lists(file.read_text(encoding="utf-8"))
    ]
    assert not found, f"put these words into tools/lexicon/seeds.yaml: {', '.join(found)}"


def test_a_name_and_a_list_are_found() -> None:
    assert naming("X = 'calls send_money twice'\n", {"send_money"}) == [(1, "send_money")]
    assert naming("send_money = 'sends money'\n", {"send_money"}) == []
    assert compound({"send_money", "sendMoney", "send", "cat"}) == {"send_money", "sendMoney"}
    listed = (
        "X = frozenset({'a', 'b', 'c', 'd', 'e', 'f', 'g'})\nY = 'a b c d e f g'.split()\nZ = "
        "('a', 'b')\n"
    )
    assert sorted(lists(listed)) == [1, 2]
    assert list(lists(f"X = regex(r'(?:{'|'.join('abcdefghijklmnopq')})')")) == [1]
