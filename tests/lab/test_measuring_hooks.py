"""Measuring what hooks of coding agents stop: commands that are refused count, and no results."""

from __future__ import annotations

from pathlib import Path

from stanchion_lab.measuring.hooks import measure
from stanchion_lab.measuring.sessions import FILE
from tests.lab.test_measuring import written
from tests.lab.test_measuring_sessions import TOKEN, bash, session


def test_what_a_hook_stops_is_counted(tmp_path: Path) -> None:
    steps = (
        {"user": "tidy up"},
        bash("ls", TOKEN),
        bash("python -m pytest", "1 failed", failed=True),
        bash("rm -rf /"),
        {"tool": "read_file", "args": {"path": "a.txt"}, "result": "a"},
        {"reply": "done"},
    )
    written(tmp_path, FILE, session("1", *steps, kind="swe"), session("2", bash("rm -rf /")))
    found = {one.name: (one.hits, one.of) for one in measure(tmp_path).figures}
    assert found == {
        f"{agent}: {what}": (1, of)
        for agent in ("claude", "codex")
        for what, of in (("commands stopped", 3), ("calls stopped", 4))
    }
