"""Sandboxes to try: a folder that anybody may use, and every kind of walls that can be built
here."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from stanchion.runtime.sandbox.keeping.calls import SCOPES_SINCE, version
from stanchion.runtime.sandbox.limits import Limits
from stanchion.runtime.sandbox.sandbox import HOLDS, Sandbox, WallKind

USER = 20_000 + os.getpid() % 40_000 if os.getuid() == 0 else None
"""One of this process alone: the kernel counts processes by user, and what others start would be
counted here."""
SMALL = Limits(timeout_s=5, children=8, memory_mb=256, file_mb=1, tmp_mb=1)


def lacking(kind: WallKind) -> str:
    """What this machine lacks for a kind of walls, found out without the code that is tested; empty
    if it has all."""
    match kind:
        case WallKind.NAMESPACES:
            made = subprocess.run(
                ["unshare", "-Urmpf", "true"], capture_output=True, user=USER, check=False
            )
            return "" if made.returncode == 0 else made.stderr.decode()
        case WallKind.BUBBLEWRAP:
            return "" if shutil.which("bwrap") else "there is no `bwrap`"
        case WallKind.LANDLOCK:
            return "" if version() >= SCOPES_SINCE else f"Landlock {version()} has no scopes"


@pytest.fixture
def root() -> Iterator[Path]:
    """A folder that anybody may use, with a file in it."""
    with tempfile.TemporaryDirectory(prefix="stanchion-escapes-") as made:
        folder = Path(made).resolve() / "work"
        folder.mkdir()
        (folder / "a.txt").write_text("hello\n")
        folder.parent.chmod(0o755)
        folder.chmod(0o777)
        yield folder


@pytest.fixture(params=list(WallKind))
def kind(request: pytest.FixtureRequest) -> WallKind:
    """Each kind of walls; one is left out only where the machine lacks what it is made of."""
    found: WallKind = request.param
    if why := lacking(found):
        pytest.skip(why)
    return found


@pytest.fixture
def sandbox(root: Path, kind: WallKind) -> Iterator[Sandbox]:
    """A sandbox of somebody who is not root, with every wall that its kind holds."""
    with Sandbox(root, SMALL, user=USER, kind=kind, required=HOLDS[kind]) as made:
        yield made
