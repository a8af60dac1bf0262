"""What a shield knows of its store's epoch: asked for once a minute, remembered by the host where
it can be."""

from __future__ import annotations

import fcntl
import os
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

from stanchion import Shield
from stanchion.kernel.epoch import first_of
from stanchion.kernel.gates import standing_key
from stanchion.kernel.state import EPOCH, Batch, Records, Reply, StoreLost
from stanchion.runtime.driving.sync import drive
from stanchion.runtime.standing import epoch_memory
from stanchion.runtime.standing.epoch_memory import (
    MOST_STATES,
    RememberedStore,
    changed,
    recall,
    remember_as,
)
from stanchion.stores.sqlite import SqliteStore
from stanchion.testing import FakeClock, shield_for
from tests.operators import ANN, KNOWN

BARE = {"name": "bare"}


class Counting(SqliteStore):
    """A file that counts its batches, and is out of reach while `lost`."""

    batches = 0
    lost = False

    def carry(self, batch: Batch) -> Reply:
        self.batches += 1
        if self.lost:
            raise StoreLost("drill")
        return super().carry(batch)


def test_the_mark_costs_one_trip_a_minute(tmp_path: Path) -> None:
    clock = FakeClock()
    store = Counting(tmp_path / "state.db", clock)
    with shield_for(BARE, store=store, clock=clock) as shield:
        run = shield.run("ann")
        run.check("t", {})
        assert store.batches == 3, "asked for, made, and the decision's own"
        number = shield.records[EPOCH][0]
        for trips, waited in ((1, 58_000), (2, 2_000), (1, 1_001)):
            before = store.batches
            clock.advance(waited)
            run.check("t", {})
            assert store.batches - before == trips
        assert shield.records[EPOCH][0] == number + 1


def test_an_epoch_that_cannot_be_asked_for_is_asked_for_a_second_later(tmp_path: Path) -> None:
    clock = FakeClock()
    store = Counting(tmp_path / "state.db", clock)
    with shield_for(BARE, store=store, clock=clock) as shield:
        run = shield.run("ann")
        store.lost = True
        assert not run.check("t", {}).proceeds
        assert store.batches == 2
        assert not run.check("t", {}).proceeds
        assert store.batches == 3
        store.lost = False
        clock.advance(1_000)
        assert run.check("t", {}).proceeds
        assert EPOCH in shield.records


def test_the_host_remembers_one_mark_less_than_the_store_has(tmp_path: Path) -> None:
    """What the store loses with the power of the host must not be held against it, unless it is a
    state."""
    path = tmp_path / "state.db"
    with Shield.load(BARE, store=path) as first:
        first.run("ann").check("t", {})
        made = first.records[EPOCH][0]
    with Shield.load(BARE, store=path) as second:
        assert second.records[EPOCH][0] == first_of(made)
        assert second.run("ann").check("t", {}).proceeds
        second.halt("drill")
        assert second.records[EPOCH][0] == made + 1
    with Shield.load(BARE, store=path) as third:
        assert third.records[EPOCH][0] == made + 1
        assert third.run("ann").check("t", {}).code == "kernel.halted"
        assert third.records[EPOCH][0] == made + 2
    with Shield.load(BARE, store=path) as fourth:
        assert fourth.records[EPOCH][0] == made + 1


def test_the_mark_is_raised_after_the_change_whatever_others_raised_before_it(
    tmp_path: Path,
) -> None:
    path = tmp_path / "state.db"
    with Shield.load(BARE, store=path) as one, Shield.load(BARE, store=path) as other:
        one.run("ann").check("t", {})
        other.run("ann").check("t", {})
        one.halt("drill", scope="tool:a")
        number = one.records[EPOCH][0]
        other.halt("drill", scope="tool:b")
        assert (other.records[EPOCH][0], other.store.read(EPOCH)[0]) == (number + 1, number + 1)


def test_a_change_that_could_not_be_marked_is_marked_with_the_next_check(tmp_path: Path) -> None:
    clock = FakeClock()
    store = Counting(tmp_path / "state.db", clock)
    with shield_for(BARE, store=store, clock=clock) as shield:
        assert shield.memory is not None
        shield.memory.keep_in(tmp_path / "epochs")
        run = shield.run("ann")
        run.check("t", {})
        store.lost = True
        drive(shield.memory.changed(clock()), shield)
        store.lost = False
        clock.advance(1_000)
        run.check("t", {})
        number = shield.records[EPOCH][0]
    (file,) = (tmp_path / "epochs").iterdir()
    assert msgspec.json.decode(file.read_bytes(), type=RememberedStore).number == number


