"""On any batches and any interleaving the Redis store does what the memory store and the model
do."""

import os
import random
from collections.abc import Callable, Iterator
from typing import Any, Final

import msgspec
import pytest

from model.properties import check_batches, check_decisions, check_interleaved
from model.trial import drawn_cases
from stanchion.kernel.state import Batch, Line, Reply
from stanchion.stores.memory import MemoryStore
from stanchion.stores.protocol import Store
from stanchion.stores.redis import RedisStore
from stanchion.stores.seen import SeenCell
from stanchion.testing.clock import FakeClock
from stanchion.testing.store_suite.chance import COUNTERS, random_batch
from tests.stores import redis_server
from tests.stores.redis_server import Server, make

server = redis_server.server

SOAK: Final = bool(os.environ.get("STANCHION_SOAK"))
SEEDS: Final = range(200 if SOAK else 4)
DRAWN: Final = 3_000 if SOAK else 20

Make = Callable[[FakeClock], Store]


class OneTenant(RedisStore):
    """A store that takes all batches for those of one tenant, as a store does that does not tell
    tenants apart."""

    def carry(self, batch: Batch) -> Reply:
        """Carry a batch out for the tenant."""
        return super().carry(msgspec.structs.replace(batch, tenant="one"))


def written(cells: Iterator[SeenCell]) -> list[tuple[Any, ...]]:
    """Cells that something is in; on the memory store a line that took nothing leaves one, and a
    refusal touches it."""
    return [(cell.key, cell.number, cell.value, cell.live) for cell in cells if cell.number]


def compare_batches(make: Make, seed: int, count: int = 200) -> None:
    """Replies are those of the memory store, and so is everything that is seen."""
    drawn = random.Random(seed)
    clock = FakeClock()
    store, memory = make(clock), MemoryStore(clock)
    try:
        for number in range(count):
            clock.advance(drawn.choice((0, 0, 1, 400, 3_000)))
            batch = random_batch(drawn, number)
            assert store.carry(batch) == memory.carry(batch)
            if number % 10 == 0:
                assert written(store.look()) == written(memory.look())
                assert list(store.holds()) == list(memory.holds())
    finally:
        store.close()


def compare_forgetting(make: Make, seed: int, count: int = 100) -> None:
    """The same where cells are forgotten soon or never, and each line of a batch takes."""
    drawn = random.Random(seed)
    clock = FakeClock()
    store, memory = make(clock), MemoryStore(clock)
    try:
        for number in range(count):
            clock.advance(
                drawn.choice((0, 1, 400, 3_000, 12_000))
                + (700_000_000 if number == count // 2 else 0)
            )
            batch = random_batch(drawn, number)
            idle = [
                line._replace(idle_s=drawn.choice((0, 1, 3, 10, 604_800)), bands=())
                for line in batch.lines
            ]
            amounts = (batch.amounts[0] + 1, batch.amounts[1] + 1, 0, 0, 0)
            batch = msgspec.structs.replace(batch, lines=tuple(idle), amounts=amounts)
            assert store.carry(batch) == memory.carry(batch)
            assert list(store.look()) == list(memory.look())
            assert list(store.holds()) == list(memory.holds())
    finally:
        store.close()


def compare_windows(make: Make, seed: int, count: int = 120) -> None:
    """The same for windows that lose one bucket or several at once, and for corrections in all of
    their buckets."""
    drawn = random.Random(seed)
    clock = FakeClock()
    store, memory = make(clock), MemoryStore(clock)
    try:
        for number in range(count):
            clock.advance(drawn.choice((0, 300, 900, 1_100, 2_500, 7_000)))
            hold_ms = drawn.choice((0, 1_000, 8_000, 30_000))
            line = Line(COUNTERS[0], window_ms=16_000, hold_ms=hold_ms, keep=drawn.random() < 0.5)
            actual = None if drawn.random() < 0.3 else (drawn.randint(0, 9), 0, 0, 0, 0)
            settles = ((f"b{drawn.randint(0, number)}", actual),) if drawn.random() < 0.4 else ()
            batch = Batch(
                f"b{number}",
                "suite",
                settles=settles,
                lines=(line,),
                amounts=(drawn.randint(0, 5), 0, 0, 0, 0),
            )
            assert store.carry(batch) == memory.carry(batch)
            assert written(store.look()) == written(memory.look())
    finally:
        store.close()


@pytest.mark.parametrize("seed", SEEDS)
def test_windows(seed: int, server: Server) -> None:
    compare_windows(make(server), seed)


@pytest.mark.parametrize("seed", SEEDS)
def test_batches(seed: int, server: Server) -> None:
    compare_batches(make(server), seed)


@pytest.mark.parametrize("seed", SEEDS)
def test_batches_whose_cells_are_forgotten(seed: int, server: Server) -> None:
    compare_forgetting(make(server), seed)


def one_tenant(server: Server) -> Make:
    """How the properties make an empty store."""

    def empty(clock: FakeClock) -> OneTenant:
        server.ask("FLUSHALL")
        return OneTenant(server.url, clock=clock)

    return empty


def test_batches_of_the_model(server: Server) -> None:
    for case in drawn_cases(DRAWN, (1, 30)):
        check_batches(case, one_tenant(server))


def test_decisions_of_the_model(server: Server) -> None:
    for case in drawn_cases(DRAWN, (1, 12)):
        check_decisions(case, one_tenant(server))


def test_interleaved_decisions_of_the_model(server: Server) -> None:
    for case in drawn_cases(DRAWN, (8, 12)):
        check_interleaved(case, one_tenant(server))
