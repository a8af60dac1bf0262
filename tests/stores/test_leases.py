"""Leases: many processes spend one fleet-wide counter from memory, and never more than it holds."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
import types
from collections.abc import Callable, Coroutine, Generator, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest

from stanchion import Shield
from stanchion.kernel.actions import PROCEEDS, Action
from stanchion.kernel.counter_scopes import FLEET
from stanchion.kernel.state import Batch, Line, Reply, Settle, StoreLost, When, key
from stanchion.kernel.units import Unit
from stanchion.stores.leasing import LeasingStore
from stanchion.stores.memory import MemoryStore
from stanchion.stores.open_store import open_store
from stanchion.stores.protocol import Store
from stanchion.stores.redis import RedisStore
from stanchion.stores.sqlite import SqliteStore
from stanchion.testing.clock import FakeClock
from stanchion.testing.store_suite import CASES, Case
from stanchion.testing.store_suite.chance import COUNTERS, random_batch
from tests.stores import redis_server
from tests.stores.redis_server import Server
from tests.stores.servers import Place, place

server = redis_server.server
__all__ = ["place", "server"]

ROOT: Final = Path(__file__).resolve().parents[2]
SOAK: Final = bool(os.environ.get("STANCHION_SOAK"))
SEEDS: Final = 2_000 if SOAK else 100
LONG_S: Final = 3_600.0
"""Longer than any test: nothing is given back by itself."""

HOT: Final = key(FLEET, "hot")
OWN: Final = key("t", "own")
BLOCK: Final = Action.BLOCK


def upto(limit: int, **more: Any) -> tuple[Line, ...]:
    """A line on the fleet-wide counter that is refused above a limit."""
    return (Line(HOT, ((limit, BLOCK),), **more),)


def ones(amount: int) -> tuple[int, int, int, int, int]:
    """That many of unit ONE."""
    return (amount, 0, 0, 0, 0)


class Watched(MemoryStore):
    """A store that remembers what it was asked, and refuses batches that write to several slots of
    a cluster.

    It loses the answers that `losing` says: before a batch is carried out (1) or after it (2).
    """

    def __init__(self, clock: Callable[[], int], losing: Callable[[], int] = lambda: 0) -> None:
        super().__init__(clock)
        self.asked: list[Batch] = []
        self.losing = losing

    def carry(self, batch: Batch) -> Reply:
        """Carry a batch out, or lose it."""
        names = [line.key for line in batch.lines] + [put[0] for put in batch.puts]
        tags = {name.lstrip("~").partition("}")[0] + "}" for name in names}
        assert tags <= {key(batch.tenant)}
        self.asked.append(batch)
        lost = self.losing()
        if lost == 1:
            raise StoreLost("before")
        reply = super().carry(batch)
        if lost == 2:
            raise StoreLost("after")
        return reply

    async def acarry(self, batch: Batch) -> Reply:
        """The same, with a pause on the way there and on the way back."""
        await _pause()
        try:
            return self.carry(batch)
        finally:
            await _pause()

    def slices(self) -> list[int]:
        """How much was asked for at a time."""
        return [batch.amounts[0] for batch in self.asked if batch.tenant == FLEET and batch.lines]


@types.coroutine
def _pause() -> Generator[None, None, None]:
    yield


def interleaved(works: list[Coroutine[Any, Any, None]], drawn: random.Random) -> None:
    """Run coroutines to their end, one step at a time, in an order that is drawn."""
    while works:
        work = drawn.choice(works)
        try:
            work.send(None)
        except StopIteration:
            works.remove(work)


def leasing(inner: Store) -> LeasingStore:
    """A process that gives nothing back by itself."""
    return LeasingStore(inner, keep_s=LONG_S)


def spend(store: Store, name: str, limit: int, many: int = 10_000) -> int:
    """Spend one at a time until it is refused; gives how many went."""
    lines = upto(limit)
    for number in range(many):
        if not store.carry(Batch(f"{name}.{number}", "t", lines=lines)).go:
            return number
    return many


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_store_suite(case: Case) -> None:
    case.check(lambda clock: leasing(MemoryStore(clock)))


BANDS: Final = {
    key(FLEET, "c"): ((12, Action.WARN), (18, Action.ESCALATE), (25, BLOCK)),
    "~" + key(FLEET, "c"): ((20, BLOCK),),
    key(FLEET, "d"): ((30, Action.DEGRADE), (40, Action.HALT)),
    "~" + key(FLEET, "d"): ((9, Action.WARN),),
}


def shared(batch: Batch) -> Batch:
    """A batch of the suite whose counters `c` and `d` are those of the fleet, always with the same
    bands."""
    lines = []
    for line in batch.lines:
        name = line.key.replace(COUNTERS[2], key(FLEET, "c")).replace(COUNTERS[3], key(FLEET, "d"))
        hold_ms = 2_000 if line.hold_ms else 0
        if name != line.key:
            unit = Unit.ONE if name.endswith("c") else Unit.TOKENS
            hold_ms = 0 if line.when == When.JUDGED else hold_ms
            line = line._replace(key=name, bands=BANDS[name], unit=unit, keep=True)
        lines.append(line._replace(hold_ms=hold_ms))
    ceiling = min(batch.ceiling, int(PROCEEDS))
    return msgspec.structs.replace(batch, lines=tuple(lines), ceiling=ceiling)


@pytest.mark.parametrize("seed", range(300 if SOAK else 30))
def test_one_process_gives_the_replies_of_one_store(seed: int) -> None:
    """Whatever stands before and behind shared lines: values, actions, what is skipped, idle,
    settled and written."""
    drawn = random.Random(seed)
    clock = FakeClock()
    plain, inner = MemoryStore(clock), Watched(clock)
    store = leasing(inner)
    last: Batch | None = None
    for number in range(200):
        clock.advance(drawn.choice((0, 0, 1, 400, 3_000)))
        batch = shared(random_batch(drawn, number))
        batch = last if last is not None and batch.id == last.id else batch
        assert store.carry(batch) == plain.carry(batch)
        last = batch
        if drawn.random() < 0.02:
            store.give_back()
    store.close()
    for name in BANDS:
        assert inner.read(name) == plain.read(name)


class Fleet:
    """Processes that spend one counter, with what they were told."""

    def __init__(self, seed: int, limit: int, lose: float = 0.0) -> None:
        self.drawn = random.Random(seed)
        self.limit = limit
        self.lose = lose
        self.inner = Watched(
            FakeClock(), lambda: self.drawn.choice((1, 2)) if self.drawn.random() < self.lose else 0
        )
        self.stores = [leasing(self.inner) for _ in range(3)]
        self.used = 0

    async def work(self, name: str, store: LeasingStore) -> None:
        """Spend any amounts, beside a counter of one's own that refuses now and then, and settle
        some of them."""
        hold_ms = self.drawn.choice((0, 1_000))
        lines = (Line(OWN, ((self.limit // 2, BLOCK),)), *upto(self.limit, hold_ms=hold_ms))
        held: list[tuple[str, int]] = []
        for number in range(10):
            amount = self.drawn.randint(1, 5)
            actual = self.drawn.randint(0, held[0][1]) if held else 0
            settles: tuple[Settle, ...] = (
                ((held[0][0], ones(actual)),) if held and self.drawn.random() < 0.5 else ()
            )
            batch = Batch(f"{name}.{number}", "t", True, (), settles, lines, ones(amount))
            reply = await self._sent(store, batch)
            if settles:
                self.used -= held.pop(0)[1] - actual
            if reply.go:
                self.used += amount
                held += [(batch.id, amount)] if hold_ms else []
            assert self.used <= self.limit

    async def _sent(self, store: LeasingStore, batch: Batch) -> Reply:
        while True:
            try:
                return await store.acarry(batch)
            except StoreLost:
                continue

    def check(self) -> None:
        """Nobody spends more than there is, and when the others are closed the last spends exactly
        the rest."""
        works = [
            self.work(f"{at}.{turn}", store)
            for at, store in enumerate(self.stores)
            for turn in range(2)
        ]
        interleaved(works, self.drawn)
        self.lose = 0.0
        assert self.used <= self.inner.read(HOT)[0] <= self.limit
        *others, last = self.stores
        for store in others:
            store.close()
        self.used += spend(last, "last", self.limit)
        last.close()
        assert (self.used, self.inner.read(HOT)[0]) == (self.limit, self.limit)


def test_no_interleaving_exceeds_the_limit() -> None:
    for seed in range(SEEDS):
        Fleet(seed, 25 + seed % 40).check()


def test_lost_answers_count_nothing_twice() -> None:
    for seed in range(SEEDS):
        Fleet(seed, 25 + seed % 40, lose=0.15).check()


def test_slices_of_several_calls_exceed_nothing_either() -> None:
    for seed in range(SEEDS // 10):
        Fleet(seed, 800 + seed % 400, lose=seed % 2 * 0.15).check()


@pytest.mark.parametrize(("limit", "most"), [(20, 3), (800, 100)])
def test_no_span_of_a_window_holds_more_than_the_limit(limit: int, most: int) -> None:
    for seed in range(SEEDS // (4 if limit == 20 else 16)):
        drawn = random.Random(seed)
        clock = FakeClock()
        stores = [leasing(Watched(clock))]
        stores += [leasing(stores[0].inner) for _ in range(2)]
        lines = upto(limit, window_ms=16_000, hold_ms=drawn.choice((0, 60_000)))
        spent: list[tuple[int, int]] = []
        held: list[tuple[LeasingStore, str, int]] = []
        for number in range(150):
            clock.advance(drawn.choice((0, 0, 0, 100, 400, 2_500)))
            store, amount = drawn.choice(stores), drawn.randint(1, most)
            if held and drawn.random() < 0.2:
                owner, name, at = held.pop(0)
                owner.carry(Batch(f"settle.{number}", "t", settles=((name, ones(0)),)))
                spent[at] = (spent[at][0], 0)
            if store.carry(Batch(f"b{number}", "t", lines=lines, amounts=ones(amount))).go:
                held += [(store, f"b{number}", len(spent))] if lines[0].hold_ms else []
                spent.append((clock() // 1_000, amount))
            newest = clock() // 1_000
            assert sum([amount for bucket, amount in spent if bucket > newest - 16]) <= limit
        assert len(spent) > 20


def test_slices_double_while_they_are_used_and_shrink_near_the_end() -> None:
    inner = Watched(FakeClock())
    store = leasing(inner)
    assert spend(store, "all", 10_000) == 10_000
    slices = inner.slices()
    assert slices[:6] == [1, 2, 4, 8, 16, 26], (
        "a quarter of a hundredth of the limit at the most, and the call itself"
    )
    assert max(slices) == 26
    assert slices[-8:] == [1] * 8
    assert len(slices) < 450


def test_a_slice_is_not_spent_beyond_its_own_limit_when_others_may_go_further() -> None:
    store = leasing(MemoryStore(FakeClock()))
    assert spend(store, "cautious", 50, 10) == 10
    assert spend(store, "bold", 100, 60) == 60
    assert spend(store, "cautious again", 50) == 0
    assert spend(store, "bold again", 100) == 30


def test_a_slice_that_is_not_used_goes_back_and_the_next_is_smaller() -> None:
    inner = Watched(FakeClock())
    one, two = leasing(inner), leasing(inner)
    spend(one, "one", 2_000, 20)
    assert inner.read(HOT)[0] > 20
    one.give_back()
    assert (inner.read(HOT)[0], list(inner.holds())) == (20, [])
    assert spend(two, "two", 2_000) == 1_980


def test_what_is_not_used_goes_back_by_itself() -> None:
    class Told(MemoryStore):
        def carry(self, batch: Batch) -> Reply:
            reply = super().carry(batch)
            if self.read(HOT)[0] == 3:
                back.set()
            return reply

    back = threading.Event()
    store = LeasingStore(Told(), keep_s=0.01)
    spend(store, "a", 1_000, 2)
    back.clear()
    spend(store, "b", 1_000, 1)
    assert back.wait(60)
    assert store.read(HOT)[0] == 3
    store.close()


def test_a_refusal_elsewhere_in_the_batch_takes_nothing() -> None:
    inner = MemoryStore(FakeClock())
    store = leasing(inner)
    before = (Line(OWN, ((-1, BLOCK),)), *upto(10))
    behind = (*upto(10), Line(OWN, ((-1, Action.ESCALATE),)))
    assert not store.carry(Batch("before", "t", lines=before, amounts=ones(7))).go
    assert not store.carry(Batch("behind", "t", lines=behind, amounts=ones(7))).go
    assert store.carry(
        Batch("stale", "t", expects=((OWN, 9, 10),), lines=upto(10), amounts=ones(10))
    ).stale
    assert store.carry(Batch("all", "t", lines=upto(10), amounts=ones(10))).go
    assert not store.carry(Batch("more", "t", lines=upto(10))).go


def test_a_hold_is_settled_once_with_what_was_used() -> None:
    inner = MemoryStore(FakeClock())
    store = leasing(inner)
    lines = upto(10, hold_ms=1_000)
    store.carry(Batch("held", "t", lines=lines, amounts=ones(10)))
    assert not store.carry(Batch("refused", "t", lines=lines)).go
    settle = Batch("settle", "t", settles=(("held", ones(4)),))
    assert store.carry(settle).settled == ("settled",)
    assert store.carry(settle).settled == ("settled",)
    assert store.carry(Batch("settle again", "t", settles=(("held", None),))).settled == ("again",)
    store.give_back()
    assert inner.read(HOT)[0] == 4
    assert store.carry(Batch("the rest", "t", lines=lines, amounts=ones(6))).go
    assert store.carry(Batch("give back", "t", settles=(("the rest", None),))).settled == (
        "settled",
    )
    store.close()
    assert inner.read(HOT)[0] == 4


def test_what_was_used_beyond_the_estimate_is_counted_whatever_it_exceeds() -> None:
    inner = MemoryStore(FakeClock())
    store = leasing(inner)
    store.carry(Batch("held", "t", lines=upto(10, hold_ms=1_000), amounts=ones(9)))
    assert store.carry(Batch("settle", "t", settles=(("held", ones(14)),))).settled == ("settled",)
    assert not store.carry(Batch("more", "t", lines=upto(10))).go
    store.carry(Batch("booked", "t", lines=(Line(HOT),), amounts=ones(2)))
    store.close()
    assert inner.read(HOT)[0] == 16


@pytest.mark.parametrize("lost", [1, 2])
def test_a_lost_batch_stays_charged_until_it_is_sent_again(lost: int) -> None:
    losing = 0
    inner = Watched(FakeClock(), lambda: losing)
    store = leasing(inner)
    spend(store, "some", 2_000, 4)
    losing = lost
    batch = Batch("lost", "t", lines=upto(2_000, hold_ms=1_000), amounts=ones(2))
    with pytest.raises(StoreLost):
        store.carry(batch)
    losing = 0
    other = leasing(inner)
    rest = spend(other, "others", 2_000)
    assert rest <= 2_000 - 6
    assert store.carry(batch) == store.carry(batch)
    store.carry(Batch("settle", "t", settles=(("lost", ones(1)),)))
    store.close()
    other.close()
    assert inner.read(HOT)[0] == 5 + rest


@pytest.mark.parametrize(("lost", "total"), [(1, 4), (2, 5)])
def test_settling_a_lost_batch_tells_whether_it_arrived(lost: int, total: int) -> None:
    losing = 0
    inner = Watched(FakeClock(), lambda: losing)
    store = leasing(inner)
    spend(store, "some", 2_000, 4)
    losing = lost
    with pytest.raises(StoreLost):
        store.carry(Batch("lost", "t", lines=upto(2_000, hold_ms=1_000), amounts=ones(2)))
    losing = 0
    store.carry(Batch("settle", "t", settles=(("lost", ones(1)),)))
    store.close()
    assert inner.read(HOT)[0] == total


def test_batches_without_shared_lines_pass_untouched() -> None:
    inner = Watched(FakeClock())
    store = leasing(inner)
    batches = [
        Batch("a", "t", lines=(Line(OWN),)),
        Batch("b", FLEET, lines=upto(5)),
        Batch("c", "t"),
    ]
    for batch in batches:
        store.carry(batch)
    assert [asked is batch for asked, batch in zip(inner.asked, batches, strict=True)] == [True] * 3


@pytest.mark.parametrize(("marks_count", "last"), [(True, Action.ESCALATE), (False, BLOCK)])
def test_a_shield_decides_the_same(marks_count: bool, last: Action) -> None:
    guard = {"use": "budget", "tokens": 300, "calls": 40, "per": "fleet", "warn_at": 80}
    policy = {"name": "fleet", "guards": [guard], "limits": {"count_marks": marks_count}}

    def decided(store: Store) -> list[tuple[Action, str]]:
        said = []
        with Shield.load(policy, store=store, journal="memory:") as shield:
            for tenant in ("one", "two"):
                for task in ("first", "second"):
                    run = shield.run("agent", task, tenant=tenant)
                    said += [run.check("spend", {"n": n}, tokens=n) for n in range(15)]
        return [(decision.action, decision.message) for decision in said]

    plain = decided(MemoryStore())
    assert decided(leasing(Watched(FakeClock(5)))) == plain
    assert {action for action, _ in plain} >= {Action.ALLOW, Action.WARN, last}


PROGRAM: Final = """
import os, sys
from stanchion.kernel.actions import Action
from stanchion.kernel.state import Batch, Line
from stanchion.stores.leasing import LeasingStore
from stanchion.stores.sqlite import SqliteStore