def test_states_are_remembered_while_something_is_refused_in_them(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    fleet, tenant = standing_key("*"), standing_key("default")
    with (
        Shield.load(BARE, store=path, operators=[KNOWN]) as one,
        Shield.load(BARE, store=path) as stale,
    ):
        one.halt("drill", scope="fleet")
        one.resume(scope="fleet", by=ANN)
        stale.run("ann").check("t", {})
        assert stale.records[fleet][0] == 2
        one.halt("drill", scope="fleet")
        one.quarantine("tool:t")
        # Who knows less of the states than the host does takes nothing away.
        drive(changed(stale.memory, stale.clock()), stale)
        with Shield.load(BARE, store=path, operators=[KNOWN]) as two:
            assert {fleet, tenant} <= two.records.keys()
            two.resume(scope="fleet", by=ANN)
        with Shield.load(BARE, store=path) as three:
            assert (fleet in three.records, tenant in three.records) == (False, True)


def test_the_states_of_so_many_tenants_are_remembered_and_always_the_fleets(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    halted = {"own": {"state": "halt"}}
    states: Records = {standing_key("*"): (1, halted)}
    states |= {standing_key(f"t{number}"): (1, halted) for number in range(MOST_STATES)}
    remember_as(file, RememberedStore("p", 5, 0, states), {}, last=False)
    known = recall(file, "p")
    assert known is not None
    assert known.states.keys() == states.keys() - {standing_key("t0")}


def test_a_host_that_cannot_remember_goes_on(tmp_path: Path) -> None:
    """A file where the folder should be, and a memory that nobody can read."""
    state = Path(os.environ["STANCHION_STATE_DIR"])
    state.mkdir(parents=True)
    (state / "epochs").write_text("no folder")
    with Shield.load(BARE, store=tmp_path / "one.db") as shield:
        assert shield.run("ann").check("t", {}).proceeds
    (state / "epochs").unlink()
    with Shield.load(BARE, store=tmp_path / "two.db") as shield:
        assert shield.run("ann").check("t", {}).proceeds
    (memory,) = (state / "epochs").iterdir()
    memory.write_text("{")
    with Shield.load(BARE, store=tmp_path / "two.db") as shield:
        assert shield.run("ann").check("t", {}).proceeds


class Held:
    """The folder, as another process has it while it remembers something; `waited` is set when
    somebody has asked for it a hundred times."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.waited, self.asked = threading.Event(), 0
        self._lock = os.open(folder, os.O_RDONLY)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        monkeypatch.setattr(
            epoch_memory, "time", SimpleNamespace(monotonic=time.monotonic, sleep=self._sleep)
        )

    def _sleep(self, _seconds: float) -> None:
        self.asked += 1
        if self.asked == 100:
            self.waited.set()
        time.sleep(0.0001)

    def let_go(self) -> None:
        os.close(self._lock)


def test_a_halt_waits_for_what_others_remember(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, place = tmp_path / "m.json", "p"
    halted: Records = {standing_key("a"): (1, {})}
    other: Records = {standing_key("b"): (1, {})}
    held = Held(tmp_path, monkeypatch)

    def remember() -> None:
        remember_as(file, RememberedStore(place, 1, 1, halted), {}, last=True)
        held.waited.set()

    remembering = threading.Thread(target=remember)
    remembering.start()
    assert held.waited.wait(60)
    # It read what there was before anybody else wrote, and writes what it made of that.
    file.write_bytes(msgspec.json.encode(RememberedStore(place, 1, 1, other)))
    held.let_go()
    remembering.join()
    known = recall(file, place)
    assert known is not None
    assert known.states.keys() == {*halted, *other}


def test_a_mark_that_does_not_get_its_turn_leaves_the_folder_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "m.json"
    monkeypatch.setattr(epoch_memory, "SOON_S", 0.0)
    held = Held(tmp_path, monkeypatch)
    remember_as(file, RememberedStore("p", 1, 1), {}, last=False)
    assert not file.exists()
    held.let_go()
    remember_as(file, RememberedStore("p", 1, 1), {}, last=False)
    assert recall(file, "p") == RememberedStore("p", 1, 1)
