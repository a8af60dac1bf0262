"""Retention: whole segments leave, oldest first, and what remains can still be verified."""

from __future__ import annotations

import os
from contextlib import nullcontext
from pathlib import Path

import pytest

from stanchion.audit import notes
from stanchion.audit.apart import encode
from stanchion.audit.chain import OpenChain
from stanchion.audit.options import TrailOptions
from stanchion.audit.record import entry_of
from stanchion.audit.retention import DAY_MS, Keep, retire
from stanchion.audit.trail import Trail
from stanchion.audit.verify import verify
from stanchion.testing.clock import FakeClock
from tests.audit.written import allowed, moment, of_kind, records

MINE, IDLE, OTHER = "a" * 16, "b" * 16, "c" * 16


def append(chain: OpenChain, name: str) -> None:
    """Write a decision."""
    about = moment(name)
    parts = encode(entry_of(about, allowed(about), chain.seq, chain.head, chain.id))
    chain.append(parts.body, kept=parts.kept)


def chain_of(
    trail: Path, name: str, clock: FakeClock, segments: int = 4, bypass: int = 0
) -> OpenChain:
    """A chain of so many segments, one a day; the one with the number `bypass` holds one."""
    chain = OpenChain.begin(trail, name, None, clock)
    for number in range(1, segments + 1):
        append(chain, f"{name[0]}{number}")
        if number == bypass:
            chain.note(notes.TrailNote, notes.BYPASS)
        if number < segments:
            chain.rotate({})
            clock.advance(DAY_MS)
    return chain


def numbers(trail: Path, name: str) -> list[int]:
    """The segments of a chain that are there."""
    return sorted(int(path.stem) for path in (trail / name).glob("*.jsonl"))


def sealed(chain: OpenChain) -> OpenChain:
    """The chain with everything of it on the disk."""
    chain.sync()
    chain.seal(chain.position())
    return chain


def retired(trail: Path, name: str) -> list[int]:
    """The segments that a chain says were removed."""
    found = of_kind(records(trail / name), "retired")
    return [segment[0] for record in found for segment in record["segments"]]


def test_segments_older_than_so_many_days_leave(tmp_path: Path) -> None:
    """By the time of their last record; the newest segment always stays."""
    clock = FakeClock()
    chain = chain_of(tmp_path, MINE, clock)
    assert retire(tmp_path, chain, Keep(days=1.5), clock(), nullcontext()) == 2
    assert numbers(tmp_path, MINE) == [3, 4]
    assert retired(tmp_path, MINE) == [1, 2]
    assert of_kind(records(tmp_path / MINE), "retired")[0]["why"] == "older than 1.5 days"
    sealed(chain).close({})
    assert verify(tmp_path).faults == ()
    assert verify(tmp_path).chains[0].retired > 0


def test_the_oldest_of_too_many_bytes_leave(tmp_path: Path) -> None:
    """Until the closed segments that remain have no more than that."""
    clock = FakeClock()
    chain = chain_of(tmp_path, MINE, clock, segments=6)
    sizes = {
        number: (tmp_path / MINE / f"{number:08d}.jsonl").stat().st_size
        for number in numbers(tmp_path, MINE)
    }
    assert retire(tmp_path, chain, Keep(size=sizes[4] + sizes[5]), clock(), nullcontext()) == 3
    assert numbers(tmp_path, MINE) == [4, 5, 6]
    assert retire(tmp_path, chain, Keep(size=sizes[4] + sizes[5] - 1), clock(), nullcontext()) == 1
    assert numbers(tmp_path, MINE) == [5, 6]
    assert retire(tmp_path, chain, Keep(size=sizes[4] + sizes[5]), clock(), nullcontext()) == 0
    sealed(chain).close({})
    assert verify(tmp_path).faults == ()


def test_nothing_leaves_where_nothing_is_said(tmp_path: Path) -> None:
    """Everything is kept by default, also by a trail that rotates."""
    trail = Trail(tmp_path, TrailOptions(segment_bytes=1_000, sync_ms=0.1))
    for number in range(20):
        about = moment(f"e{number}")
        trail.sync(trail.write(about, allowed(about), 0))
    trail.close()
    assert numbers(tmp_path, trail.name)[0] == 1
    assert not Keep()


def test_a_segment_that_holds_a_bypass_stays_for_good(tmp_path: Path) -> None:
    """What a person let pass is never forgotten; those around it leave, and the rest can be
    verified."""
    clock = FakeClock()
    chain = chain_of(tmp_path, MINE, clock, segments=5, bypass=2)
    assert retire(tmp_path, chain, Keep(days=0.1), clock.advance(30 * DAY_MS), nullcontext()) == 3
    assert numbers(tmp_path, MINE) == [2, 5]
    sealed(chain).close({})
    assert verify(tmp_path).faults == ()


def test_segments_of_a_process_that_is_gone_leave_too_and_those_of_a_running_one_do_not(
    tmp_path: Path,
) -> None:
    """Each chain says itself what was removed from it."""
    clock = FakeClock()
    idle = chain_of(tmp_path, IDLE, clock)
    sealed(idle).abandon()
    running = sealed(chain_of(tmp_path, OTHER, clock))
    mine = chain_of(tmp_path, MINE, clock)
    assert retire(tmp_path, mine, Keep(days=0.5), clock.advance(30 * DAY_MS), nullcontext()) == 6
    assert (numbers(tmp_path, MINE), numbers(tmp_path, IDLE)) == ([4], [4])
    assert numbers(tmp_path, OTHER) == [1, 2, 3, 4]
    assert (retired(tmp_path, IDLE), retired(tmp_path, MINE)) == ([1, 2, 3], [1, 2, 3])
    append(running, "goes on")
    sealed(running).close({})
    sealed(mine).close({})
    assert verify(tmp_path).faults == ()
    again = OpenChain.resume(tmp_path, IDLE, None, clock)
    assert again is not None
    again.abandon()


