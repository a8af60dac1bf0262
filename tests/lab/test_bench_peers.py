"""Others' libraries are measured in processes of their own; one that is not there has a row that says why."""

import os
import sys
from pathlib import Path

import pytest

from stanchion_lab.bench.peers.library import PEERS, NotInstalled, Peer, environment
from stanchion_lab.bench.peers.sitting import OURS, sitting
from stanchion_lab.bench.table import Effort
from stanchion_lab.measuring.rows import VARIABLE

LITTLE = Effort(1, 1, 1)
LIBRARY = """
class GuardianLayer:
    def __init__(self, db_path=None):
        print("a library that prints")
        if db_path is not None:
            open(db_path, "w").close()

    def reset(self):
        pass

    def check(self, call):
        return {"allowed": call["tool"] != "search_issues"}

    def report_result(self, call, success, error=None):
        pass
"""


@pytest.fixture(autouse=True)
def _own_sessions(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "no corpora"))


def test_a_library_is_measured_with_and_without_storage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    peer = PEERS[0]
    home = tmp_path / "peers" / peer.name
    (home / "bin").mkdir(parents=True)
    (home / "bin" / "python").symlink_to(sys.executable)
    (home / "installed").write_text(peer.pinned, encoding="utf-8")
    (tmp_path / "GuardianLayer.py").write_text(LIBRARY, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    section = sitting(LITTLE, tmp_path / "peers", (peer,))
    names = [row.name for row in section.rows]
    assert len(names) == 8 * len(OURS)
    for what in ("call", "call and result"):
        for storage in ("memory", "disk"):
            found = [row for row in section.rows if row.name.startswith(f"{what}, {storage}: guardianlayer==")]
            assert len(found) == len(OURS), "beside each of ours"
            for theirs in found:
                assert "hashes tool and arguments" in theirs.name
                assert "refused 1" in theirs.name
                assert theirs.ratio is not None
                assert ("times slower" in theirs.name) == (theirs.ratio < 1)


def test_a_library_that_cannot_be_installed_has_a_row(tmp_path: Path) -> None:
    folder = tmp_path / "a file"
    folder.touch()
    peer = Peer("guardianlayer", "0.0", "reads nothing")
    with pytest.raises(NotInstalled):
        environment(peer, folder)
    rows = sitting(LITTLE, folder, (peer,)).rows
    assert rows[-1].name.startswith("guardianlayer==0.0: not measured, it cannot be installed (")
    assert rows[-1].ratio is None


def test_every_library_says_what_it_reads() -> None:
    assert [peer.name for peer in PEERS] == ["guardianlayer", "penguiflow", "veronica-core"]
    assert all(peer.reads for peer in PEERS)
