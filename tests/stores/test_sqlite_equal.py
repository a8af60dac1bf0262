"""On any batches and any interleaving the SQLite store does what the memory store does, which the
model checks."""

import os
import random
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

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
from stanchion.stores.sqlite import SqliteStore
from stanchion.testing.clock import FakeClock
from stanchion.testing.interleave import Interleaved, interleave
from stanchion.testing.store_suite.chance import random_batch
from tests.stores.several import OpenedAgain, TakingTurns, two

SOAK: Final = bool(os.environ.get("STANCHION_SOAK"))
SEEDS: Final = range(200 if SOAK else 3)
CASES: Final = 2_000 if SOAK else 30
MADE: Final[dict[str, Callable[[Path, FakeClock], Store]]] = {
    "one": SqliteStore,
    "two": lambda path, clock: TakingTurns(two(path, clock)),
    "opened-again": OpenedAgain,
}


def with_idle_times(batch: Batch, drawn: random.Random) -> Batch:
    """The batch with lines whose counters are soon forgotten, or never."""
    lines = tuple(
        line._replace(idle_s=drawn.choice((0, 1, 3, 10, 604_800))) for line in batch.lines
    )
    return Batch(
        batch.id,
        batch.tenant,
        batch.go,
        batch.expects,
        batch.settles,
        lines,
        batch.amounts,
        batch.puts,
        batch.ceiling,
    )


@pytest.mark.parametrize("made", MADE)
@pytest.mark.parametrize("seed", SEEDS)
def test_batches(seed: int, made: str, tmp_path: Path) -> None:
    """Replies, cells and holds are equal after every batch, also where cells are forgotten."""
    drawn = random.Random(seed)
    clock = FakeClock()
    store, memory = MADE[made](tmp_path / "state.db", clock), MemoryStore(clock)
    for number in range(150):
        clock.advance(
            drawn.choice((0, 0, 1, 400, 3_000, 3_000, 12_000, 700_000_000 if number == 100 else 0))
        )
        batch = with_idle_times(random_batch(drawn, number), drawn)
        assert store.carry(batch) == memory.carry(batch)
        assert list(store.look()) == list(memory.look())
        assert list(store.holds()) == list(memory.holds())
    store.close()


def test_the_model(tmp_path: Path) -> None:
    """Replies are those of the model, which knows the whole history."""
    for case in drawn_cases(CASES, (1, 30)):
        drawn = case.drawn(0)
        clock = FakeClock()
        store = TakingTurns(two(tmp_path / f"{case.seed}.db", clock))
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
        store.close()


def interleaved(case: Case, make: Callable[[FakeClock], Store]) -> Interleaved:
    """Decisions of several processes, made at once on one store."""
    policy = DrawnPolicy(case)
    clock = FakeClock()
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

    store = make(clock)
    try:
        return interleave(deciding, store, drawn.randrange, answer, pass_time)
    finally:
        store.close()


def test_interleaved_decisions(tmp_path: Path) -> None:
    """The same decisions are made, by the same trips with the same replies."""
    for case in drawn_cases(CASES, (8, 12)):
        sqlite = interleaved(case, partial(MADE["two"], tmp_path / f"{case.seed}.db"))
        assert sqlite == interleaved(case, MemoryStore), case
