"""What a killed process had reserved: held, listed, settled by the run that goes on, or released by
an operator."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from stanchion import Shield
from stanchion.audit.journal import MemoryJournal
from stanchion.cli.main import main
from stanchion.kernel.actions import Action
from stanchion.kernel.counter_scopes import FLEET
from stanchion.kernel.state import Batch, Line, key
from stanchion.policy.load import load_policy
from stanchion.runtime.deciding.open_calls import OpenCall
from stanchion.runtime.operating.budgets import HoldError
from stanchion.stores.leasing import LeasingStore
from stanchion.stores.leasing.lease import LEASE_MS
from stanchion.stores.memory import MemoryStore, wall_ms
from stanchion.stores.protocol import Store
from stanchion.stores.redis import RedisStore
from stanchion.stores.sqlite import SqliteStore
from stanchion.testing.clock import FakeClock
from tests.operators import ANN, KNOWN
from tests.stores import redis_server
from tests.stores.dying import Cut, Dropped, kill_me, killed, later, may_be_killed, note, noted
from tests.stores.redis_server import Server
from tests.stores.servers import Place, place

server = redis_server.server
__all__ = ["place", "server"]

SOAK = bool(os.environ.get("STANCHION_SOAK"))
STORES = ("memory", "sqlite", "redis", "postgres")
LASTING = STORES[1:]
POLICY: dict[str, Any] = {
    "name": "p",
    "guards": [{"use": "budget", "id": "spend", "tokens": 1_000, "reserve_tokens": 1}],
}
SPEND = key("default", "budget", "spend", "tokens", "run", "r1")
HOT = key(FLEET, "hot")


class World:
    """One kind of store, to be opened again and again."""

    def __init__(self, kind: str, folder: Path, request: pytest.FixtureRequest) -> None:
        self.kind, self.folder, self._request = kind, folder, request
        self._memory = MemoryStore()
        self.notes = folder / "notes"
        self._opened: list[Store] = []

    def open(self, clock: Callable[[], int] = wall_ms) -> Store:
        """The store, on a clock; one in memory is always the same."""
        store = self._open(clock)
        self._opened.append(store)
        return store

    def close(self) -> None:
        """Close everything that was opened."""
        for store in self._opened:
            store.close()

    def _open(self, clock: Callable[[], int]) -> Store:
        if self.kind == "memory":
            self._memory._clock = clock
            return self._memory
        if self.kind == "sqlite":
            return SqliteStore(self.folder / "state.db", clock, busy_s=60)
        if self.kind == "redis":
            server: Server = self._request.getfixturevalue("server")
            return RedisStore(server.url, clock=clock, timeout_s=60, prefix=self.folder.name)
        place: Place = self._request.getfixturevalue("place")
        return place.open(clock)

    def shield(self, store: Store) -> Shield:
        """Another process's shield; operators have keys."""
        return Shield(
            load_policy(POLICY),
            store=store,
            journal=MemoryJournal(),
            clock=wall_ms,
            operators=[KNOWN],
        )

    def dies(self, work: Callable[[Store, Callable[[], object]], object]) -> None:
        """Work in a process that ends itself: in memory by dropping everything, elsewhere by being
        killed."""
        if self.kind != "memory":
            killed(lambda: work(self.open(), kill_me), self.notes)
            return

        def drop() -> None:
            raise Dropped

        with pytest.raises(Dropped):
            work(self.open(), drop)


