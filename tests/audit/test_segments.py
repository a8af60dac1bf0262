"""Segments, checkpoints and heads: where a chain is cut into files, and what binds it from
outside."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from stanchion.audit.options import TrailOptions
from stanchion.audit.trail import Trail
from tests.audit.disks import Disk
from tests.audit.written import allowed, ids, lines, moment, of_kind, one, records, whole

NEVER: dict[str, Any] = {"sync_ms": 0.1, "head_ms": 0, "checkpoint_s": 3_600}


def write(trail: Trail, *names: str) -> None:
    """Write decisions, each on the disk before the next."""
    for name in names:
        about = moment(name)
        trail.sync(trail.write(about, allowed(about), 0))


def head(chain: Path) -> dict[str, Any]:
    """A chain's head."""
    found: dict[str, Any] = json.loads((chain / "head").read_bytes())
    return found


def test_a_full_segment_ends_with_a_checkpoint_and_another_begins(tmp_path: Path) -> None:
    """Numbers go on across segments, and each file begins by saying which it is."""
    trail = Trail(tmp_path, TrailOptions(**NEVER, segment_bytes=2_000))
    write(trail, *[f"e{number}" for number in range(30)])
    trail.close()
    chain = tmp_path / trail.name
    found = sorted(chain.glob("*.jsonl"))
    assert [path.name for path in found] == [
        f"{number:08d}.jsonl" for number in range(1, len(found) + 1)
    ]
    assert len(found) > 2
    for number, path in enumerate(found, start=1):
        first, *_, last = [json.loads(line)["body"] for line in path.read_bytes().splitlines()]
        assert (first["kind"], first["number"]) == ("segment", number)
        assert last["kind"] == "checkpoint"
        assert path.stat().st_size < 2_000 + 1_500
    assert ids(tmp_path) == [f"e{number}" for number in range(30)]


def test_the_next_process_goes_on_in_the_last_segment(tmp_path: Path) -> None:
    """Wherever the one before had come to."""
    for turn in range(4):
        trail = Trail(tmp_path, TrailOptions(**NEVER, segment_bytes=2_000))
        write(trail, *[f"{turn}.{number}" for number in range(7)])
        trail.close()
    assert ids(tmp_path) == [f"{turn}.{number}" for turn in range(4) for number in range(7)]
    assert len(of_kind(one(tmp_path), "open")) == 4


def test_checkpoints_come_after_so_many_records(tmp_path: Path) -> None:
    """No sooner."""
    trail = Trail(tmp_path, TrailOptions(**NEVER, checkpoint_records=10))
    write(trail, *[f"e{number}" for number in range(25)])
    trail.close()
    found = [record["kind"] for record in one(tmp_path)]
    at = [number for number, kind in enumerate(found) if kind == "checkpoint"]
    assert len(at) == 3
    assert at[0] in (10, 11)
    assert at[1] - at[0] in (10, 11, 12)


def test_checkpoints_come_after_a_time(tmp_path: Path) -> None:
    """Where something was written since the last one."""
    often = Trail(tmp_path / "often", TrailOptions(sync_ms=0.1, head_ms=0, checkpoint_s=0))
    write(often, "e0", "e1", "e2")
    often.close()
    seldom = Trail(tmp_path / "seldom", TrailOptions(sync_ms=0.1, head_ms=0, checkpoint_s=3_600))
    write(seldom, "e0", "e1", "e2")
    seldom.close()
    assert len(of_kind(one(tmp_path / "often"), "checkpoint")) >= 2
    assert len(of_kind(one(tmp_path / "seldom"), "checkpoint")) == 1


def test_a_quiet_chain_gets_its_head_and_its_checkpoint_and_then_rests(
    tmp_path: Path, disk: Disk
) -> None:
    """Nobody has to write once more for that; and a chain that is sealed is left alone."""
    trail = Trail(tmp_path, TrailOptions(sync_ms=0.1, head_ms=1, checkpoint_s=0.001))
    about = moment("e1")
    trail.write(about, allowed(about), 0)
    path = tmp_path / trail.name
    for _ in range(100_000):
        last = records(path)[-1]
        if last["kind"] == "checkpoint" and head(path)["seq"] == last["seq"]:
            break
        os.sched_yield()
    else:
        pytest.fail("the chain was not sealed")
    trail.close()
    assert [record["kind"] for record in one(tmp_path)] == [
        "segment",
        "open",
        "intent",
        "checkpoint",
    ]
    assert head(path)["closed"] is True


