"""A disk without room, for real: no half line stays, refused calls use nothing up, and it recovers
alone."""

from __future__ import annotations

import errno
import os
import resource
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from stanchion import Refused, Shield
from stanchion.audit.chain import Chain
from stanchion.audit.errors import AuditLost
from stanchion.audit.options import Options
from stanchion.audit.trail import Trail
from stanchion.kernel.events import Moment
from stanchion.runtime.deciding.record import LATE
from tests.audit.disks import Disk
from tests.audit.written import AT, allowed, ids, moment, of_kind, one, outcome

POLICY: dict[str, Any] = {
    "name": "full",
    "tools": {"low": {"risk": "low"}, "high": {"risk": "high"}},
    "guards": [{"use": "step_limit", "max_steps": 100, "per": "run", "counter": "steps"}],
}


@contextmanager
def room_for(size: int) -> Iterator[None]:
    """While this lasts, no file of this process gets longer than that: the system itself refuses to
    write."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def segment(folder: Path) -> Path:
    """The only segment of a trail."""
    (found,) = folder.rglob("*.jsonl")
    return found


def write(trail: Trail, name: str) -> int:
    """Write a decision."""
    about = moment(name)
    return trail.write(about, allowed(about), 0)


@pytest.mark.parametrize("more", [0, 1, 100, 300])
def test_no_half_line_stays(tmp_path: Path, more: int) -> None:
    """Where only some of a record fits it is taken back, and the next one follows the last whole
    one."""
    trail = Trail(tmp_path)
    write(trail, "e1")
    size = segment(tmp_path).stat().st_size
    with room_for(size + more):
        with pytest.raises(AuditLost):
            write(trail, "e2")
        assert segment(tmp_path).stat().st_size == size
        assert "the file has reached its size limit" in trail.trouble
    write(trail, "e3")
    trail.probe()
    assert not trail.trouble
    trail.close()
    assert ids(tmp_path) == ["e1", "e3"]


def steps(shield: Shield) -> int:
    """How many steps were counted."""
    (cell,) = [seen for seen in shield.store.look() if "steps" in seen.key]
    return int(cell.number)


def test_refused_calls_use_nothing_up_and_it_recovers_alone(tmp_path: Path) -> None:
    """The first one finds out; from then on nothing is counted until a record can be written
    again."""
    shield = Shield.load(POLICY, journal=Trail(tmp_path))
    ran: list[int] = []
    tool = shield.tool(name="low")(lambda: ran.append(1))
    with shield.run(id="r1") as run:
        run.call(tool)
        with room_for(segment(tmp_path).stat().st_size + 10):
            refused = []
            for _ in range(5):
                with pytest.raises(Refused) as raised:
                    run.call(tool)
                refused.append((raised.value.decision.code, steps(shield)))
            assert {code for code, _ in refused} == {"kernel.audit_lost"}
            assert [counted for _, counted in refused] == [2] * 5
        run.call(tool)
        assert steps(shield) == 3
        assert ran == [1, 1]
    shield.close()
    assert len(of_kind(one(tmp_path), "intent")) == 2


def test_a_result_that_cannot_be_recorded_is_withheld(tmp_path: Path) -> None:
    """The tool has run; but the agent does not get what nobody can know of."""
    shield = Shield.load(POLICY, journal=Trail(tmp_path))
    with shield.run(id="r1") as run:
        decision = run.check("low", {})
        with room_for(segment(tmp_path).stat().st_size):
            answer = run.result("low", {}, "done", call=decision.id)
            assert (answer.code, answer.proceeds) == ("kernel.done_unrecorded", False)
    shield.close()
    (told,) = of_kind(one(tmp_path), "outcome")
    assert (told["call"], told["content"], told["notes"]) == (decision.id, "done", [LATE])


def open_files() -> list[str]:
    """What this process has open, by name."""
    found = []
    for number in os.listdir("/proc/self/fd"):
        with suppress(OSError):  # it was closed meanwhile
            found.append(os.readlink(f"/proc/self/fd/{number}"))
    return found


def test_a_process_that_starts_on_a_full_disk_finds_its_way_when_there_is_room(
    tmp_path: Path,
) -> None:
    """Nothing is left open or lying about by the attempts in between, however many."""
    before = Chain.begin(tmp_path, "a" * 16, None, lambda: AT)
    before.abandon()
    path = segment(tmp_path)
    path.write_bytes(path.read_bytes() + b'{"hash":"torn')
    with room_for(0):
        for _ in range(3):
            with pytest.raises(OSError, match="cannot be opened"):
                Trail(tmp_path)
        assert [file for file in open_files() if file.startswith(str(tmp_path))] == []
    assert sorted(found.name for found in tmp_path.iterdir()) == ["a" * 16]
    trail = Trail(tmp_path)
    write(trail, "e1")
    trail.close()
    assert trail.name == "a" * 16
    assert ids(tmp_path) == ["e1"]


def test_a_head_that_cannot_be_written_costs_no_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The chain is taken up again from the head before; whoever waited for a record was told the
    truth."""
    trail = Trail(tmp_path, Options(head_ms=0, sync_ms=0.1))
    for number in range(5):
        trail.sync(write(trail, f"e{number}"))
    replace, broken, tried = os.replace, [True], threading.Event()

    def fails(source: Any, target: Any) -> None:
        if broken[0]:
            tried.set()
            raise OSError(errno.ENOSPC, "full")
        replace(source, target)

    monkeypatch.setattr(os, "replace", fails)
    told = []
    for number in range(5, 10):
        with suppress(AuditLost):
            trail.sync(write(trail, f"e{number}"))
            told.append(f"e{number}")
    assert tried.wait(60)
    broken[0] = False
    trail.sync(write(trail, "last"))
    trail.close()
    assert {"e0", "e1", "e2", "e3", "e4", *told, "last"} <= set(ids(tmp_path))


