"""Every store outlives an exception that is raised between any two of its steps: nothing is half
done, nothing is counted twice, and the next batch is carried out."""

import itertools
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from stanchion.kernel.actions import Action
from stanchion.kernel.state import Batch, Line, Reply
from stanchion.stores.leasing import LeasingStore
from stanchion.stores.memory import MemoryStore
from stanchion.stores.protocol import Store
from stanchion.stores.redis import RedisStore
from stanchion.stores.sqlite import SqliteStore
from stanchion.testing.clock import FakeClock
from tests.interrupts import SOAK, Cut, CutByTimer, everywhere, files
from tests.stores import redis_server
from tests.stores.ledgers import ACTUAL, ESTIMATE, HOUR_MS, TOKENS, Ledger
from tests.stores.servers import new_place

LIMIT = 1_000_000
STORES = ["memory", "sqlite", *(["redis", "postgres"] if SOAK else [])]
"""A server takes too long for every test run: each step is a trip to it."""

pytestmark = [
    pytest.mark.filterwarnings(
        "ignore:coroutine:RuntimeWarning"
    ),  # one that is cut off before it is awaited
    pytest.mark.filterwarnings(
        "ignore::ResourceWarning"
    ),  # files and sockets of who is cut off before it closes them
]


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path, clock: FakeClock) -> Iterator[Store]:
    with ExitStack() as stack:
        made: Store
        match request.param:
            case "memory":
                made = MemoryStore(clock)
            case "sqlite":
                made = SqliteStore(tmp_path / "a.db", clock)
            case "redis":
                redis_server.shared().ask("FLUSHALL")
                made = RedisStore(redis_server.shared().url, timeout_s=30, clock=clock)
            case _:
                made = stack.enter_context(new_place()).open(clock, timeout_s=30)
        stack.callback(made.close)
        yield made


WITHIN = files("stores", "kernel", "locks")


@pytest.mark.parametrize("error", [Cut, CutByTimer])
def test_a_batch_that_is_cut_off_anywhere(store: Store, error: type[BaseException]) -> None:
    ledger = Ledger(store)
    assert everywhere(ledger.send, ledger.check, WITHIN, error=error, every=47, seed=1) > 20


@pytest.mark.parametrize("error", [Cut, KeyboardInterrupt])
def test_a_batch_on_an_event_loop_that_is_cut_off_anywhere(
    store: Store, error: type[BaseException]
) -> None:
    ledger = Ledger(store)
    assert everywhere(ledger.asend_alone, ledger.check, WITHIN, error=error, every=37, seed=2) > 20


def test_a_batch_that_warns_and_one_whose_permits_lapse(store: Store, clock: FakeClock) -> None:
    ledger = Ledger(store, hold_ms=1, warns=True)

    def work() -> None:
        clock.advance(2)
        ledger.send()

    assert everywhere(work, ledger.check, WITHIN, every=83, seed=3) > 20


def test_garbage_that_is_collected_while_a_batch_is_cut_off(store: Store, clock: FakeClock) -> None:
    """Each batch comes long after the one before: its cells are collected first, and counting
    begins anew."""
    ledger, numbers = Ledger(store), itertools.count()
    line = Line("{ann}idle", ((1, Action.BLOCK),), idle_s=1)

    def spend() -> Reply:
        return store.carry(Batch(f"idle-{next(numbers)}", "ann", lines=(line,)))

    def work() -> None:
        clock.advance(2_000)
        spend()

    def check() -> None:
        clock.advance(2_000)
        assert [spend().go, spend().go] == [True, False]
        ledger.check()

    assert everywhere(work, check, WITHIN, every=29, seed=4) > 20


def test_slices_that_are_asked_for_spent_and_given_back_while_they_are_cut_off(
    clock: FakeClock,
) -> None:
    """What one who was cut off had reserved may stay charged; what is spent is always charged
    before."""
    inner = MemoryStore(clock)
    store, fleet = LeasingStore(inner), "{*}tokens"
    lines = (Line(fleet, ((LIMIT, Action.BLOCK),), TOKENS, hold_ms=HOUR_MS), Line("{ann}own"))
    numbers, spent = itertools.count(), 0

    def work() -> None:
        nonlocal spent
        batch_id = f"shared-{next(numbers)}"
        assert store.carry(Batch(batch_id, "ann", lines=lines, amounts=ESTIMATE)).go
        store.carry(Batch(f"{batch_id}-end", "ann", settles=((batch_id, ACTUAL),)))
        spent += ACTUAL[TOKENS]

    def check() -> None:
        work()
        store.give_back()
        assert spent <= inner.read(fleet)[0] <= LIMIT

    assert everywhere(work, check, files("stores/leasing", "locks"), every=127, seed=5) > 20
    store.close()
    assert spent <= inner.read(fleet)[0] <= LIMIT
