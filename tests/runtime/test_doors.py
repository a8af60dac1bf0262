"""Thousands that begin at once wait outside, with nothing in memory but their place; none waits for
ever."""

import asyncio
from typing import Any

import pytest

from stanchion import Refused, Run, Shield
from stanchion.audit.journal import MemoryJournal
from stanchion.kernel.state import Batch, Reply
from stanchion.runtime.driving.doors import INSIDE
from stanchion.stores.memory import MemoryStore
from stanchion.stores.queue import Room
from tests.interrupts import Cut, everywhere, files

POLICY = {"name": "p", "guards": [{"use": "budget", "calls": 100_000}]}


class Slow(MemoryStore):
    """Answers when it is told to."""

    def __init__(self, room: Room | None = None) -> None:
        super().__init__()
        self.room = room
        self.asked = 0
        self.goes = asyncio.Event()

    async def acarry(self, batch: Batch) -> Reply:
        self.asked += 1
        await self.goes.wait()
        return self.carry(batch)

    def carry_at_once(self, _batch: Batch) -> None:
        """It never does."""


async def tool(number: int) -> int:
    return number


def calls(run: Run, how_many: int, fn: Any = tool) -> "list[asyncio.Task[int]]":
    return [asyncio.create_task(run.acall(fn, number=number)) for number in range(how_many)]


async def turns(how_many: int = 5) -> None:
    for _ in range(how_many):
        await asyncio.sleep(0)


def test_so_many_are_inside_and_all_are_served_in_their_order() -> None:
    async def all_of_it() -> None:
        store, begun = Slow(), list[int]()

        async def noted(number: int) -> int:
            begun.append(number)
            return number

        tasks = calls(
            Shield.load(POLICY, store=store, journal=MemoryJournal()).run("ann"), 5 * INSIDE, noted
        )
        await turns()
        assert store.asked == INSIDE
        store.goes.set()
        assert await asyncio.gather(*tasks) == list(range(5 * INSIDE))
        assert begun == sorted(begun)

    asyncio.run(all_of_it())


def test_one_that_is_at_work_is_inside_no_longer_so_that_work_may_call_others() -> None:
    async def all_of_it() -> None:
        run = Shield.load(POLICY, store=MemoryStore(), journal=MemoryJournal()).run("ann")

        async def outer(number: int) -> int:
            await turns(3)
            given = await run.acall(tool, number=number)
            assert isinstance(given, int)
            return given

        assert await asyncio.gather(*calls(run, 3 * INSIDE, outer)) == list(range(3 * INSIDE))

    asyncio.run(all_of_it())


def test_one_that_is_not_let_in_is_told_and_it_is_on_record() -> None:
    async def all_of_it() -> None:
        store, journal = Slow(Room("slow", patience_s=0.01)), MemoryJournal()
        run = Shield.load(POLICY, store=store, journal=journal).run("ann")
        tasks = calls(run, INSIDE + 3)
        done, _ = await asyncio.wait(tasks[INSIDE:])
        store.goes.set()
        for task in done:
            with pytest.raises(
                Refused, match=r"others wait for the state store, and this has waited \d"
            ) as refused:
                task.result()
            assert refused.value.decision.code == "kernel.crowded"
        assert await asyncio.gather(*tasks[:INSIDE]) == list(range(INSIDE))
        told = [kept for kept in journal.kept() if b"kernel.crowded" in kept.body]
        assert len(told) == 3

    asyncio.run(all_of_it())


def test_one_that_gives_up_outside_holds_nobody_up() -> None:
    async def all_of_it() -> None:
        store = Slow()
        run = Shield.load(POLICY, store=store, journal=MemoryJournal()).run("ann")
        tasks = calls(run, 2 * INSIDE)
        await turns()
        for task in tasks[INSIDE + 1 :]:
            task.cancel()
        await turns()
        for task in tasks[:INSIDE:2]:
            task.cancel()
        store.goes.set()
        left = await asyncio.gather(*tasks, return_exceptions=True)
        assert [one for one in left if isinstance(one, int)] == [*range(1, INSIDE, 2), INSIDE]
        assert await run.acall(tool, number=7) == 7

    asyncio.run(all_of_it())


@pytest.mark.filterwarnings("ignore:coroutine:RuntimeWarning")
def test_whoever_is_cut_off_at_the_door_leaves_it_usable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stanchion.runtime.driving.doors.INSIDE", 1)
    run = Shield.load(POLICY, store=MemoryStore(), journal=MemoryJournal()).run("ann")
    loop = asyncio.new_event_loop()

    def work() -> None:
        loop.run_until_complete(run.acall(tool, number=1))

    def check() -> None:
        assert loop.run_until_complete(asyncio.wait_for(run.acall(tool, number=2), 60)) == 2

    try:
        assert (
            everywhere(work, check, files("runtime/driving/doors.py", "stores/queue.py"), error=Cut)
            > 100
        )
    finally:
        loop.close()
