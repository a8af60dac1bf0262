"""The line that begins a record in a plain text."""

from __future__ import annotations

import pytest

from stanchion.readings.record_line import record_line

ROWS = [
    (
        "[{id}] From: {from}",
        "[7] From: Ann <ann@x.example>",
        {"id": "7", "from": "Ann <ann@x.example>"},
    ),
    ("[{id}] From: {from}", "[7] From: a] From: b  ", {"id": "7", "from": "a] From: b"}),
    ("[{id}] From: {from}", "> [7] From: ann", None),
    ("[{id}] From: {from}", "[7]", None),
    ("[{id}] From: {from}", "[] From: ann", None),
    ("{id} | {title} |", "7 | Lunch at noon |", {"id": "7", "title": "Lunch at noon"}),
    ("{id} | {title} |", "7 | Lunch at noon", None),
    ("Item {{{id}}}", "Item {7}", {"id": "7"}),
    ("#{id}#", "#", None),
]


@pytest.mark.parametrize(("pattern", "line", "fields"), ROWS)
def test_a_line_gives_its_fields(pattern: str, line: str, fields: dict[str, str] | None) -> None:
    assert record_line(pattern).fields(line) == fields


def test_a_line_of_any_length_takes_linear_time() -> None:
    assert record_line("{a} {b} {c} {d} !").fields(" " * 1_000_000 + "!") is None
