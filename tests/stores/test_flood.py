"""Thousands at once: every call goes ahead or is told that it is crowded; nothing is counted or
done that was not."""

import asyncio
import os
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from stanchion import Refused, Shield
from stanchion.kernel.decision import Decision
from stanchion.kernel.state import Batch, Crowded, Line, StoreLost, key
from stanchion.stores.leasing import LeasingStore
from stanchion.stores.memory import MemoryStore
from stanchion.stores.protocol import Store
from stanchion.stores.redis import RedisStore
from stanchion.stores.sqlite import SqliteStore
from tests.stores import redis_server
from tests.stores.redis_server import FOREVER_S, Server, hurry
from tests.stores.servers import Place, new_place, place

__all__ = ["place"]

server = redis_server.server
SOAK: Final = bool(os.environ.get("STANCHION_SOAK"))
TASKS: Final = 10_000 if SOAK else 1_500
PATIENCE_S: Final = 30.0 if SOAK else 3_600.0
"""The usual patience is for the usual machine; where few come, they are all to be served however
slow it is."""
SHARE: Final = 3
"""One in so many calls is more than the budget allows."""
STORES: Final = ("memory", "sqlite", "redis", "postgres")


@contextmanager
def opened(name: str, folder: Path, **bounds: Any) -> Iterator[Store]:
    """A store of that kind; the bounds are for those that have a queue."""
    if name == "memory":
        yield MemoryStore()
    elif name == "sqlite":
        with closing(SqliteStore(folder / "state.db")) as sqlite:
            yield sqlite
    elif name == "redis":
        server = redis_server.shared()
        server.ask("FLUSHALL")
        with closing(RedisStore(server.url, timeout_s=FOREVER_S, **bounds)) as redis:
            yield redis
    else:
        with new_place() as made:
            yield made.open(timeout_s=60.0, pool_size=8, **bounds)


class Flood:
    """Tasks that all call a tool at once, each once, on one budget."""

    def __init__(self, store: Store, tasks: int, per: str = "run") -> None:
        self.allowed = tasks - tasks // SHARE
        policy = {"name": "flood", "guards": [{"use": "budget", "calls": self.allowed, "per": per}]}
        self._shield = Shield.load(policy, store=store, journal="memory:")
        self._tasks = tasks
        self._run = self._shield.run("ann", "flood")
        self.effects = 0
        self.said: Counter[str] = Counter()
        self.crowded: list[tuple[int, int]] = []

    async def _tool(self, number: int) -> int:
        self.effects += 1
        return number

    async def _one(self, number: int) -> None:
        try:
            assert await self._run.acall(self._tool, number=number) == number
        except Refused as refused:
            self.said[refused.decision.code] += 1
            self._heard(refused.decision)
        else:
            self.said["went"] += 1

    def _heard(self, decision: Decision) -> None:
        if decision.inputs.crowd is not None:
            others, _ = decision.inputs.crowd
            assert decision.message.startswith(
                f"{others:,} others wait for the state store, and this has waited "
            )
            assert decision.advice == "try again in a moment"
            self.crowded.append(decision.inputs.crowd)

    async def _all(self) -> None:
        await asyncio.gather(*[self._one(number) for number in range(self._tasks)])

    def let_loose(self) -> None:
        """Let them all go, and see that the sums are right."""
        asyncio.run(self._all())
        assert sum(self.said.values()) == self._tasks
        assert self.effects == self.said["went"]
        assert set(self.said) <= {"went", "budget.exceeded", "kernel.crowded"}, self.said
        assert self.effects <= self.allowed


def spent(store: Store) -> int:
    """What all budgets of a store have counted, and whether anything is still held."""
    assert not list(store.holds())
    return sum([cell.number for cell in store.look() if "budget" in cell.key])


@pytest.mark.parametrize("name", STORES)
def test_thousands_of_tasks_on_one_budget(name: str, tmp_path: Path) -> None:
    """Nobody blames a server that is there, however long the others take."""
    with opened(name, tmp_path, patience_s=PATIENCE_S) as store:
        flood = Flood(store, TASKS)
        flood.let_loose()
        if PATIENCE_S > TASKS:
            assert flood.said == {"went": flood.allowed, "budget.exceeded": TASKS // SHARE}
        assert spent(store) == flood.effects


@pytest.mark.parametrize("name", ["redis", "postgres"])
def test_more_than_may_wait_are_refused_at_once(name: str, tmp_path: Path) -> None:
    """Those who may begin go ahead and finish; the others are told how many wait, and the server is
    not blamed."""
    with opened(name, tmp_path, queue=100) as store:
        flood = Flood(store, 1_000)
        flood.let_loose()
        assert flood.said["kernel.crowded"] > 0
        assert flood.said["went"] >= 100
        assert {others for others, waited_ms in flood.crowded if not waited_ms} == {100}
        assert spent(store) == flood.effects
        again = Flood(store, 100)
        again.let_loose()
        assert again.said == {"went": again.allowed, "budget.exceeded": 100 // SHARE}


@pytest.mark.parametrize("name", ["redis", "postgres"])
def test_a_flood_on_a_budget_of_the_whole_fleet(name: str, tmp_path: Path) -> None:
    """What was never sent has taken nothing of the slices, so that nothing of the budget is
    lost."""
    with opened(name, tmp_path, queue=50) as inner:
        store = LeasingStore(inner)
        flood = Flood(store, 600, per="fleet")
        flood.let_loose()
        assert flood.said["kernel.crowded"] > 0
        store.give_back()
        assert spent(inner) == flood.effects


@pytest.mark.parametrize("name", ["redis", "postgres"])
def test_nobody_is_told_of_a_crowd_where_the_server_is_gone(
    name: str, server: Server, place: Place
) -> None:
    """Those who wait are told at once, however long they would have waited."""
    own = Server()
    store: Store
    if name == "redis":
        store = RedisStore(own.url, patience_s=600)
        hurry(store, 0.2)
        own.freeze()
    else:
        store = place.open(pool_size=2, patience_s=600)
        store.carry(Batch("first", "t", lines=(Line(key("t", "a")),)))
    batches = [Batch(f"b{number}", "t", lines=(Line(key("t", "a")),)) for number in range(500)]

    async def all_of_them() -> list[Any]:
        return await asyncio.gather(
            *[store.acarry(batch) for batch in batches], return_exceptions=True
        )

    if name == "redis":
        said = asyncio.run(all_of_them())
        own.thaw()
    else:
        place.server.stop("immediate")
        try:
            said = asyncio.run(all_of_them())
        finally:
            place.server.start()
    own.stop()
    store.close()
    assert all(isinstance(each, StoreLost) and not isinstance(each, Crowded) for each in said)
