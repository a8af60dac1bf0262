"""Measuring the guard: rows are held against their labels, by what was let through."""

from __future__ import annotations

import json
from pathlib import Path

from stanchion_lab.measuring.sql import FILE, measure


def test_hits_and_misses_are_told(tmp_path: Path) -> None:
    rows = [
        ("made", "read", "SELECT a FROM t"),
        ("other", "read", "SELECT a FROM t FOR UPDATE"),
        ("made", "write", "INSERT INTO t VALUES (1)"),
        ("made", "ddl", "SELECT 1"),
        ("made", "destructive", "DROP TABLE t"),
        ("made", "unparsable", "SELECT FROM WHERE"),
        ("made", "sqli_fragment", "' OR 1=1 --"),
        ("made", "sqli_fragment", "hello"),
        ("made", "not_sqli", "O'Brien"),
    ]
    lines = [
        json.dumps(
            {"id": f"row-{at}", "kind": kind, "label": label, "payload": payload, "source": "here"}
        )
        for at, (kind, label, payload) in enumerate(rows)
    ]
    (tmp_path / FILE).write_text("\n".join(lines))
    figures = {figure.name: figure for figure in measure(tmp_path).figures}
    shares = {name: (figure.hits, figure.of) for name, figure in figures.items()}
    assert shares["read only: changes stopped"] == (2, 3)
    assert figures["read only: changes stopped"].misses == ("row-3 (ddl): let through: SELECT 1",)
    assert shares["read only: reads stopped"] == (1, 2)
    assert figures["read only: reads stopped"].misses == (
        "row-1 (read): sql.write: SELECT a FROM t FOR UPDATE",
    )
    assert [one.hits for one in figures["read only: reads stopped"].families] == [0, 1]
    assert shares["read only: unparsable stopped"] == (1, 1)
    assert shares["guarded: harmful stopped"] == (1, 1)
    assert shares["fragments seen"] == (1, 2)
    assert shares["everyday values stopped"] == (0, 1)
