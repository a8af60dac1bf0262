"""The bench of experience gives a ratio for each store between few incidents and many."""

from __future__ import annotations

from typing import Any

import pytest

from stanchion_lab.bench import experience as bench
from stanchion_lab.bench.servers import Missing
from stanchion_lab.bench.table import Effort, show


def test_few_and_many_are_compared_and_a_server_that_is_missing_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def missing() -> Any:
        raise Missing("there is none")

    monkeypatch.setattr(bench, "_postgres", missing)
    found = bench.experience(Effort(2, 5, 30))
    many = [row for row in found.rows if row.name.endswith("30 kept")]
    assert [row.name.partition(":")[0] for row in many] == [
        "check and report",
        "a batch of 200",
        "what is known of a tool",
    ]
    assert all(row.ratio is not None and row.ratio > 0 for row in many)
    assert found.note.endswith("PostgreSQL is not measured, because there is none")
    show(found)