how, path, limit = sys.argv[1:]
store = LeasingStore(SqliteStore(path), keep_s=3600)
lines = (Line("{*}hot", ((int(limit), Action.BLOCK),)),)

def spend(name, many):
    went = [store.carry(Batch(f"{name}.{number}", "t", lines=lines)).go for number in range(many)]
    return went.count(True)

spent = spend("first", 20)
if how == "fork":
    child = os.fork()
    if child == 0:
        print(spend("child", 200), flush=True)
        os._exit(0)
    os.waitpid(child, 0)
    spent += spend("parent", 200)
    store.close()
print(spent, flush=True)
if how == "killed":
    os.kill(os.getpid(), 9)
"""


def numbers(how: str, path: Path, limit: int = 2_000) -> list[int]:
    """What a process of its own says that it spent."""
    command = [sys.executable, "-c", PROGRAM, how, str(path), str(limit)]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    return [int(word) for word in done.stdout.split()]


def test_a_process_that_ends_gives_back_what_it_did_not_spend(tmp_path: Path) -> None:
    assert numbers("ended", tmp_path / "state.db") == [20]
    with closing(SqliteStore(tmp_path / "state.db")) as store:
        assert store.read(HOT)[0] == 20


def test_a_killed_process_leaves_its_slice_charged(tmp_path: Path) -> None:
    assert numbers("killed", tmp_path / "state.db") == [20]
    with closing(SqliteStore(tmp_path / "state.db")) as store:
        charged = store.read(HOT)[0]
        assert 20 < charged <= 20 + 2_000 // 100
        assert spend(leasing(store), "rest", 2_000) == 2_000 - charged


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_a_forked_process_does_not_spend_its_parent_s_slices(tmp_path: Path) -> None:
    spent = numbers("fork", tmp_path / "state.db", 300)
    assert len(spent) == 2
    assert sum(spent) == 300
    with closing(SqliteStore(tmp_path / "state.db")) as store:
        assert store.read(HOT)[0] == 300


def threads_spend(make: Callable[[], Store], limit: int = 150) -> None:
    """Threads of two processes spend one counter until nothing is left, each beside one of its
    own."""
    stores = [LeasingStore(make()) for _ in range(2)]
    went: list[int] = []

    def work(name: str, store: Store) -> None:
        lines = (Line(key("t", name)), *upto(limit))
        number = 0
        while store.carry(Batch(f"{name}.{number}", "t", lines=lines)).go:
            number += 1
        went.append(number)

    workers = [threading.Thread(target=work, args=(f"w{n}", stores[n % 2])) for n in range(6)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert (sum(went), stores[0].read(HOT)[0]) == (limit, limit)
    for store in stores:
        store.close()


def test_threads_on_memory() -> None:
    store = MemoryStore()
    threads_spend(lambda: store)


def test_threads_on_sqlite(tmp_path: Path) -> None:
    threads_spend(lambda: SqliteStore(tmp_path / "state.db", busy_s=60))


def test_threads_on_postgres(place: Place) -> None:
    threads_spend(place.open)


def test_threads_on_redis(server: Server) -> None:
    threads_spend(lambda: RedisStore(server.url, timeout_s=60))


@pytest.fixture
def database(place: Place) -> Iterator[str]:
    """A PostgreSQL whose shared schema is removed afterwards."""
    yield place.server.url
    with place.server.connect() as db:
        db.execute("DROP SCHEMA IF EXISTS stanchion CASCADE")


def test_servers_are_opened_with_leases_unless_for_reading(server: Server, database: str) -> None:
    for url in (server.url, database):
        with closing(open_store(url)) as store:
            assert isinstance(store, LeasingStore)
            assert store.carry(Batch(f"by-url-{os.getpid()}", "t", lines=upto(5))).go
        with closing(open_store(url, reading=True)) as reading:
            assert not isinstance(reading, LeasingStore)
            assert reading.read(HOT)[0] == 1


def test_a_halt_of_the_fleet_reaches_every_tenant_within_a_second(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """No batch of a tenant names a key of the fleet; what it expects of one is asked for once a
    second."""
    clock = FakeClock()
    inner = MemoryStore(clock)
    sent: list[Batch] = []

    class Watched:
        def carry(self, batch: Batch) -> Reply:
            sent.append(batch)
            return inner.carry(batch)

        def __getattr__(self, name: str) -> Any:
            return getattr(inner, name)

    seconds = [0.0]
    monkeypatch.setattr("stanchion.stores.leasing.store.time.monotonic", lambda: seconds[0])
    policy = {"name": "counted", "guards": [{"use": "step_limit", "max_steps": 100}]}
    shield = Shield.load(policy, store=LeasingStore(Watched()), clock=clock)
    operator = Shield.load(policy, store=inner, clock=clock)
    run = shield.run("ann", tenant="acme")
    assert run.check("pay", {}).proceeds
    before = len(sent)
    assert run.check("pay", {}).proceeds
    assert len(sent) == before + 1, "one trip, as without a fleet"
    operator.halt("drill", scope="fleet")
    assert run.check("pay", {}).proceeds, "known for less than a second"
    seconds[0] = 1.0
    assert run.check("pay", {}).code == "kernel.halted"
    operator.resume(scope="fleet")
    seconds[0] = 2.0
    assert run.check("pay", {}).proceeds
    for batch in sent:
        keys = [expect[0] for expect in batch.expects] + [line.key for line in batch.lines]
        assert len({key.partition("}")[0] for key in keys if key.startswith("{")}) <= 1
    shield.close()