@pytest.fixture
def world(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[World]:
    """A kind of store."""
    made = World(kind, tmp_path, request)
    made.open()  # a server and its schema are there before anybody forks
    yield made
    made.close()


@pytest.fixture(params=STORES)
def kind(request: pytest.FixtureRequest) -> str:
    """Each kind of store in turn."""
    return str(request.param)


def reserve(world: World) -> str:
    """Die right after reserving 900 of 1,000; gives the call."""

    def work(store: Store, end: Callable[[], object]) -> None:
        run = world.shield(store).run("ann", id="r1")
        note(world.notes, run.check("write", {}, tokens=900).id)
        end()

    world.dies(work)
    return noted(world.notes)[-1]


def test_what_a_killed_process_reserved_is_held_and_listed(world: World, capsysbinary: Any) -> None:
    call = reserve(world)
    shield = world.shield(world.open())
    run = shield.run("ann", id="r1")
    assert not run.check("write", {}, tokens=200).proceeds
    (found,) = run.open_calls()
    assert found == OpenCall(call, "r1", found.since_ms, tokens=900)
    assert (
        shield.run("ann", id="r").open_calls()
        == shield.run("ann", id="r1", tenant="other").open_calls()
        == ()
    )
    if world.kind == "sqlite":
        assert main(["budget", "holds", "--store", str(world.folder / "state.db"), "--json"]) == 0
        (listed,) = [json.loads(line) for line in capsysbinary.readouterr().out.splitlines()]
        part = {
            "tenant": "default",
            "budget": "spend",
            "per": "run",
            "whose": "r1",
            "measure": "tokens",
            "amount": 900,
        }
        assert (listed["call"], listed["run"], listed["parts"]) == (call, "r1", [part])


@pytest.mark.parametrize("how", ["result", "error", "charge"])
def test_the_run_that_goes_on_settles_it(world: World, how: str) -> None:
    call = reserve(world)
    shield = world.shield(world.open())
    run = shield.run("ann", id="r1")
    for _ in range(2):
        match how:
            case "result":
                run.result("write", {}, "done", call=call, tokens=100)
            case "error":
                run.error("write", "it broke", call=call, tokens=100)
            case _:
                run.charge(tokens=100, call=call, settled=True)
        assert (shield.store.read(SPEND)[0], run.open_calls()) == (100, ())
    assert run.check("write", {}, tokens=900).proceeds
    assert not run.check("write", {}, tokens=1).proceeds


def test_what_its_outcome_does_not_name_stays_at_the_estimate(world: World) -> None:
    call = reserve(world)
    shield = world.shield(world.open())
    shield.run("ann", id="r1").result("write", {}, "done", call=call)
    assert (shield.store.read(SPEND)[0], list(shield.store.holds())) == (900, [])


def test_another_run_or_tenant_cannot_settle_it(world: World) -> None:
    call = reserve(world)
    shield = world.shield(world.open())
    for run in (
        shield.run("ann", id="r"),
        shield.run("ann", id="r1", tenant="other"),
        shield.run("ann", id="r2"),
    ):
        run.result("write", {}, "done", call=call, tokens=0)
    assert shield.store.read(SPEND)[0] == 900


@pytest.mark.parametrize(
    ("used", "left"), [(None, 0), ({"tokens": 300}, 300), ({"cost_usd": 1.0}, 900)]
)
def test_an_operator_releases_it(world: World, used: dict[str, Any] | None, left: int) -> None:
    call = reserve(world)
    early = world.shield(world.open())
    with pytest.raises(HoldError, match="may still be working"):
        early.release_call(call, used, by=ANN)
    assert early.store.read(SPEND)[0] == 900
    shield = world.shield(world.open(later))
    shield.release_call(call, used, why="the host went down", by=ANN)
    assert (shield.store.read(SPEND)[0], list(shield.store.holds())) == (left, [])
    (fact,) = [fact for fact in shield.journal.facts() if fact.what == "budget.released"]
    assert (fact.about, fact.run, fact.by, fact.data["reserved"]) == (
        call,
        "r1",
        "ann",
        {"tokens": 900},
    )
    with pytest.raises(HoldError, match="nothing is held"):
        shield.release_call(call, used, by=ANN)


def test_a_call_that_ends_after_its_release_is_counted(world: World) -> None:
    """The process was only stopped: what it says it used beyond what the operator said is spent all
    the same."""
    shield = world.shield(world.open())
    run = shield.run("ann", id="r1")
    call = run.check("write", {}, tokens=900).id
    world.shield(world.open(later)).release_call(call, {"tokens": 300}, by=ANN)
    for _ in range(2):
        run.result("write", {}, "done", call=call, tokens=800)
        assert shield.store.read(SPEND)[0] == 800


def test_an_operator_tops_a_budget_up(world: World) -> None:
    shield = world.shield(world.open())
    run = shield.run("ann", id="r1")
    assert run.result("write", {}, "done", call=run.check("write", {}, tokens=1_000).id).proceeds
    assert not run.check("write", {}, tokens=1).proceeds
    shield.top_up("spend/run:r1", {"tokens": 500}, by=ANN)
    assert run.check("write", {}, tokens=500).proceeds
    assert not run.check("write", {}, tokens=1).proceeds
    facts = [
        (fact.about, fact.data["amount"])
        for fact in shield.journal.facts()
        if fact.what == "budget.topped_up"
    ]
    assert facts == [("spend/run:r1", {"tokens": 500})]


def test_a_kill_at_any_step_holds_one_estimate_at_the_most(world: World) -> None:
    """Killed before and after each batch of a call: at most its estimate is charged, and the run
    that goes on settles what is open. A call of which nothing is held has either not begun or is
    settled."""
    steps = range(12) if SOAK or world.kind == "memory" else (1, 3)
    for step in steps:
        run_id = f"step-{step}"
        counter = key("default", "budget", "spend", "tokens", "run", run_id)

        def work(step: int = step, run_id: str = run_id) -> None:
            store: Any = Cut(world.open(), step, kill_me if world.kind != "memory" else _drop)
            run = world.shield(store).run("ann", id=run_id)
            call = run.check("write", {}, tokens=900).id
            run.result("write", {}, "done", call=call, tokens=400)

        if world.kind == "memory":
            ended = _dropped(work)
        else:
            ended = may_be_killed(work)
        shield = world.shield(world.open())
        run = shield.run("ann", id=run_id)
        charged, still = shield.store.read(counter)[0], run.open_calls()
        assert charged in ((900,) if still else (0, 400))
        for one in still:
            run.result("write", {}, "done", call=one.call, tokens=400)
        assert shield.store.read(counter)[0] == (400 if still else charged)
        assert run.open_calls() == ()
        if not ended:
            assert step > 3
            assert charged == 400
            break
    else:
        assert world.kind != "memory", "it has more steps"


def _drop() -> None:
    raise Dropped


def _dropped(work: Callable[[], object]) -> bool:
    try:
        work()
    except Dropped:
        return True
    return False


LIMIT = 20_000
CHAINS = (Line(HOT, ((LIMIT, Action.BLOCK),), hold_ms=3_600_000),)
ESTIMATE = 20


def crash(world: World, seed: int, settles: bool) -> None:
    """Spend some of a fleet-wide counter, and be killed between two calls or within one."""
    drawn = random.Random(seed)
    store = LeasingStore(world.open(), keep_s=3_600)
    for number in range(drawn.randint(1, 25)):
        amount = drawn.randint(1, ESTIMATE)
        name = f"{seed}.{number}"
        note(world.notes, f"held {ESTIMATE}")
        if (
            store.carry(Batch(name, "t", lines=CHAINS, amounts=(ESTIMATE, 0, 0, 0, 0))).go
            and settles
        ):
            store.carry(Batch(f"{name}.end", "t", settles=((name, (amount, 0, 0, 0, 0)),)))
            note(world.notes, f"used {amount}")
    kill_me()


@pytest.mark.parametrize("kind", LASTING)
def test_a_crash_loop_is_charged_what_it_spent_and_what_was_in_flight(
    world: World,
) -> None:
    kills = 40 if SOAK else 4
    for seed in range(kills):
        killed(lambda seed=seed: crash(world, seed, settles=True), world.notes)  # type: ignore[misc] # a default
    words = noted(world.notes)
    used = sum(
        int(amount) for what, amount in zip(words[::2], words[1::2], strict=True) if what == "used"
    )
    flying = (words.count("held") - words.count("used")) * ESTIMATE
    store = world.open()
    charged = store.read(HOT)[0]
    assert used <= charged <= used + flying + LIMIT // 100
    left = LIMIT - charged
    last = LeasingStore(store, keep_s=3_600)
    assert not last.carry(Batch("too much", "t", lines=CHAINS, amounts=(left + 1, 0, 0, 0, 0))).go
    assert last.carry(Batch("the rest", "t", lines=CHAINS, amounts=(left, 0, 0, 0, 0))).go
    last.give_back()


@pytest.mark.parametrize("kind", ["sqlite"])
def test_a_slice_of_a_dead_process_is_listed_and_released(world: World) -> None:
    killed(lambda: crash(world, 1, settles=False), world.notes)
    store = world.open(later)
    shield = world.shield(store)
    held = [hold for hold in store.holds() if hold.id.startswith("lease-")]
    assert held
    with pytest.raises(HoldError, match="may still be working"):
        world.shield(world.open()).release_call(held[0].id, by=ANN)
    for hold in held:
        shield.release_call(hold.id, by=ANN)
    assert (
        store.read(HOT)[0],
        [hold for hold in store.holds() if hold.id.startswith("lease-")],
    ) == (0, [])
    pools = [seen.number for seen in store.look(key(FLEET, "lent"))]
    assert pools == [0]


def test_a_process_that_slept_past_its_lease_spends_no_slice_that_was_given_away() -> None:
    clock = FakeClock()
    inner = MemoryStore(clock)
    sleeper, other = LeasingStore(inner, keep_s=3_600), LeasingStore(inner, keep_s=3_600)
    lines = (Line(HOT, ((2_000, Action.BLOCK),)),)

    def spend(store: Store, name: str, many: int) -> int:
        return [
            store.carry(Batch(f"{name}.{number}", "t", lines=lines)).go for number in range(many)
        ].count(True)

    spent = spend(sleeper, "before", 20)
    assert inner.read(HOT)[0] > spent
    clock.advance(LEASE_MS)
    for hold in list(inner.holds()):
        inner.carry(Batch(f"release.{hold.id}", FLEET, settles=((hold.id, None),)))
    rest = inner.read(HOT)[0]
    assert rest <= spent, "whatever was not settled was given away"
    assert spend(other, "other", 2_500) == 2_000 - rest
    assert spend(sleeper, "woken", 50) == 0
