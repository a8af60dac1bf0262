"""The words by which the table says what programs do: each is said of a program, no program stands
twice, and a new one is one entry."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from stanchion.readings.shell.command import Command
from stanchion.readings.shell.known import TABLE
from stanchion.readings.shell.secret_sources import shows_secret, tells_secret
from tests.sources import nodes, tree_of
from tools import program_table

PROGRAM = """
programs:
  frobcat: {is: keeps reads, values: -n --lines, hits: [], misses: []}
"""


def test_every_kind_is_said_of_a_program() -> None:
    kinds = {kind for kind in program_table.KINDS if kind and kind[0] != "#"}
    assert {kind for known in TABLE for kind in known.kinds.split()} == kinds


def asked_kinds(source: str) -> set[str]:
    """The kinds that a source asks for: of all programs by `named`, of one by `in`, or several."""
    tree = tree_of(source)
    parts: list[ast.AST] = []
    for call in nodes(tree, ast.Call):
        of_one = isinstance(call.func, ast.Attribute) and call.func.attr == "isdisjoint"
        if ast.unparse(call.func) == "named" or (of_one and "kinds" in ast.unparse(call.func)):
            parts += call.args
    for one in nodes(tree, ast.Compare):
        if "kinds" in ast.unparse(one.comparators[0]):
            parts.append(one.left)
    words = [each for part in parts for each in ast.walk(part) if isinstance(each, ast.Constant)]
    return {word.value for word in words if isinstance(word.value, str)}


def test_every_kind_is_asked_for() -> None:
    files = (program_table.SRC / "readings", program_table.SRC / "guards/shell")
    sources = [file.read_text("utf-8") for folder in files for file in folder.rglob("*.py")]
    asked = {
        kind
        for text in sources
        if "kinds" in text or "named(" in text
        for kind in asked_kinds(text)
    }
    assert {kind for known in TABLE for kind in known.kinds.split()} == asked


def test_a_program_stands_once() -> None:
    names = [name for known in TABLE for name in known.names.split()]
    assert len(names) == len(set(names))


def _usages(folder: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    (folder / "new.yaml").write_text(text, "utf-8")
    monkeypatch.setattr(program_table, "FOLDER", folder)
    return [(known.names, known.kinds) for known in program_table.usages()]


def test_a_new_program_is_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert _usages(tmp_path, PROGRAM, monkeypatch) == [("frobcat", "keeps reads")]


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        ("  grep frobcat: {is: seeks}", "another entry tells of `frobcat`"),
        ("  frobdog: {is: barks}", "no program is `barks`"),
        ("  frobdog: {barks: loud}", "unknown field `barks`"),
    ],
)
def test_an_entry_that_nobody_could_follow_is_a_fault(
    entry: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ValueError, match=says):
        _usages(tmp_path, f"{PROGRAM}{entry}\n", monkeypatch)


@pytest.mark.parametrize(
    "words",
    [
        "vault kv get s/x",
        "aws --region eu secretsmanager get-secret-value --secret-id x",
        "gh auth token",
        "pass show mail/ann",
    ],
)
def test_what_a_vault_tells_is_a_secret(words: str) -> None:
    assert tells_secret(Command(tuple(words.split())))


@pytest.mark.parametrize("words", ["vault status", "aws s3 ls", "gh pr list", "git status"])
def test_what_it_tells_otherwise_is_none(words: str) -> None:
    command = Command(tuple(words.split()))
    assert not tells_secret(command)
    assert not shows_secret(command)
