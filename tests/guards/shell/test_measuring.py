"""The measure of the shell guard counts what was found and what was disturbed, and lists the
rest."""

from __future__ import annotations

import json
from pathlib import Path

from stanchion_lab.bench.shell import shells
from stanchion_lab.bench.table import Effort
from stanchion_lab.measuring.shell import DISGUISED, EVERYDAY, FILE, measure


def write(file: Path, rows: list[tuple[str, str, str]]) -> None:
    """Write rows of kind, label and text."""
    lines = [
        json.dumps(
            {
                "id": f"{file.stem}-{at}",
                "kind": kind,
                "label": label,
                "payload": text,
                "source": kind,
            }
        )
        for at, (kind, label, text) in enumerate(rows)
    ]
    file.write_text("\n".join(lines), encoding="utf-8")


def test_hits_alarms_and_misses_are_told(tmp_path: Path) -> None:
    plain = [
        ("one", "dangerous", "rm -rf /"),
        ("one", "dangerous", "git stash"),
        ("two", "dangerous", "ls"),
        ("one", "safe_hard_negative", "echo rm -rf /"),
        ("one", "benign", "rm -rf /etc"),
        ("one", "benign", "ls |"),
        ("one", "agent_unlabelled", "ls"),
    ]
    write(tmp_path / FILE, plain)
    write(
        tmp_path / DISGUISED,
        [("wrapper", "dangerous", "sh -c 'rm -rf /'"), ("wrapper", "benign", "sh -c ls")],
    )
    everyday = {
        "id": "more",
        "kind": "tldr",
        "label": "benign",
        "payload": "ls",
        "source": "tldr@1",
        "platform": "osx",
    }
    (tmp_path / EVERYDAY).write_text(json.dumps(everyday), encoding="utf-8")
    figures = {figure.name.strip(): figure for figure in measure(tmp_path).figures}
    found = figures["dangerous: found"]
    assert (found.hits, found.of) == (2, 3)
    assert found.misses == ("shell-2 (two): ls",)
    assert figures["dangerous: stopped"].hits == 1
    assert [(one.name, one.hits, one.of) for one in found.families] == [
        ("one", 2, 2),
        ("two", 0, 1),
    ]
    assert figures["safe, but looks dangerous: disturbed"].hits == 0
    alarms = figures["everyday: disturbed"]
    assert (alarms.hits, alarms.of) == (1, 3)
    assert [(one.name, one.hits, one.of) for one in alarms.families] == [
        ("one", 1, 2),
        ("tldr osx", 0, 1),
    ]
    assert alarms.misses[0].startswith("shell-4 (one): shell.destructive: ")
    assert figures["disguised dangerous: found"].hits == 1
    assert figures["everyday in wrappers: disturbed"].hits == 0


def test_the_bench_measures_every_kind_of_text() -> None:
    section = shells(Effort(1, 3, 1))
    assert [row.name for row in section.rows] == [
        "a tool that runs no shell",
        "a known text",
        "a new simple command",
        "a new text of several commands",
    ]
