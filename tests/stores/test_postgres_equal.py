"""On any batches and any interleaving the PostgreSQL store does what the memory store and the model
do."""

import os
import random
from collections.abc import Iterator
from typing import Any, Final

import pytest

from model.drawn.case import Case
from model.drawn.moments import draw_step
from model.drawn.policy import DrawnPolicy
from model.properties import NO_AGE, Processes
from model.store import StoreModel
from model.trial import drawn_cases
from stanchion.kernel.engine import decide
from stanchion.kernel.lookups import Answer, Lookup
from stanchion.kernel.state import Batch
from stanchion.stores.memory import MemoryStore
from stanchion.stores.protocol import Store
from stanchion.stores.seen import SeenCell
from stanchion.testing.clock import FakeClock
from stanchion.testing.interleave import Interleaved, interleave
from stanchion.testing.store_suite.chance import random_batch
from tests.stores.servers import Empty, Place, place

__all__ = ["place"]

SOAK: Final = bool(os.environ.get("STANCHION_SOAK"))
SEEDS: Final = range(100 if SOAK else 3)
CASES: Final = 1_000 if SOAK else 25


@pytest.fixture
def empty(place: Place) -> Empty:
    """Two stores that take turns and can be made an empty one again."""
    return Empty(place)


def written(cells: Iterator[SeenCell]) -> list[tuple[Any, ...]]:
    """Cells that something is in. A line that takes nothing leaves none here, and a refusal touches
    none."""
    return [(cell.key, cell.number, cell.value, cell.live) for cell in cells if cell.number]


def compare_batches(empty: Empty, seed: int, count: int = 150, every: int = 5) -> None:
    """Replies are those of the memory store, and so are the cells and holds that are seen."""
    drawn = random.Random(seed)
    clock = FakeClock()
    store, memory = empty.store(clock), MemoryStore(clock)
    for number in range(count):
        clock.advance(drawn.choice((0, 0, 1, 400, 3_000)))
        batch = random_batch(drawn, number)
        assert store.carry(batch) == memory.carry(batch)
        if number % every == 0:
            assert written(store.look()) == written(memory.look())
            assert list(store.holds()) == list(memory.holds())


def soon_forgotten(batch: Batch, drawn: random.Random) -> Batch:
    """The batch with counters that are forgotten soon or never, every one of which it takes
    from."""
    lines = tuple(
        line._replace(idle_s=drawn.choice((0, 1, 3, 10, 604_800)), bands=()) for line in batch.lines
    )
    amounts = (batch.amounts[0] + 1, batch.amounts[1] + 1, 0, 0, 0)
    head = (batch.id, batch.tenant, batch.go, batch.expects, batch.settles)
    return Batch(*head, lines, amounts, batch.puts, batch.ceiling)


def compare_forgetting(empty: Empty, seed: int, count: int = 100) -> None:
    """Replies and everything that is seen are those of the memory store, where cells are
    forgotten."""
    drawn = random.Random(seed)
    clock = FakeClock()
    store, memory = empty.store(clock), MemoryStore(clock)
    ids: set[str] = set()
    for number in range(count):
        clock.advance(
            drawn.choice(
                (0, 0, 1, 400, 3_000, 3_000, 12_000, 700_000_000 if number == count // 2 else 0)
            )
        )
        batch = soon_forgotten(random_batch(drawn, number), drawn)
        if batch.id in ids:  # with other lines than the first time, which nobody sends
            continue
        ids.add(batch.id)
        assert store.carry(batch) == memory.carry(batch)
        assert list(store.look()) == list(memory.look())
        assert list(store.holds()) == list(memory.holds())


@pytest.mark.parametrize("seed", SEEDS)
def test_batches(seed: int, empty: Empty) -> None:
    compare_batches(empty, seed)


@pytest.mark.parametrize("seed", SEEDS)
def test_batches_whose_cells_are_forgotten(seed: int, empty: Empty) -> None:
    compare_forgetting(empty, seed)


def test_the_model(empty: Empty) -> None:
    """Replies are those of the model, which knows the whole history."""
    for case in drawn_cases(CASES, (1, 30)):
        drawn = case.drawn(0)
        clock = FakeClock()
        store = empty.store(clock)
        model = StoreModel()
        for number in range(case.moments):
            clock.advance(drawn.choice((0, 0, 1, 400, 3_000)))
            batch = random_batch(drawn, number)
            assert store.carry(batch) == model.carry(batch, clock()), case
        model.history.at(store.carry(Batch("last")).now)
        for name in {take.line.key for take in model.history.takes}:
            assert store.read(name)[0] == model.history.total(name), case
        for name in {name for name, _ in model.history.puts}:
            assert store.read(name) == model.history.record(name), case


def interleaved(case: Case, store: Store, clock: FakeClock) -> Interleaved:
    """Decisions of several processes, made at once on one store."""
    policy = DrawnPolicy(case)
    processes = Processes(policy, NO_AGE)
    steps = [draw_step(case, number, clock()) for number in range(case.moments)]
    deciding = [
        decide(processes.plans(step), step.moment, processes.records[step.process])
        for step in steps
    ]
    drawn = case.drawn(99)

    def answer(who: int, lookup: Lookup) -> Answer:
        return steps[who].answers[lookup.name]

    def pass_time() -> None:
        clock.advance(drawn.choice((0, 0, 0, 0, 1, 25)))

    return interleave(deciding, store, drawn.randrange, answer, pass_time)


def test_interleaved_decisions(empty: Empty) -> None:
    """The same decisions are made as on the memory store, by the same trips with the same
    replies."""
    for case in drawn_cases(CASES, (8, 12)):
        clock, other = FakeClock(), FakeClock()
        found = interleaved(case, empty.store(clock), clock)
        assert found == interleaved(case, MemoryStore(other), other), case
