"""The feature table is complete, and what it says of done rows is true."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.sources import data_of, nodes, tree_of
from tools.features import DOCUMENTS, Done, Open, Ruled, read

ROOT = Path(__file__).resolve().parents[2]
MANIFEST = Path(__file__).with_name("feature_ids.txt")

ROWS = [row for name in DOCUMENTS for row in read(name).rows]


@cache
def names_in(file: Path) -> set[str]:
    """Collect what a test reference may name: functions and classes of Python, any scalar of a YAML
    table."""
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".py":
        tree = tree_of(text)
        functions = [node.name for node in nodes(tree, ast.FunctionDef)]
        functions += [node.name for node in nodes(tree, ast.AsyncFunctionDef)]
        return {*functions, *[node.name for node in nodes(tree, ast.ClassDef)]}
    return set(scalars(data_of(text)))


def scalars(value: object) -> Iterator[str]:
    """Yield every key and plain value inside a YAML value, as text."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield str(key)
            yield from scalars(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from scalars(inner)
    else:
        yield str(value)


def faults(row: Open | Done | Ruled, root: Path) -> list[str]:
    """Say what a row claims that is not so."""
    if isinstance(row, Ruled) and not row.ruling.strip():
        return [f"`{row.id}` is ruled without a reason; say why"]
    if not isinstance(row, Done):
        return []
    found = []
    if not (row.modules and row.tests):
        found.append(
            f"`{row.id}` is done but names no module or no test; name both, or set it open"
        )
    for module in row.modules:
        if not module.startswith("src/") or not (root / module).is_file():
            found.append(
                f"`{row.id}` names module `{module}`, which is not a file under src; correct the "
                f"path"
            )
    for test in row.tests:
        path, *names = test.split("::")
        if not path.startswith("tests/") or not (root / path).is_file():
            found.append(
                f"`{row.id}` names test `{test}`, whose file is not under tests; correct the path"
            )
        elif not names or set(names) - names_in(root / path):
            found.append(
                f"`{row.id}` names test `{test}`, which is not in that file; write `path::name`"
            )
    return found


def test_no_row_vanishes_and_none_appears_unnoticed() -> None:
    ids = [row.id for row in ROWS]
    kept = MANIFEST.read_text(encoding="utf-8").split()
    assert sorted(set(kept) - set(ids)) == [], (
        "rows are missing from docs/features; bring them back"
    )
    assert sorted(set(ids) - set(kept)) == [], (
        "rows are new; add their ids to tests/docs/feature_ids.txt"
    )
    assert len(ids) == len(set(ids)), "an id is used twice; give the later row a letter"


@pytest.mark.parametrize("name", DOCUMENTS)
def test_ids_are_made_of_document_and_first_line(name: str) -> None:
    for row in read(name).rows:
        first = re.match(r"\d+", row.lines)
        assert first, f"`{row.id}` has lines `{row.lines}`; start with a line number"
        assert re.fullmatch(rf"{name}-{int(first[0]):03d}[a-z]?", row.id)


def test_every_claim_of_the_table_is_true() -> None:
    assert [fault for row in ROWS for fault in faults(row, ROOT)] == []


def test_an_open_row_may_not_name_a_module(tmp_path: Path) -> None:
    row = "{id: x-001, lines: '1', says: words, status: open, module: src/x.py}"
    (tmp_path / "x.yaml").write_text(f"document: X\nrows: [{row}]\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"`x\.yaml`.*`module`"):
        read("x", tmp_path)


def test_a_done_row_must_name_a_test(tmp_path: Path) -> None:
    row = "{id: x-001, lines: '1', says: words, status: done, module: src/x.py}"
    (tmp_path / "x.yaml").write_text(f"document: X\nrows: [{row}]\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"`x\.yaml`.*`test`"):
        read("x", tmp_path)


@pytest.mark.parametrize(
    ("module", "test", "count"),
    [
        ("src/x.py", "tests/test_x.py::test_it", 0),
        ("src/x.py", "tests/test_x.py::TestIt::test_inner", 0),
        ("src/x.py", "tests/x.yaml::refuses the second call", 0),
        ("src/gone.py", "tests/test_x.py::test_it", 1),
        ("tests/test_x.py", "tests/test_x.py::test_it", 1),
        ("src/x.py", "tests/gone.py::test_it", 1),
        ("src/x.py", "tests/test_x.py::test_gone", 1),
        ("src/x.py", "tests/test_x.py", 1),
        ("src/x.py", "tests/x.yaml::refuses", 1),
        ("src/x.py", [], 1),
        ([], "tests/test_x.py::test_it", 1),
    ],
)
def test_false_claims_are_found(
    module: str | list[str], test: str | list[str], count: int, tmp_path: Path
) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/x.py").touch()
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/test_x.py").write_text(
        "def test_it(): ...\nclass TestIt:\n    def test_inner(self): ...\n", encoding="utf-8"
    )
    (tmp_path / "tests/x.yaml").write_text("- case: refuses the second call\n", encoding="utf-8")
    row = Done(id="x-001", lines="1", says="words", module=module, test=test)
    assert len(faults(row, tmp_path)) == count


def test_a_ruling_needs_a_reason() -> None:
    assert faults(Ruled(id="x-001", lines="1", says="words", ruling=" "), ROOT)
    assert not faults(
        Ruled(id="x-001", lines="1", says="words", ruling="the core needs 3.11"), ROOT
    )
