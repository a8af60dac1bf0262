"""Measuring the `schema` guard on the public suite of JSON Schema 2020-12: what fits goes ahead,
what does not is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import msgspec

from stanchion.guards.schema import Schema
from stanchion.guards.schema.tools import CheckedDefinition, ToolDefinition, ToolDefinitions
from stanchion.kernel.events import RunInfo, ToolResult
from stanchion.readings import read
from stanchion_lab.measuring.figure import Figure, Report, counted
from stanchion_lab.measuring.rows import Row, rows
from stanchion_lab.measuring.watching import each

FILE: Final = "jsonschema_2020_12.jsonl"
FORMATS: Final = "optional/format/"
"""Where rows are about `format`, which a schema by itself only describes: it is held to for those
alone."""

RUN: Final = RunInfo("measure")
TOOL: Final = "t"

NOTES: Final = (
    (
        "each value is judged as the result of a tool whose result schema is the row's, as a "
        "policy would have it judged"
    ),
    (
        "refused schemas (too large, or that refer outside themselves) count as wrong; no row is "
        "left out"
    ),
    (
        "optional rows ask for more than the specification does; those on `format` are judged with "
        "`formats: true`"
    ),
)


class JudgedData(msgspec.Struct, frozen=True):
    """A row, and what was said about it: nothing where it goes ahead."""

    row: Row
    said: str

    @property
    def right(self) -> bool:
        """Whether that is what its label says."""
        return (self.said == "") == (self.row.label == "valid")

    @property
    def line(self) -> str:
        """The row in a list of misses."""
        return f"{self.row.id} ({self.row.label}): {self.said if self.said else 'goes ahead'}"


def measure(folder: Path) -> Report:
    """Judge every row of `jsonschema_2020_12.jsonl`."""
    judged = [JudgedData(row, said(row)) for row in each(list(rows(folder, FILE)))]
    required = [one for one in judged if one.row.kind == "required"]
    optional = [one for one in judged if one.row.kind != "required"]
    formats = [one for one in optional if one.row.id.startswith(FORMATS)]
    return Report(
        "JSON Schema 2020-12: the public suite",
        (
            _figure("required cases", required, "all"),
            *[
                _figure(f"required: {label}", [one for one in required if one.row.label == label])
                for label in _LABELS
            ],
            _figure("optional cases", [one for one in optional if one not in formats]),
            _figure("optional cases on `format`", formats),
        ),
        NOTES,
    )


_LABELS: Final = ("valid", "invalid")


def said(row: Row) -> str:
    """What the guard says about a row's value; empty where it goes ahead."""
    known = CheckedDefinition(ToolDefinition(name=TOOL, result_schema=row.payload["schema"]))
    if known.bad:
        return known.bad
    guard = Schema(formats=row.id.startswith(FORMATS)).with_tools(ToolDefinitions({TOOL: known}))
    event: Any = ToolResult(id="e", at=0, run=RUN, tool=TOOL, result=row.payload["data"])
    finding = guard.judge(read(event))
    return "" if finding is None else finding.message


def _figure(name: str, judged: list[JudgedData], target: str = "") -> Figure:
    return counted(
        name,
        judged,
        lambda one: one.right,
        lambda one: _keyword(one.row),
        target=target,
        missed=lambda one: one.line,
    )


def _keyword(row: Row) -> str:
    """The file of the suite that a row is from: a keyword, as a rule."""
    return row.id.partition(".json")[0].partition("#")[0]
