"""Measuring fault classes: rows are held against the class that their own label gives them, and
nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stanchion_lab.measuring.errors import FILE, measure, true_class
from stanchion_lab.measuring.rows import Row


@pytest.mark.parametrize(
    ("kind", "label", "payload", "fault"),
    [
        ("shell_exit", "exit_127", "bash: x: command not found", "user"),
        ("shell_exit", "exit_137", "Killed", "system"),
        ("shell_exit", "exit_7", "curl: (7) Failed to connect", "system"),
        ("shell_exit", "exit_7", "something else", ""),
        ("shell_exit", "exit_22", "curl: (22) The requested URL returned error: 401", "user"),
        ("shell_exit", "exit_22", "curl: (22) The requested URL returned error: 503", "system"),
        ("shell_exit", "exit_8", "awaiting response... 404 Not Found", "user"),
        ("shell_exit", "exit_1", "Connection refused", ""),
        ("tau_tool", "domain_error", "Error: not enough seats", "business"),
        ("trail_human", "Formatting Errors", "TypeError: unexpected keyword", "user"),
        ("trail_human", "Formatting Errors", "the answer ends too early", ""),
        ("trail_human", "Tool-related", "an error", ""),
        (
            "trail_span",
            "Error",
            "ValueError at first, then InternalServerError: overloaded",
            "system",
        ),
        ("trail_span", "Error", "No results found", ""),
        ("agent_error_observation", "error", "ERROR: one command at a time", "user"),
    ],
)
def test_the_class_of_a_row_comes_from_its_label(
    kind: str, label: str, payload: str, fault: str
) -> None:
    assert true_class(Row("r", kind, label, payload)) == fault


def test_hits_and_misses_are_told(tmp_path: Path) -> None:
    rows = [
        ("shell_exit", "exit_127", "bash: x: command not found"),
        ("shell_exit", "exit_127", "nothing that anybody understands"),
        ("tau_tool", "domain_error", "Error: not enough seats on flight 1"),
        ("tau_tool", "domain_error", "connection refused"),
        ("shell_exit", "exit_1", "connection refused"),
    ]
    lines = [
        json.dumps(
            {"id": f"row-{at}", "kind": kind, "label": label, "payload": payload, "source": "here"}
        )
        for at, (kind, label, payload) in enumerate(rows)
    ]
    (tmp_path / FILE).write_text("\n".join(lines))
    figures = {figure.name.strip(): figure for figure in measure(tmp_path).figures}
    whole = figures["all that have a class"]
    assert (whole.hits, whole.of) == (2, 4)
    assert [miss.split(": ")[0] for miss in whole.misses] == [
        "row-1 (exit_127)",
        "row-3 (domain_error)",
    ]
    assert "business, classed as system" in whole.misses[1]
    assert [(one.name, one.hits, one.of) for one in whole.families] == [
        ("here shell_exit", 1, 2),
        ("here tau_tool", 1, 2),
    ]
    assert (figures["system said of what is not"].hits, figures["of class business"].of) == (1, 2)
    silent = figures["rows without a class of their own that got one"]
    assert (silent.hits, silent.of) == (1, 1)