def test_the_head_follows_what_is_on_the_disk_and_is_never_ahead(
    tmp_path: Path, disk: Disk
) -> None:
    """It names a record that was synced; closing says that nothing follows."""
    trail = Trail(tmp_path, TrailOptions(sync_ms=0.1, head_ms=0, checkpoint_s=3_600))
    write(trail, "e0")
    path = tmp_path / trail.name
    for number in range(1, 20):
        write(trail, f"e{number}")
        seen = head(path)
        data = (path / "00000001.jsonl").read_bytes()
        assert seen["offset"] <= disk.has(path / "00000001.jsonl")
        assert data[: seen["offset"]].count(b"\n") == seen["seq"] + 1
        assert seen["seq"] >= records(path)[-1]["seq"] - 2
        assert seen["closed"] is False
    trail.close()
    seen = head(path)
    assert (seen["closed"], seen["offset"]) == (True, (path / "00000001.jsonl").stat().st_size)
    assert json.loads(lines(path)[-1])["hash"] == seen["hash"]


def test_a_chain_that_is_taken_up_again_is_no_longer_closed(tmp_path: Path) -> None:
    """Before anything is added to it."""
    trail = Trail(tmp_path)
    write(trail, "e0")
    trail.close()
    again = Trail(tmp_path, TrailOptions(head_ms=60_000))
    assert head(tmp_path / trail.name)["closed"] is True
    about = moment("e1")
    again.write(about, allowed(about), 0)
    assert head(tmp_path / trail.name)["closed"] is False
    again.close()


def test_a_checkpoint_binds_the_heads_of_all_other_chains(tmp_path: Path) -> None:
    """As they were sealed: whoever takes records from one has to change all that know of it."""
    first, second = Trail(tmp_path, names=lambda: "a" * 16), Trail(tmp_path, names=lambda: "b" * 16)
    third = Trail(tmp_path, TrailOptions(**NEVER, checkpoint_records=3), names=lambda: "c" * 16)
    write(first, "a1", "a2")
    first.close()
    write(second, "b1")
    write(third, "c1", "c2", "c3", "c4")
    second.close()
    write(third, "c5")  # its thread may have bound what came before already
    third.close()
    found = whole(tmp_path)
    bound = of_kind(found["c" * 16], "checkpoint")
    assert {tuple(sorted(record["heads"])) for record in bound} == {("a" * 16, "b" * 16)}
    heads = {name: head(tmp_path / name) for name in found}
    assert bound[0]["heads"]["a" * 16] == [heads["a" * 16]["seq"], heads["a" * 16]["hash"]]
    assert bound[-1]["heads"]["b" * 16] == [heads["b" * 16]["seq"], heads["b" * 16]["hash"]]


@pytest.mark.parametrize("records_between", [1, 40])
def test_rotation_loses_nothing_that_is_written_meanwhile(
    tmp_path: Path, records_between: int
) -> None:
    """Segments change under a writer that does not wait."""
    trail = Trail(tmp_path, TrailOptions(**NEVER, segment_bytes=1_000))
    names = [f"e{number}" for number in range(200)]
    for number, name in enumerate(names):
        about = moment(name)
        mark = trail.write(about, allowed(about), 0)
        if number % records_between == 0:
            trail.sync(mark)
    trail.close()
    assert ids(tmp_path) == names
    assert len(list((tmp_path / trail.name).glob("*.jsonl"))) > 2


def test_a_segment_is_on_the_disk_before_the_next_one_begins(tmp_path: Path, disk: Disk) -> None:
    """Whatever the power does, none is missing behind one that is there."""
    trail = Trail(tmp_path, TrailOptions(**NEVER, segment_bytes=1_000))
    seen = 0
    for number in range(30):
        write(trail, f"e{number}")
        *earlier, _ = sorted((tmp_path / trail.name).glob("*.jsonl"))
        assert [disk.has(path) for path in earlier] == [path.stat().st_size for path in earlier]
        seen = len(earlier)
    trail.close()
    assert seen > 2
