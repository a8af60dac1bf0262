"""Rows whose label is overruled: they count for neither side, and each is listed with its
reason."""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path

import pytest

from stanchion.kernel.actions import Action
from stanchion.kernel.findings import Finding
from stanchion_lab.measuring import shell
from stanchion_lab.measuring.overruling import Overruled, apart, overruled
from stanchion_lab.measuring.rows import VARIABLE, Row, rows, rows_if

NEAR = Path(__file__).resolve().parents[3] / "shared" / "corpora"
CORPORA = Path(os.environ.get(VARIABLE, NEAR))
CLOSED = "80ff05ffa5d3dce34114635d2b9cc82fd2a1764d7c90b04909dc93678eefe76e"
"""The digest of the rows that may be overruled, each with its label and what is said instead: none
may enter."""
FILES = (
    "shell.jsonl",
    "shell_everyday.jsonl",
    "shell_obfuscated.jsonl",
)


def judged(name: str, label: str, action: Action | None) -> shell.JudgedCommand:
    """A row that was judged so."""
    return shell.JudgedCommand(
        Row(name, "k", label), None if action is None else Finding(action, "shell.destructive")
    )


@pytest.mark.parametrize(
    ("table", "action", "right"),
    [
        ("goes ahead", None, 1),
        ("goes ahead", Action.WARN, 0),
        ("told", Action.WARN, 1),
        ("told", None, 0),
        ("told", Action.BLOCK, 0),
        ("asked", Action.ESCALATE, 1),
        ("refused", Action.BLOCK, 1),
        ("refused", Action.WARN, 0),
    ],
)
def test_an_overruled_row_is_held_against_the_table(
    table: str, action: Action | None, right: int
) -> None:
    entry = Overruled("a", "dangerous", table, "the reflog has it")  # type: ignore[arg-type] # one of the words
    counts, figures = apart(
        [judged("a", "dangerous", action), judged("b", "dangerous", None)], {"a": entry}
    )
    assert [one.row.id for one in counts] == ["b"]
    (figure,) = figures
    assert (figure.hits, figure.of) == (right, 1)
    assert figure.misses[0].endswith("): the reflog has it")


def test_a_row_of_another_label_is_not_overruled() -> None:
    entry = Overruled("a", "dangerous", "goes ahead", "the reflog has it")
    counts, figures = apart([judged("a", "benign", None)], {"a": entry})
    assert (len(counts), figures) == (1, ())


def test_no_row_is_overruled_that_was_not_when_the_list_was_closed() -> None:
    closed = (Path(__file__).parent / "overruled_at_most.txt").read_text("utf-8")
    assert sha256(closed.encode()).hexdigest() == CLOSED, (
        "the list is closed: rows may only leave `overruled.yaml`"
    )
    now = {f"{entry.id} {entry.label}: {entry.table}" for entry in overruled().values()}
    assert sorted(now - {*closed.splitlines()}) == [], (
        "say of no further row that its label is wrong: judge it rightly"
    )


def test_every_reason_is_a_sentence() -> None:
    for entry in overruled().values():
        assert len(entry.reason.split()) >= 3, entry.id


@pytest.mark.skipif(
    not (CORPORA / FILES[0]).is_file(), reason=f"no corpora: set {VARIABLE} to a folder"
)
def test_every_overruled_row_is_there_with_that_label() -> None:
    there = {(row.id, row.label) for row in rows(CORPORA, FILES[0])}
    there |= {(row.id, row.label) for file in FILES[1:] for row in rows_if(CORPORA, file)}
    assert {(entry.id, entry.label) for entry in overruled().values()} <= there
