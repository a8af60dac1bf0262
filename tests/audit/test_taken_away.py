"""A live trail that somebody cuts, renames or removes: nobody dies, no later record is lost, and
verifying tells."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stanchion import Shield
from stanchion.audit.chain_lock import take
from stanchion.audit.options import TrailOptions
from stanchion.audit.trail import Trail
from stanchion.audit.verify import Deed, verify
from tests.audit.written import allowed, chains, moment, of_kind
from tests.live_folders import copy, remove

POLICY: dict[str, Any] = {
    "name": "taken",
    "tools": {"low": {"risk": "low"}, "high": {"risk": "high"}},
}


def segment(folder: Path, name: str) -> Path:
    """The only segment of a chain."""
    return folder / name / "00000001.jsonl"


def cut_to_nothing(folder: Path, name: str) -> str:
    """What `copytruncate` does."""
    os.truncate(segment(folder, name), 0)
    return " to 0 bytes"


def cut_in_the_middle(folder: Path, name: str) -> str:
    os.truncate(segment(folder, name), 300)
    return " to 300 bytes"


def append(folder: Path, name: str) -> str:
    with segment(folder, name).open("ab") as file:
        file.write(b"x" * 7)
    return "7 bytes were added after the end of segment 1"


def rename(folder: Path, name: str) -> str:
    """What `logrotate` does without it."""
    segment(folder, name).rename(segment(folder, name).with_suffix(".1"))
    return "segment 1 was removed or renamed"


def replace(folder: Path, name: str) -> str:
    path = segment(folder, name)
    shutil.copy(path, folder / "copy")
    os.replace(folder / "copy", path)
    return "another file has replaced segment 1"


def remove_the_segment(folder: Path, name: str) -> str:
    segment(folder, name).unlink()
    return "segment 1 was removed or renamed"


def remove_the_chain(folder: Path, name: str) -> str:
    remove(folder / name)
    return "its folder was removed or renamed"


def replace_the_chain(folder: Path, name: str) -> str:
    copy(folder / name, folder / "copy")
    remove(folder / name)
    (folder / "copy").rename(folder / name)
    return "another folder is in its place"


def remove_the_trail(folder: Path, name: str) -> str:
    remove(folder)
    return "its folder was removed or renamed"


TAKEN = [
    cut_to_nothing,
    cut_in_the_middle,
    append,
    rename,
    replace,
    remove_the_segment,
    remove_the_chain,
    replace_the_chain,
    remove_the_trail,
]
UNHURT = {append, replace, replace_the_chain}
"""What leaves all records where they were."""


@pytest.mark.parametrize("risk", ["low", "high"])
@pytest.mark.parametrize("take_away", TAKEN)
def test_it_is_gone_on_from_within_the_same_call(
    tmp_path: Path, take_away: Callable[[Path, str], str], risk: str
) -> None:
    """The call goes ahead, its record stands in another chain, and that one says what it found."""
    folder = tmp_path / "trail"
    shield = Shield.load(POLICY, journal=Trail(folder, TrailOptions(sync_ms=0.1)), store="memory:")
    with shield.run(id="r1") as run:
        assert all(run.check("high", {"before": number}).proceeds for number in range(5))
        first, (last, digest) = shield.journal.name, shield.journal.head
        seen = take_away(folder, first)
        kept = [run.check(risk, {"after": number}) for number in range(5)]
        assert all(decision.proceeds for decision in kept)
    shield.close()
    second = shield.journal.name
    assert second != first
    for name in {first, second} - {path.name for path in folder.iterdir()}:
        assert name == first
    damaged = folder / first
    evidence = tmp_path / "evidence"
    if damaged.exists():
        damaged.rename(evidence)
    (found,) = chains(folder).values()
    assert {decision.id for decision in kept} <= {
        record["id"] for record in of_kind(found, "intent")
    }
    (lost,) = of_kind(found, "open")[0]["lost"]
    assert (lost[0], lost[1] >= last, lost[3].endswith(seen)) == (first, True, True)
    if evidence.exists():
        evidence.rename(damaged)
    report = verify(folder)
    if take_away in UNHURT:
        assert lost[1:3] != [last, ""]
        return
    fault = next(fault for fault in report.faults if fault.chain == first)
    assert fault.deed in (Deed.DELETED, Deed.TRUNCATED, Deed.UNREADABLE, Deed.HEADLESS)
    if not damaged.exists():
        assert "which held records to" in fault.sentence
        assert seen in fault.sentence
    assert digest


def test_cutting_the_live_segment_kills_nobody(tmp_path: Path) -> None:
    """A process of its own, because it was killed by the system's own signal: a mapped file cannot
    be cut."""
    work = """
        import os, sys
        from pathlib import Path
        from stanchion.audit.trail import Trail
        from tests.audit.written import allowed, moment

        trail = Trail(Path(sys.argv[1]))
        for number in range(200):
            about = moment(f"e{number}")
            mark = trail.write(about, allowed(about), 0)
            if number % 40 == 20:
                trail.sync(mark)
                for path in Path(sys.argv[1]).rglob("*.jsonl"):
                    os.truncate(path, 0)
        trail.close()
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(work), str(tmp_path / "trail")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    found = [
        record["id"]
        for path in (tmp_path / "trail").rglob("*.jsonl")
        if path.stat().st_size
        for record in of_kind(chains_of(path), "intent")
    ]
    assert {f"e{number}" for number in range(181, 200)} <= set(found)


def chains_of(path: Path) -> list[dict[str, Any]]:
    """The records of one segment, however it begins."""
    import json

    return [json.loads(line)["body"] for line in path.read_bytes().splitlines()]


def test_there_is_no_lock_file_to_delete(tmp_path: Path) -> None:
    """A second process finds the chain taken whatever somebody removes in it."""
    trail = Trail(tmp_path)
    about = moment("e1")
    trail.sync(trail.write(about, allowed(about), 0))
    for path in (tmp_path / trail.name).iterdir():
        assert path.name != "lock"
    assert take(tmp_path / trail.name) is None
    other = Trail(tmp_path)
    assert other.name != trail.name
    other.close()
    trail.close()


def test_records_that_the_disk_did_not_have_yet_go_along(tmp_path: Path) -> None:
    """What was written right before the cut, and is waited for, is found in the new chain."""
    trail = Trail(tmp_path, TrailOptions(sync_ms=60_000, head_ms=60_000))
    about = moment("first")
    trail.sync(trail.write(about, allowed(about), 0))
    first = trail.name
    about = moment("second")
    mark = trail.write(about, allowed(about), 0)
    os.truncate(segment(tmp_path, first), 0)
    trail.sync(mark)
    trail.close()
    assert trail.name != first
    shutil.rmtree(tmp_path / first)
    (found,) = chains(tmp_path).values()
    assert [record["id"] for record in of_kind(found, "intent")] == ["second"]
