"""Measuring the files guard: rows are held against their labels, and paths that climb are
refused."""

from __future__ import annotations

import json
from pathlib import Path

from stanchion_lab.measuring.paths import FILE, measure


def row(name: str, label: str, path: str, source: str = "List@1 Path/one.txt") -> str:
    """A line of the corpus."""
    return json.dumps(
        {"id": name, "kind": "path", "label": label, "payload": path, "source": source}
    )


def test_hits_and_misses_are_told(tmp_path: Path) -> None:
    lines = [
        row("a", "traversal", "../x"),
        row("b", "traversal", "a/../x", "Other two.txt"),
        row("c", "sensitive_absolute", "/var/log/x"),
        row("d", "sensitive_absolute", "/etc/shadow"),
        row("e", "benign", "/workspace/a.py"),
        row("f", "benign", "/workspace/.env"),
        row("g", "benign", "/srv/elsewhere"),
    ]
    (tmp_path / FILE).write_text("\n".join(lines), encoding="utf-8")
    figures = measure(tmp_path).figures
    counts = {
        figure.name: (figure.hits, figure.of)
        for figure in figures
        if not figure.name.startswith(" ")
    }
    assert counts == {
        "boxed: traversal refused": (1, 2),
        "boxed: sensitive_absolute refused": (2, 2),
        "boxed: honest refused": (1, 2),
        "open: traversal refused": (1, 2),
        "open: sensitive_absolute refused": (1, 2),
        "open: honest refused": (1, 3),
    }
    assert [family.name for family in figures[0].families] == ["List one.txt", "Other two.txt"]
    assert figures[0].misses == ("b (traversal): goes ahead: 'a/../x'",)
    assert next(figure for figure in figures if "honest" in figure.name).misses == (
        "f (benign): files.protected: '/workspace/.env'",
    )
