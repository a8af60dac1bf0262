"""What the gate leaves to a soak is a part of what is listed, and of nothing else."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Final

import pytest

from tests import heavy
from tests.sources import tree_of

ROOT: Final = Path(__file__).resolve().parents[1]
TESTS: Final = """
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

@pytest.mark.parametrize("n", range(20))
def test_many(n): ...

def test_long(): ...

def test_short(): ...

@settings(max_examples=30)
@given(st.integers())
def test_drawn(n):
    print("drew")

class Machine(RuleBasedStateMachine):
    @rule()
    def step(self): ...

TestMachine = Machine.TestCase
"""
PLUGIN: Final = '''
import sys
sys.path.insert(0, {root!r})
from tests import heavy
LISTED = """
# a comment
10   test_a.py::test_many
soak test_a.py::test_long
10   test_a.py::test_drawn
10   test_a.py::TestMachine::runTest
"""
def pytest_collection_modifyitems(items):
    items[:], left = heavy.divide(items, heavy.read(LISTED))
    print("left", len(left), [item.cls.settings.max_examples for item in items if item.cls])
'''


@cache
def _defined(file: str) -> frozenset[str]:
    """The names of functions in a file, and of everything that it assigns."""
    found: set[str] = set()
    for node in ast.walk(tree_of((ROOT / file).read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.Name):
            found.add(node.id)
    return frozenset(found)


def test_whatever_is_listed_is_there() -> None:
    """A test that was renamed or taken away leaves the list, too."""
    listed = [test.split("::") for test in heavy.read(heavy.FILE.read_text("utf-8"))]
    gone = [
        f"{file}::{name}"
        for file, name, *_ in listed
        if not (ROOT / file).is_file() or name not in _defined(file)
    ]
    assert gone == []
    assert listed == sorted(listed)


def test_a_part_is_played_and_the_rest_is_left(tmp_path: Path) -> None:
    (tmp_path / "test_a.py").write_text(TESTS, "utf-8")
    (tmp_path / "conftest.py").write_text(PLUGIN.format(root=str(ROOT)), "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider", "--rootdir=."],
        cwd=tmp_path,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "left 19 [10]" in done.stdout, done.stdout  # of a hundred examples, the usual number
    assert done.stdout.count("drew") == 3, done.stdout
    assert "5 passed" in done.stdout, done.stdout


@pytest.mark.parametrize("line", ["ten tests/a.py::test_a", "10"])
def test_what_is_no_list_is_an_error(line: str) -> None:
    with pytest.raises(ValueError, match=r"invalid literal|not enough values"):
        heavy.read(line)
