"""The page of contained runs shows what really happens."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from stanchion.runtime.sandbox.sandbox import WallKind
from tests.cli.test_how_to import sessions
from tests.docs.markdown import ROOT, blocks
from tests.runtime.contained.conftest import project
from tests.runtime.sandbox.conftest import lacking

__all__ = ["project"]


def test_what_the_page_shows_happens(project: Path) -> None:
    if why := lacking(WallKind.NAMESPACES):
        pytest.skip(why)
    if not shutil.which("curl"):
        pytest.skip("there is no `curl`")
    text = (ROOT / "docs/how-to/contained.md").read_text(encoding="utf-8")
    (policy,) = [block.text for block in blocks(text) if block.language == "yaml"]
    (project / "policy.yaml").write_text(policy)
    given = {**os.environ, "STANCHION_STATE_DIR": str(project.parent / "state")}
    given["PATH"] = f"{Path(sys.executable).parent}:{given['PATH']}"
    for command, shown in sessions(text)[0]:
        done = subprocess.run(
            ["sh", "-c", command],
            cwd=project,
            env=given,
            stdout=-1,
            stderr=-2,
            text=True,
            check=False,
        )
        said = [line for line in done.stdout.splitlines() if "trail in" not in line]
        assert said == shown.splitlines(), command
    assert (project / "made").exists()
