"""Locks: fair, never in a circle, and gone with whoever held them."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from stanchion import Refused, Shield
from stanchion.audit.journal import MemoryJournal
from stanchion.kernel.state import Batch, Reply
from stanchion.ops.views.stored import RecordCell, cells
from stanchion.runtime.run import Run
from stanchion.stores.memory import MemoryStore, wall_ms
from stanchion.stores.sqlite import SqliteStore
from stanchion.testing import FakeClock, shield_for
from tests.guards.locks.driven import policy, read, write

ROOT = Path(__file__).resolve().parents[3]


def lines(shield: Shield, *names: str) -> list[Run]:
    """Runs of these names."""
    return [shield.run(name, id=name) for name in names]


def test_who_comes_first_goes_first_and_a_writer_is_not_starved_by_readers() -> None:
    ann, bob, eve, tim = lines(
        Shield.load(policy(lock_reads=True), clock=FakeClock()), "ann", "bob", "eve", "tim"
    )
    assert read(ann, "a").went == "goes"
    writer = write(bob, "a")
    assert writer.went == "waits"
    reader = read(eve, "a")
    assert reader.went == "waits", "whoever reads does not overtake whoever waits to write"
    assert read(eve, "b").went == "goes", "what nobody waits for is free"
    last = write(tim, "a")
    ann.handoff_done("somebody")
    assert [last.go_on(), reader.go_on(), writer.go_on()] == ["waits", "waits", "goes"]
    assert [last.go_on(), reader.go_on()] == ["waits", "waits"]
    bob.handoff_done("somebody")
    assert [last.go_on(), reader.go_on()] == ["waits", "goes"]
    eve.handoff_done("somebody")
    assert last.go_on() == "goes"


def test_a_call_gets_everything_or_nothing() -> None:
    ann, bob, eve = lines(Shield.load(policy(), clock=FakeClock()), "ann", "bob", "eve")
    assert write(ann, "a").went == "goes"
    both = write(bob, "a", "b")
    assert both.went == "waits"
    assert write(eve, "b").went == "waits", (
        "it came later, and whoever waits for both is not overtaken"
    )
    assert write(ann, "b").went == "locks.deadlock", "bob waits for ann, and would go first"


def test_a_circle_of_three_is_refused_and_the_others_go_on() -> None:
    ann, bob, eve = lines(Shield.load(policy(), clock=FakeClock()), "ann", "bob", "eve")
    for run, name in ((ann, "a"), (bob, "b"), (eve, "c")):
        assert write(run, name).went == "goes"
    first, second = write(ann, "b"), write(bob, "c")
    assert (first.went, second.went) == ("waits", "waits")
    third = write(eve, "a")
    assert third.went == "locks.deadlock"
    assert third.decision is not None
    assert "agent `ann`" in third.decision.message
    eve.handoff_done("somebody")
    assert second.go_on() == "goes"
    bob.handoff_done("somebody")
    assert first.go_on() == "goes"


def test_of_two_who_read_and_want_to_write_the_second_is_refused() -> None:
    ann, bob, eve = lines(
        Shield.load(policy(lock_reads=True), clock=FakeClock()), "ann", "bob", "eve"
    )
    assert read(ann, "a").went == "goes"
    assert read(bob, "a").went == "goes"
    waits = write(eve, "a")
    upgrade = write(ann, "a")
    assert (waits.went, upgrade.went) == ("waits", "waits")
    assert write(bob, "a").went == "locks.deadlock"
    bob.handoff_done("somebody")
    assert upgrade.go_on() == "goes", "it goes before whoever waits for it to end"
    assert waits.go_on() == "waits"


def test_what_a_run_has_locked_is_open_to_those_who_work_for_it() -> None:
    shield = Shield.load(policy(timeout_s=0), clock=FakeClock())
    ann, bob = lines(shield, "ann", "bob")
    assert write(ann, "a").went == "goes"
    kid, other = ann.spawn("kid"), ann.spawn("other")
    assert write(kid, "a").went == "goes"
    assert write(other, "a").went == "locks.held", "not to both at once"
    kid.close()
    assert write(other, "a").went == "goes"
    other.close()
    assert write(bob, "a").went == "locks.held", "it is still their parent's"


def test_locks_end_with_their_run() -> None:
    shield = Shield.load(policy(timeout_s=0), clock=FakeClock())
    with shield.run("ann") as ann:
        assert ann.check("write_file", {"path": "a"}).proceeds
        assert shield.run("bob").check("write_file", {"path": "a"}).code == "locks.held"
    assert shield.run("bob").check("write_file", {"path": "a"}).proceeds


def test_a_run_that_is_halted_keeps_nothing_locked() -> None:
    halting = {
        "use": "rule",
        "id": "stop",
        "when": "event.tool == 'stop'",
        "action": "halt",
        "priority": 90,
    }
    rules = policy(timeout_s=0)
    shield = Shield.load({**rules, "guards": [*rules["guards"], halting]}, clock=FakeClock())
    ann, bob = lines(shield, "ann", "bob")
    assert ann.check("write_file", {"path": "a"}).proceeds
    ann.check("stop", {})
    bob.check("look", {})
    assert bob.check("write_file", {"path": "a"}).proceeds


def test_what_is_still_at_work_when_its_run_is_closed_stays_locked() -> None:
    clock = FakeClock()
    shield = Shield.load(policy(timeout_s=0), clock=clock)
    ann, bob = lines(shield, "ann", "bob")
    seen = []

    def write_file(path: str) -> None:
        ann.close()
        seen.append(bob.check("write_file", {"path": path}).code)

    with pytest.raises(Refused):
        ann.call(write_file, path="a")
    assert seen == ["locks.held"]
    clock.advance(60_000)
    assert bob.check("write_file", {"path": "a"}).proceeds


def test_what_a_killed_process_has_locked_ends_by_itself(tmp_path: Path) -> None:
    """By the store's clock, which every process reads: here one that is ahead by so much."""
    place = tmp_path / "state.db"
    killed = subprocess.Popen(
        [sys.executable, "-m", "tests.guards.locks.holder", str(place)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert killed.stdout is not None
    try:
        assert killed.stdout.readline() == "locked\n"
    finally:
        killed.kill()
        killed.wait()
        killed.stdout.close()
    ahead_ms = [0]
    store = SqliteStore(place, lambda: wall_ms() + ahead_ms[0])
    shield = Shield.load(policy(timeout_s=0), store=store, clock=lambda: wall_ms() + ahead_ms[0])
    run = shield.run("next")
    refused = run.check("write_file", {"path": "a"})
    assert (refused.code, "agent `dies`" in refused.message) == ("locks.held", True)
    ahead_ms[0] = 60_000
    assert run.check("write_file", {"path": "a"}).proceeds
    shield.close()


class Counting(MemoryStore):
    """A memory store that counts its trips."""

    trips = 0

    def carry(self, batch: Batch) -> Reply:
        """Carry a batch out."""
        self.trips += 1
        return super().carry(batch)


def test_locks_cost_one_trip_before_a_call_and_one_after() -> None:
    clock = FakeClock()
    store = Counting(clock)
    run = Shield.load(policy(), store=store, clock=clock).run("ann")

    def write_file(path: str) -> None:
        assert path

    run.call(write_file, path="a")
    before = store.trips
    run.call(write_file, path="b")
    assert store.trips - before == 2


def test_a_run_locks_and_releases_by_hand() -> None:
    shield = Shield.load(policy(timeout_s=0), clock=FakeClock())
    ann, bob = lines(shield, "ann", "bob")
    ann.lock("src/**")
    ann.lock(resource="release")
    bob.lock("docs/a.md", shared=True)
    with pytest.raises(Refused, match=r"`src/\*\*` is locked by agent `ann`"):
        bob.lock("src/a.py")
    with pytest.raises(Refused, match="`release` is locked by agent `ann`"):
        bob.lock(resource="release")
    ann.unlock("src/**")
    ann.unlock(resource="release")
    bob.lock("src/a.py")
    bob.lock(resource="release")
    ann.lock("docs/a.md", shared=True)
    bob.unlock("docs/a.md")
    ann.lock("docs/a.md")


def test_async_runs_lock_by_hand_too() -> None:
    shield = Shield.load(policy(timeout_s=0), clock=FakeClock())
    ann, bob = lines(shield, "ann", "bob")

    async def work() -> None:
        await ann.alock("a")
        with pytest.raises(Refused):
            await bob.alock("a", shared=True)
        await ann.aunlock("a")
        await bob.alock("a", shared=True)

    asyncio.run(work())


def test_nothing_to_lock_and_nobody_to_lock_it_are_errors() -> None:
    run = Shield.load(policy()).run("ann")
    for path, resource in (("", ""), ("a", "b")):
        with pytest.raises(ValueError, match="either a path or a resource"):
            run.lock(path, resource=resource)
    with pytest.raises(ValueError, match="the policy has no guard `locks`"):
        Shield.load({"name": "none", "guards": []}).run("ann").lock("a")


def test_an_operator_breaks_a_lock_and_that_is_recorded() -> None:
    clock = FakeClock()
    journal = MemoryJournal()
    shield = shield_for(policy(), clock=clock, journal=journal)
    ann, bob = lines(shield, "ann", "bob")
    assert write(ann, "a", "b").went == "goes"
    waits = write(bob, "a")
    assert waits.went == "waits"
    assert shield.break_lock("a", why="ann is stuck", by="eve")
    assert not shield.break_lock("a", by="eve"), "nobody has locked it any more"
    assert waits.go_on() == "goes"
    assert write(bob, "b").went == "waits", "what was not broken is still locked"
    facts = [(one.what, one.about, one.by, one.why, one.data["runs"]) for one in journal.facts()]
    assert facts == [("lock.broken", "lock:a", "eve", "ann is stuck", ["ann"])]


def test_people_see_what_is_locked() -> None:
    clock = FakeClock()
    store = MemoryStore(clock)
    ann, bob = lines(Shield.load(policy(lock_reads=True), store=store, clock=clock), "ann", "bob")
    assert write(ann, "a").went == "goes"
    assert read(bob, "b").went == "goes"
    assert write(bob, "a").went == "waits"
    (cell,) = cells(store, "locks", clock())
    assert isinstance(cell, RecordCell)
    assert cell.says.startswith("2 locked, 1 waiting: a by ann until ")
    assert "; b by bob, shared, until " in cell.says


def test_where_nobody_may_wait_nobody_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stanchion.guards.locks.guard.MOST_WAITING", 0)
    ann, bob = lines(Shield.load(policy(), clock=FakeClock()), "ann", "bob")
    assert [write(run, "a").went for run in (ann, bob)] == ["goes", "locks.held"]


def test_a_long_name_locks_the_folder_that_it_is_in() -> None:
    ann, bob = lines(Shield.load(policy(timeout_s=0), clock=FakeClock()), "ann", "bob")
    long = "/".join(["x" * 90] * 4)
    assert write(ann, f"{long}/a").went == "goes"
    assert write(bob, f"{long}/b").went == "locks.held"
    assert write(bob, "y").went == "goes"


@pytest.mark.parametrize("action", ["block", "escalate"])
def test_a_call_that_another_guard_refuses_leaves_the_line(action: str) -> None:
    """It would have had to wait for the lock, and is not going to: whoever comes behind it does not
    wait for it."""
    never = {"use": "tool_denylist", "tools": ["move_file"], "action": action, "priority": 99}
    said = policy()
    ann, bob, eve = lines(
        Shield.load({**said, "guards": [*said["guards"], never]}, clock=FakeClock()),
        "ann",
        "bob",
        "eve",
    )
    assert write(ann, "a").went == "goes"
    assert not bob.check("move_file", {"path": "a"}).proceeds
    ann.handoff_done("somebody")
    assert write(eve, "a").went == "goes"
