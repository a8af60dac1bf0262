"""What `stanchion explain` suggests where a queue or the error rate has spoken."""

from __future__ import annotations

from typing import Any

import pytest

from stanchion.audit.journal import MemoryJournal
from stanchion.ops.views.explain import DecisionCase, explain
from stanchion.runtime.run import Run
from stanchion.testing import shield_for

ROOM = "fewer than 1 running at a time per tool (`max_running`)"


def two_calls(run: Run) -> None:
    run.check("t", {})
    run.check("t", {})


def three_failures(run: Run) -> None:
    for _ in range(3):
        run.error("t", ConnectionError("gone"))


def two_failures(run: Run) -> None:
    for _ in range(2):
        run.error("t", ConnectionError("gone"))


@pytest.mark.parametrize(
    ("entry", "did", "code", "ways"),
    [
        (
            {"use": "queue", "max_running": 1, "max_waiting": 0},
            two_calls,
            "queue.full",
            (ROOM, "a longer line than 0 (`max_waiting`)"),
        ),
        (
            {"use": "queue", "max_running": 1, "timeout_s": 0.1, "pause_s": 0.06},
            two_calls,
            "queue.waits",
            (ROOM, "more than 100 ms to wait for that (`timeout_s`)"),
        ),
        (
            {"use": "error_rate", "calls": 4, "min_calls": 2, "repeats": 3},
            two_failures,
            "errors.failing",
            ("fewer failures than 50 % of the last 4 calls (`warn_at`)",),
        ),
        (
            {"use": "error_rate", "calls": 4, "min_calls": 2, "repeats": 3},
            three_failures,
            "errors.repeated",
            ("fewer than 3 failures in a row (`repeats`)",),
        ),
        (
            {
                "use": "error_rate",
                "per": ["tenant"],
                "calls": 4,
                "min_calls": 2,
                "repeats": 3,
                "halt_at": 80,
            },
            two_failures,
            "errors.worsened",
            ("fewer failures than 80 % of the last 4 calls (`halt_at`)",),
        ),
    ],
)
def test_what_would_have_let_it_pass(
    entry: dict[str, Any], did: Any, code: str, ways: tuple[str, ...]
) -> None:
    journal = MemoryJournal()
    shield = shield_for({"name": "p", "guards": [entry]}, journal=journal)
    run = shield.run("a", "t")
    did(run)
    spoke = [record for kept in journal.kept() if (record := kept.read()).findings]
    (finding,) = explain(DecisionCase(spoke[-1], run.desk.info), shield.policy).findings
    assert (finding.code, finding.to_pass) == (code, ways)