class Interrupted:
    """The system's write, interrupted by Ctrl-C right after it is done."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, fails: Callable[[], BaseException]) -> None:
        self._write, self._fails = os.write, fails
        self.next = False
        monkeypatch.setattr(os, "write", self.write)

    def write(self, file: int, data: bytes) -> int:
        done = self._write(file, data)
        if self.next:
            self.next = False
            raise self._fails()
        return done


def test_a_write_that_was_interrupted_breaks_no_chain(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody was told that the record is written, so the next one takes its place."""
    interrupted = Interrupted(monkeypatch, KeyboardInterrupt)
    trail = Trail(tmp_path)
    for number in range(4):
        write(trail, f"e{number}")
        interrupted.next = True
        with pytest.raises(KeyboardInterrupt):
            write(trail, "interrupted")
    trail.sync(write(trail, "last"))
    interrupted.next = True
    with pytest.raises(KeyboardInterrupt):
        write(trail, "interrupted")
    trail.close()
    found = [name for name in ids(tmp_path) if name != "interrupted"]
    assert found == ["e0", "e1", "e2", "e3", "last"]


def test_a_line_that_could_not_be_taken_back_is_taken_back_before_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where even cutting the file fails, nothing is written behind half a line."""
    trail = Trail(tmp_path)
    write(trail, "e1")
    truncate, broken = os.ftruncate, [True]

    def fails(file: int, size: int) -> None:
        if broken[0]:
            raise OSError(5, "broken")
        truncate(file, size)

    monkeypatch.setattr(os, "ftruncate", fails)
    with room_for(segment(tmp_path).stat().st_size + 50), pytest.raises(AuditLost):
        write(trail, "e2")
    with pytest.raises(AuditLost, match="the disk reports an error"):
        write(trail, "e3")
    broken[0] = False
    write(trail, "e4")
    trail.close()
    assert ids(tmp_path) == ["e1", "e4"]


def until_refused(trail: Trail, about: Callable[[int], Moment]) -> list[str]:
    """Write until nothing more is taken; gives the ids of what was."""
    taken: list[str] = []
    while len(taken) < 1_000:
        one_more = about(len(taken))
        try:
            trail.write(one_more, allowed(one_more), 0)
        except AuditLost:
            assert "wait for the disk" in trail.trouble
            return taken
        taken.append(one_more.id)
    raise AssertionError("everything was taken")


def test_a_full_queue_refuses_what_begins_before_what_has_happened_and_drops_nothing(
    tmp_path: Path, disk: Disk
) -> None:
    """Up to the limit everything is taken, up to twice as much what came of actions, and then
    nothing at all."""
    trail = Trail(tmp_path, Options(queue_bytes=20_000, sync_ms=0.1))
    taken: list[str] = []
    synced = write(trail, "e0")
    trail.sync(synced)
    with disk.hangs():
        write(trail, "first")
        disk.wait_until_it_hangs()
        taken += until_refused(trail, lambda number: moment(f"i{number}"))
        at_intents = segment(tmp_path).stat().st_size
        taken += until_refused(trail, lambda number: outcome(f"o{number}", "e0"))
        at_outcomes = segment(tmp_path).stat().st_size
        with pytest.raises(AuditLost):
            write(trail, "more")
        assert segment(tmp_path).stat().st_size == at_outcomes
    assert 20_000 < at_intents < 23_000
    assert 40_000 < at_outcomes < 43_000
    trail.sync(synced + len(taken))
    trail.probe()
    assert not trail.trouble
    write(trail, "last")
    trail.close()
    assert [name for name in ids(tmp_path) if name[0] in "io"] == taken
    assert any(name.startswith("o") for name in taken)


def test_an_outcome_is_taken_while_calls_are_refused(tmp_path: Path, disk: Disk) -> None:
    """Through a shield: a call that had begun before the queue was full still gets its result,
    recorded."""
    trail = Trail(tmp_path, Options(queue_bytes=4_000, sync_ms=0.1))
    shield = Shield.load(POLICY, journal=trail)
    with shield.run(id="r1") as run:
        first = run.check("low", {})
        trail.sync(write(trail, "synced"))
        with disk.hangs():
            write(trail, "waits")
            disk.wait_until_it_hangs()
            while run.check("low", {}).proceeds:
                pass
            counted = steps(shield)
            assert run.check("low", {}).code == "kernel.audit_lost"
            assert steps(shield) == counted
            assert run.result("low", {}, "done", call=first.id).proceeds
    shield.close()
    assert [record["call"] for record in of_kind(one(tmp_path), "outcome")] == [first.id]
