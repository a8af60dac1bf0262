"""Others' libraries are measured in processes of their own, each beside the dialect that speaks for
it; one that is not there has a row that says why."""

import os
import sys
from pathlib import Path

import pytest
from msgspec import structs

from stanchion_lab.bench.peers import ours, worker
from stanchion_lab.bench.peers.library import DISK, MEMORY, PEERS, NotInstalled, Peer, environment
from stanchion_lab.bench.peers.repeated import repeated
from stanchion_lab.bench.peers.sitting import sitting
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
        assert call["tool"] != "search_issues", "what was refused has no result"
"""


@pytest.fixture(autouse=True)
def _own_sessions(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "no corpora"))


@pytest.fixture
def peer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Peer:
    """A library that is installed below `peers`."""
    made = PEERS[0]
    home = tmp_path / "peers" / made.name
    (home / "bin").mkdir(parents=True)
    (home / "bin" / "python").symlink_to(sys.executable)
    (home / "installed").write_text(made.pinned, encoding="utf-8")
    (tmp_path / "GuardianLayer.py").write_text(LIBRARY, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    return made


def test_a_library_is_measured_beside_its_dialect(peer: Peer, tmp_path: Path) -> None:
    rows = {row.name: row for row in sitting(LITTLE, tmp_path / "peers", (peer,), ()).rows}
    steps = len(repeated(LITTLE).steps)
    refused = sum(step.tool == "search_issues" for step in repeated(LITTLE).steps)
    for what in ("call", "call and result"):
        for storage in (DISK, MEMORY):
            own, *more, theirs = [
                row for name, row in rows.items() if name.startswith(f"{what}, {storage}: ")
            ]
            assert "stanchion `guardian`" in own.name
            assert f"{refused} left out" in own.name, "what the library refuses counts for nobody"
            assert len(more) == (storage == DISK), (
                "where it keeps less, Stanchion's own way has a row besides"
            )
            assert theirs.name.endswith(f": {peer.pinned} ({peer.less})")
            assert own.cost is not None
            assert theirs.cost is not None
            assert own.cost.calls == theirs.cost.calls == steps - refused
            assert theirs.ratio == round(theirs.cost.p50_us / own.cost.p50_us, 2)
            assert own.cpu_us is not None
            assert theirs.cpu_us is not None
            assert theirs.cpu_ratio == round(theirs.cpu_us / own.cpu_us, 2)


def test_a_library_that_ends_says_why(peer: Peer, tmp_path: Path) -> None:
    (tmp_path / "GuardianLayer.py").write_text(
        "raise ValueError('it is not ready')", encoding="utf-8"
    )
    with pytest.raises(
        RuntimeError, match="`guardianlayer` ended with 1: ValueError: it is not ready"
    ):
        sitting(LITTLE, tmp_path / "peers", (structs.replace(peer, kept=peer.kept[:1]),), ())


def test_a_library_that_cannot_be_installed_has_a_row(tmp_path: Path) -> None:
    folder = tmp_path / "a file"
    folder.touch()
    peer = Peer("guardianlayer", "0.0", "reads nothing", "guardian", ())
    with pytest.raises(NotInstalled):
        environment(peer, folder)
    rows = sitting(LITTLE, folder, (peer,), ()).rows
    assert rows[-1].name.startswith("guardianlayer==0.0: not measured, it cannot be installed (")
    assert rows[-1].ratio is None


def test_every_library_has_a_player_and_a_dialect_beside_it() -> None:
    assert [peer.name for peer in PEERS] == list(worker.LIBRARIES)
    assert [*[peer.dialect for peer in PEERS], "default"] == list(ours.OURS)
    assert all(peer.less for peer in PEERS)


def test_our_own_sessions_are_never_the_same_twice() -> None:
    calls = [(step.tool, str(step.args)) for step in repeated(LITTLE).steps if step.tool != "bash"]
    assert len(calls) == len(set(calls))
