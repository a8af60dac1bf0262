"""The same sessions give the same records in every process, whatever its number, load and seed of
hashes."""

import os
import subprocess
import sys
from pathlib import Path

from tests.interrupts import SOAK
from tools.decisions.place import ROOT

PACKS = ("strict", "coding-agent", "mcp")
CORPORA = os.environ.get("STANCHION_CORPORA", "")  # tests themselves see nothing of it
ALL = ("default", "guardian", "agent-33", "database", "finance", "shadow-start")


def begun(place: Path, seed: int, threads: int) -> "subprocess.Popen[bytes]":
    """A process that plays: our own few sessions, or those of the corpora where there is time."""
    kept = {**os.environ, "STANCHION_CORPORA": CORPORA if SOAK else ""}
    folders = [ROOT / "src", ROOT / "lab" / "src", ROOT]
    kept |= {
        "PYTHONHASHSEED": str(seed),
        "PYTHONPATH": os.pathsep.join(map(str, folders)),
        "HOME": str(place),
    }
    command = [
        sys.executable,
        "-m",
        "tests.decisions.recorded",
        str(threads),
        *PACKS,
        *(ALL if SOAK else ()),
    ]
    return subprocess.Popen(command, cwd=place, env=kept, stdout=subprocess.PIPE)


def test_two_processes_write_the_same_records(tmp_path: Path) -> None:
    with begun(tmp_path, 1, 0) as calm, begun(tmp_path, 2, 1) as busy:
        first, second = [process.communicate()[0].splitlines() for process in (calm, busy)]
    assert (calm.returncode, busy.returncode) == (0, 0)
    assert b"diff <(ls old" in b"".join(first)
    assert b"files-real" in b"".join(first)
    assert [pair for pair in zip(first, second, strict=True) if pair[0] != pair[1]][:1] == []