def test_what_a_crash_left_in_a_chain_is_cut_and_said_before_segments_leave(tmp_path: Path) -> None:
    """Whoever goes on with a chain says what was cut off, retention as well."""
    clock = FakeClock()
    sealed(chain_of(tmp_path, IDLE, clock)).abandon()
    last = tmp_path / IDLE / "00000004.jsonl"
    last.write_bytes(last.read_bytes().rstrip(b"\0") + b'{"hash":"torn')
    mine = chain_of(tmp_path, MINE, clock)
    assert retire(tmp_path, mine, Keep(days=0.5), clock.advance(30 * DAY_MS), nullcontext()) == 6
    found = records(tmp_path / IDLE)
    assert [record.get("cut") for record in of_kind(found, "open")] == [13]
    sealed(mine).close({})
    assert verify(tmp_path).faults == ()


def test_damage_is_evidence_and_stays(tmp_path: Path) -> None:
    """A chain that is not as its writer left it loses nothing more."""
    clock = FakeClock()
    sealed(chain_of(tmp_path, IDLE, clock)).abandon()
    sealed(chain_of(tmp_path, OTHER, clock)).abandon()
    (tmp_path / IDLE / "head").unlink()
    damaged = tmp_path / OTHER / "00000002.jsonl"
    damaged.write_bytes(
        damaged.read_bytes().replace(b'"kind":"checkpoint"', b'"kind":"checkpaint"')
    )
    mine = chain_of(tmp_path, MINE, clock, segments=1)
    retire(tmp_path, mine, Keep(days=0.5), clock.advance(30 * DAY_MS), nullcontext())
    assert numbers(tmp_path, IDLE) == [1, 2, 3, 4]
    assert 2 in numbers(tmp_path, OTHER)
    mine.abandon()


def test_a_segment_that_leaves_meanwhile_disturbs_nobody(tmp_path: Path) -> None:
    """Another process may be at the same; and there may be chains that this one may not read."""
    clock = FakeClock()
    sealed(chain_of(tmp_path, IDLE, clock)).abandon()
    (tmp_path / IDLE / "00000001.jsonl").unlink()
    (tmp_path / IDLE / "00000001.jsonl").symlink_to("gone")
    (tmp_path / OTHER).write_text("no folder")
    mine = chain_of(tmp_path, MINE, clock)
    assert retire(tmp_path, mine, Keep(days=0.5), clock.advance(30 * DAY_MS), nullcontext()) == 5
    mine.abandon()


def test_a_segment_that_cannot_be_removed_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The chain is whole in between: one that it calls retired may still be there."""
    clock = FakeClock()
    chain = chain_of(tmp_path, MINE, clock)
    unlink, busy = os.unlink, [True]

    def refuses(path: Path) -> None:
        if busy[0] and path.name == "00000002.jsonl":
            raise PermissionError(1, "busy")
        unlink(path)

    monkeypatch.setattr(os, "unlink", refuses)
    assert retire(tmp_path, chain, Keep(days=0.5), clock.advance(30 * DAY_MS), nullcontext()) == 2
    sealed(chain)
    assert numbers(tmp_path, MINE) == [2, 4]
    assert verify(tmp_path).faults == ()
    busy[0] = False
    assert retire(tmp_path, chain, Keep(days=0.5), clock(), nullcontext()) == 1
    sealed(chain).close({})
    assert numbers(tmp_path, MINE) == [4]
    assert verify(tmp_path).faults == ()


@pytest.mark.parametrize("keep", [Keep(days=2.5), Keep(size=3_000)])
def test_a_trail_sees_to_it_whenever_a_segment_is_full(tmp_path: Path, keep: Keep) -> None:
    """Several processes' chains among them; what is left of all of them verifies."""
    clock = FakeClock()
    for turn in range(3):
        beside = Trail(tmp_path, TrailOptions(segment_bytes=600, sync_ms=0.1, keep=keep), clock)
        trail = Trail(tmp_path, TrailOptions(segment_bytes=600, sync_ms=0.1, keep=keep), clock)
        for number in range(12):
            for one in (trail, beside):
                about = moment(f"{turn}.{number}")
                one.sync(one.write(about, allowed(about), 0))
            clock.advance(DAY_MS)
        trail.close()
        beside.close()
        assert verify(tmp_path).faults == ()
    names = sorted(path.name for path in tmp_path.iterdir())
    assert len(names) == 2
    assert all(numbers(tmp_path, name)[0] > 10 for name in names)


def test_a_quiet_trail_lets_go_of_what_is_old_too(tmp_path: Path) -> None:
    """A segment that never gets full is ended when its time is over, and leaves with the next
    retention."""
    clock = FakeClock()
    for day in range(4):
        trail = Trail(tmp_path, TrailOptions(keep=Keep(days=1)), clock, lambda: MINE)
        about = moment(f"day {day}")
        trail.write(about, allowed(about), 0)
        trail.close()
        clock.advance(2 * DAY_MS)
    assert numbers(tmp_path, MINE)[0] > 1
    assert verify(tmp_path).faults == ()
    assert not any(b"day 0" in path.read_bytes() for path in tmp_path.rglob("*.jsonl"))
