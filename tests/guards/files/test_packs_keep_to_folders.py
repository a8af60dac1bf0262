"""Packs that keep to a folder: what the threat model says of links and absolute paths, tried on a
real disk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from stanchion import Shield
from stanchion.stores.memory import MemoryStore

ROOT = Path(__file__).parents[3]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with a file, and a link that leads out of it."""
    place = tmp_path / "project"
    place.mkdir()
    (place / "notes.txt").write_text("mine", encoding="utf-8")
    (place / "ln").symlink_to("/etc")
    monkeypatch.chdir(place)
    return place


@pytest.mark.parametrize(
    "policy", ["strict", str(ROOT / "examples/coding/policy.yaml")], ids=["strict", "coding"]
)
@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("read_file", {"path": "ln/passwd"}),
        ("write_file", {"path": "ln/cron.d/x", "content": "x"}),
        ("read_file", {"path": "/etc/passwd"}),
        ("read_file", {"path": "file:///etc/passwd"}),
        ("read_file", {"path": "/srv/other/x.txt"}),
    ],
    ids=str,
)
def test_what_is_outside_of_the_working_directory_is_refused(
    project: Path, policy: str, tool: str, args: dict[str, Any]
) -> None:
    with Shield.load(policy, store=MemoryStore()).run(agent="coder", task="fix") as run:
        refused = run.check(tool, args)
        assert (refused.action.name, refused.code) in {
            ("BLOCK", "files.outside"),
            ("BLOCK", "files.protected"),
        }
        for path in ("notes.txt", str(project / "notes.txt"), "new.txt"):
            assert run.check("read_file", {"path": path}).proceeds
