"""What honest agents say at the end is not refuted: their replies, each as a final answer, against
what they saw."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from stanchion.policy.load import load_policy
from stanchion.runtime.run import Run
from stanchion.runtime.shield import Shield
from stanchion_lab.measuring.rows import VARIABLE, rows
from stanchion_lab.measuring.traces import Reply, Step, play, session_of, steps_of

FOLDER = Path(os.environ.get(VARIABLE, "corpora"))
FILES = {"honest_sessions.jsonl": session_of, "benign_traces.jsonl": steps_of}

pytestmark = pytest.mark.skipif(
    not all((FOLDER / name).is_file() for name in FILES),
    reason=f"no corpora: set {VARIABLE} to a folder",
)


def codes(run: Run, steps: list[Step]) -> set[str]:
    """The codes by which replies were held up."""
    found = set()
    for step in steps:
        if isinstance(step, Reply):
            decision = run.model_reply(step.text, final=True)
            found |= set() if decision.proceeds else {decision.code}
        else:
            list(play(run, [step]))
    return found


def disturbed(**options: Any) -> Counter[str]:
    """How many sessions were held up, by code."""
    guard = {"use": "evidence", "tests": None, "lint": None, **options}
    policy = {"name": "claims", "limits": {"warnings": 100_000}, "guards": [guard]}
    shield = Shield(load_policy(policy), safe_mode=False)
    shield.occurrences.mute()
    counted: Counter[str] = Counter()
    for name, read in FILES.items():
        for row in rows(FOLDER, name):
            counted.update(codes(shield.run(task=row.id, tenant=row.id), read(row) or []))
    return counted


def test_by_default_nothing_more_is_held_up_than_claims_about_tests() -> None:
    before, now = disturbed(refuted=None), disturbed()
    assert now == before
    assert set(now) <= {"evidence.unfounded"}
