"""A false alarm has a way out: allowed always or once, by its fingerprint, without a restart."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from stanchion import Action, Shield
from stanchion.audit.rebuilt import inputs_of, moment_of, run_of
from stanchion.guards.secrets.told import fingerprint
from stanchion.kernel.replay import replay
from stanchion.runtime.operating.allowances import MOST, Allowances
from stanchion.stores.memory import MemoryStore
from stanchion.stores.sqlite import SqliteStore
from stanchion.testing import FakeClock, shield_for
from tests.operators import ANN, KNOWN

KEY = "AKIAQ3EGRXYZ5ABCD7WQ"
OTHER = "AKIAZ7MMWXYZ5ABCD2KQ"
CALLED = fingerprint("aws-access-token", KEY)
POLICY: dict[str, Any] = {"name": "p", "guards": [{"use": "secrets", "action": "block"}]}


def two() -> tuple[Shield, Shield]:
    """Two shields on one store."""
    clock = FakeClock()
    store = MemoryStore(clock)
    return shield_for(POLICY, clock=clock, store=store), shield_for(
        POLICY, clock=clock, store=store
    )


def test_what_is_allowed_passes_at_once_everywhere_and_nothing_else_does() -> None:
    here, there = two()
    run = there.run("a")
    assert run.check("t", {"k": KEY}).action == Action.BLOCK
    Allowances(here).allow(CALLED, by="ann", why="a key of the docs")
    assert run.check("t", {"k": KEY}).proceeds
    assert run.check("t", {"k": KEY}).proceeds
    assert run.check("t", {"k": OTHER}).action == Action.BLOCK
    mixed = run.check("t", {"k": KEY, "o": OTHER})
    assert mixed.action == Action.BLOCK
    assert mixed.determining is not None
    assert mixed.determining.detail == f"fingerprint {fingerprint('aws-access-token', OTHER)}"
    assert fingerprint("aws-access-token", OTHER) not in f"{mixed.message} {mixed.advice}"
    assert there.run("a", tenant="another").check("t", {"k": KEY}).action == Action.BLOCK
    assert Allowances(there).forget(CALLED)
    assert not Allowances(there).forget(CALLED)
    assert run.check("t", {"k": KEY}).action == Action.BLOCK


def test_an_allowance_for_one_tool_is_for_that_tool() -> None:
    shield, _ = two()
    Allowances(shield).allow(CALLED, tool="send")
    assert shield.run("a").check("send", {"k": KEY}).proceeds
    assert not shield.run("a").check("post", {"k": KEY}).proceeds


def test_once_is_once() -> None:
    here, there = two()
    Allowances(here).allow(CALLED, once=True)
    assert there.run("a").check("t", {"k": KEY}).proceeds
    assert not here.run("a").check("t", {"k": KEY}).proceeds
    assert Allowances(here).listed() == []


def test_once_is_once_under_threads(tmp_path: Path) -> None:
    store = SqliteStore(str(tmp_path / "state.db"), FakeClock())
    shields = [shield_for(POLICY, store=store, operators=[KNOWN]) for _ in range(4)]
    Allowances(shields[0]).allow(CALLED, once=True, by=ANN)
    barrier = threading.Barrier(4)

    def check(shield: Shield) -> bool:
        run = shield.run("a")
        barrier.wait(30)
        return run.check("t", {"k": KEY}).proceeds

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(check, shields)) == 1
    for shield in shields:
        shield.close()


def test_an_action_that_does_not_start_leaves_the_allowance_for_when_it_does() -> None:
    """Another guard refuses the call, and queues it: when it is judged again it still may."""
    clock = FakeClock()
    policy = {**POLICY, "guards": [*POLICY["guards"], {"use": "tool_denylist", "tools": ["t"]}]}
    store = MemoryStore(clock)
    refusing = shield_for(policy, clock=clock, store=store)
    Allowances(refusing).allow(CALLED, once=True)
    assert refusing.run("a").check("t", {"k": KEY}).code == "tool.denied"
    assert shield_for(POLICY, clock=clock, store=store).run("a").check("t", {"k": KEY}).proceeds


def test_a_redacting_guard_leaves_what_is_allowed_as_it_is() -> None:
    shield = shield_for({"name": "p", "guards": [{"use": "secrets"}]})
    Allowances(shield).allow(CALLED)
    decision = shield.run("a").check("t", {"k": KEY, "o": OTHER})
    assert decision.patched({"k": KEY, "o": OTHER}) == {
        "k": KEY,
        "o": "[redacted:aws-access-token]",
    }


def test_a_decision_made_with_an_allowance_is_made_again_from_its_record() -> None:
    shield, _ = two()
    Allowances(shield).allow(CALLED, once=True)
    made = shield.run("a").check("t", {"k": KEY})
    entry = shield.journal.kept()[-1].read()
    assert entry.beside == {"cleared": [CALLED]}
    run = run_of(entry)
    again = replay(shield.policy, run, moment_of(entry, run), inputs_of(entry))
    assert (again.action, again.findings) == (made.action, made.findings)


def test_changes_are_in_the_trail_and_the_list_says_who_and_why() -> None:
    shield, _ = two()
    kept = Allowances(shield)
    kept.allow(CALLED, once=True, tool="send", why="docs", by="ann")
    kept.forget(CALLED, by="bob")
    kept.allow(fingerprint("aws-access-token", OTHER), by="ann")
    (left,) = kept.listed()
    assert (left.by, left.once, left.tool) == ("ann", False, "")
    told = [fact for fact in shield.journal.facts() if fact.what.startswith("secrets.")]
    assert [(fact.what, fact.about, fact.by) for fact in told][:2] == [
        ("secrets.allowed", CALLED, "ann"),
        ("secrets.forgotten", CALLED, "bob"),
    ]


def test_what_is_no_fingerprint_is_refused_and_so_are_too_many() -> None:
    shield, _ = two()
    kept = Allowances(shield)
    for wrong in ("", KEY, CALLED[:-1], CALLED.upper() + "Z", "../../../etc"):
        with pytest.raises(ValueError, match="is not a fingerprint"):
            kept.allow(wrong)
    for number in range(3):
        kept.allow(f"{number:012x}")
    assert [one.fingerprint for one in kept.listed()] == [f"{number:012x}" for number in range(3)]
    assert MOST == 1_000


def test_nothing_is_asked_of_the_store_where_nothing_is_found() -> None:
    class Counting(MemoryStore):
        trips = 0

        def carry(self, batch: Any) -> Any:
            self.trips += 1
            return super().carry(batch)

    clock = FakeClock()
    store = Counting(clock)
    run = shield_for(POLICY, clock=clock, store=store).run("a")
    run.check("t", {"k": "nothing"})
    before = store.trips
    run.check("t", {"k": "nothing"})
    assert store.trips == before
    run.check("t", {"k": KEY})
    assert store.trips > before
