"""The page about backups is played as it stands: copy, verify, lose everything, restore, go on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from stanchion.runtime.shield import Shield
from tests.docs.markdown import ROOT, Block, scan

PAGE = ROOT / "docs/how-to/back-up.md"
POLICY = {"name": "drill", "guards": [{"use": "step_limit", "max_steps": 5}]}


def _commands(heading: str) -> list[str]:
    """The commands below a heading of the page."""
    part = PAGE.read_text("utf-8").split(f"\n## {heading}\n")[1].split("\n## ")[0]
    blocks = [one for one in scan(part) if isinstance(one, Block) and one.language == "console"]
    return [line[2:] for block in blocks for line in block.text.splitlines() if line[:2] == "$ "]


def _play(folder: Path, heading: str) -> None:
    here = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for command in [one for one in _commands(heading) if not one.startswith("export ")]:
        # Without a terminal of its own, whoever runs the tests at one is not asked.
        done = subprocess.run(
            ["sh", "-c", command], cwd=folder, env={**os.environ, "PATH": here},
            capture_output=True, text=True, check=False, start_new_session=True,
        )  # fmt: skip
        if command.startswith("stanchion state accept"):
            assert "no terminal to ask a person in" in done.stderr
            continue
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"


def _works(folder: Path, times: int) -> list[str]:
    """How so many calls of one task are decided."""
    store, journal = str(folder / "state/state.db"), str(folder / "trail")
    shield = Shield.load(POLICY, store=store, journal=journal)
    with shield, shield.run(agent="a", task="t") as run:
        return [run.check("search", {"q": str(n)}).action.name for n in range(times)]


def test_what_was_lost_is_restored_and_goes_on(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    assert _works(tmp_path, 3) == ["ALLOW"] * 3
    _play(tmp_path, "Copy")
    _play(tmp_path, "Restore")
    assert _works(tmp_path, 1) == ["ALLOW"]
