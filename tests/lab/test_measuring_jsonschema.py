"""Measuring the schema guard: rows are held against their labels, and every required case of the
public suite holds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from stanchion_lab.measuring.jsonschema import FILE, measure


def row(name: str, kind: str, label: str, schema: Any, data: Any) -> str:
    """A line of the corpus."""
    payload = {"schema": schema, "data": data}
    return json.dumps(
        {"id": name, "kind": kind, "label": label, "payload": payload, "source": "here"}
    )


def test_hits_and_misses_are_told(tmp_path: Path) -> None:
    date = {"format": "date"}
    lines = [
        row("a#0", "required", "valid", {"type": "string"}, "x"),
        row("a#1", "required", "invalid", {"type": "string"}, 5),
        row("a#2", "required", "valid", {"type": "string"}, 5),
        row("a#3", "required", "invalid", {"$ref": "https://example.org/"}, 5),
        row("a#4", "required", "valid", date, "never"),
        row("optional/format/date#0", "optional", "invalid", date, "never"),
        row("optional/other#0", "optional", "invalid", True, 5),
    ]
    (tmp_path / FILE).write_text("\n".join(lines), encoding="utf-8")
    figures = {figure.name.strip(): figure for figure in measure(tmp_path).figures}
    required = figures["required cases"]
    assert (required.hits, required.of) == (4, 5)
    assert required.misses[0].startswith("a#2 (valid): the result of `t`")
    assert (figures["optional cases on `format`"].hits, figures["optional cases"].hits) == (1, 0)
