"""Commands print: what they show is computed by views or done by the shield, never read from stores
and records."""

import ast
from pathlib import Path, PurePosixPath

import pytest

from tests.architecture.import_rules import imports
from tests.sources import tree_of

SRC = Path(__file__).resolve().parents[2] / "src"
CLI = SRC / "stanchion/cli"

RAW = {
    "stanchion.stores": {
        "stanchion.stores.memory.wall_ms",
        "stanchion.stores.open_store",
        "stanchion.stores.protocol",
    },
    "stanchion.audit.record": set[str](),
    "stanchion.audit.rebuilt": set[str](),
    "stanchion.audit.notes": set[str](),
    "stanchion.audit.runs": set[str](),
    "stanchion.audit.reader.Follower": set[str](),
    "stanchion.kernel.registers": set[str](),
    "stanchion.kernel.cells": set[str](),
    "stanchion.kernel.gates": set[str](),
}
"""Modules that hold what stores and trails keep, each with what of it opens a store and so is no
reading."""

READS = frozenset(
    {"backwards", "begun", "entry", "forwards", "holds", "look", "note", "of_kinds", "of_run"}
)
"""Methods by which cells, holds and records are read one by one."""

WRITES_OUT = {"audit_reading.py": {"forwards"}}
"""Commands that write records out as they are, and the methods that they read them by."""


def readings(path: PurePosixPath, source: str) -> list[str]:
    """Say where a command reads stores or records by itself; `path` is relative to the folder of
    commands."""
    tree = tree_of(source)
    found = []
    for each in imports(PurePosixPath("stanchion/cli") / path, tree):
        for module, fine in RAW.items():
            raw = each.full == module or each.full.startswith(f"{module}.")
            if raw and not any(
                each.full == name or each.full.startswith(f"{name}.") for name in fine
            ):
                found.append(
                    f"{path}:{each.line}: imports `{each.full}`; ask a view, or add one under "
                    f"`views`"
                )
    allowed = WRITES_OUT.get(str(path), set())
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(attr=name)) if name in READS - allowed:
                found.append(
                    f"{path}:{node.lineno}: reads by `.{name}()`; ask a view, or add one under "
                    f"`views`"
                )
            case ast.Call(func=ast.Attribute(value=ast.Attribute(attr="store"), attr="read")):
                found.append(
                    f"{path}:{node.lineno}: reads the store; ask a view, or add one under `views`"
                )
    return found


def test_commands_read_neither_stores_nor_records() -> None:
    found = []
    for file in sorted(CLI.rglob("*.py")):
        path = PurePosixPath(file.relative_to(CLI).as_posix())
        found += readings(path, file.read_text(encoding="utf-8"))
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("from stanchion.stores.seen import Seen", "imports `stanchion.stores.seen.Seen`"),
        ("from stanchion.stores import seen", "imports `stanchion.stores.seen`"),
        ("from stanchion.audit.record import Entry", "imports `stanchion.audit.record.Entry`"),
        ("def f():\n    import stanchion.kernel.registers", "a.py:2: "),
        ("cells = list(store.look())", "reads by `.look()`"),
        ("for found in reader.backwards(): pass", "reads by `.backwards()`"),
        ("entry = found.entry()", "reads by `.entry()`"),
        ("value = shield.store.read(key)[1]", "reads the store"),
    ],
)
def test_a_reading_is_named(source: str, says: str) -> None:
    (found,) = readings(PurePosixPath("a.py"), source)
    assert says in found


@pytest.mark.parametrize(
    "source",
    [
        "from stanchion.stores.open_store import open_store",
        "from stanchion.stores.memory import wall_ms",
        "from stanchion.ops.views.stored import cells",
        "text = file.read()",
        "grants = shield.grants()",
    ],
)
def test_opening_a_store_and_asking_a_view_is_fine(source: str) -> None:
    assert readings(PurePosixPath("a.py"), source) == []
