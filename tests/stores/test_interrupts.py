"""Every store outlives an exception that is raised between any two of its steps: nothing is half done, nothing is
counted twice, and the next batch is carried out."""

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from stanchion.kernel.actions import Action
from stanchion.kernel.state import Batch, Line, Reply
from stanchion.stores.memory import MemoryStore
from stanchion.stores.protocol import Store
from stanchion.stores.sqlite import SqliteStore
from stanchion.testing.clock import FakeClock
from tests.interrupts import Cut, CutByTimer, everywhere, files
from tests.stores.ledgers import Ledger

pytestmark = [
    pytest.mark.filterwarnings("ignore:coroutine:RuntimeWarning"),  # one that is cut off before it is awaited
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # files and sockets of who is cut off before it closes them
]


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path, clock: FakeClock) -> Iterator[Store]:
    match request.param:
        case "memory":
            made: Store = MemoryStore(clock)
        case _:
            made = SqliteStore(tmp_path / "a.db", clock)
    yield made
    made.close()


WITHIN = files("stores", "kernel", "locks")


@pytest.mark.parametrize("error", [Cut, CutByTimer])
def test_a_batch_that_is_cut_off_anywhere(store: Store, error: type[BaseException]) -> None:
    ledger = Ledger(store)
    assert everywhere(ledger.send, ledger.check, WITHIN, error=error, every=17, seed=1) > 20


@pytest.mark.parametrize("error", [Cut, KeyboardInterrupt])
def test_a_batch_on_an_event_loop_that_is_cut_off_anywhere(store: Store, error: type[BaseException]) -> None:
    ledger = Ledger(store)
    assert everywhere(ledger.asend_alone, ledger.check, WITHIN, error=error, every=17, seed=2) > 20


def test_a_batch_that_warns_and_one_whose_permits_lapse(store: Store, clock: FakeClock) -> None:
    ledger = Ledger(store, hold_ms=1, warns=True)

    def work() -> None:
        clock.advance(2)
        ledger.send()

    assert everywhere(work, ledger.check, WITHIN, every=19, seed=3) > 20


def test_garbage_that_is_collected_while_a_batch_is_cut_off(store: Store, clock: FakeClock) -> None:
    """Each batch comes long after the one before: its cells are collected first, and counting begins anew."""
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

    assert everywhere(work, check, WITHIN, every=13, seed=4) > 20
