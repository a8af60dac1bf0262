"""Crashes: what was said to be recorded survives `kill -9` at any moment, and the next process goes
on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
KILLS = 250 if os.environ.get("STANCHION_SOAK") else 10


@pytest.mark.parametrize("seed", [1, 2])
def test_nothing_that_was_acknowledged_is_lost_when_a_process_is_killed(
    tmp_path: Path, seed: int
) -> None:
    """Decisions and tools that ran are in the trail, which is whole; one chain serves all processes
    in turn."""
    command = [sys.executable, "-m", "tests.audit.killing", str(tmp_path), str(KILLS), str(seed)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["kills"] == KILLS
    assert seen["writers"] > KILLS // 2
    assert seen["said"] > KILLS
