"""A queue before a store: in order, bounded, with a deadline; whoever leaves, however it comes,
makes room at once."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from stanchion.kernel.state import Batch, Crowded, Line, StoreLost, key
from stanchion.stores.protocol import StoreError
from stanchion.stores.queue import BEATS, Room, Visit, VisitQueue, finishes
from stanchion.testing.clock import FakeClock
from tests.interrupts import everywhere, files

FOREVER_S = 60.0
SHORT_S = 0.001


def a_queue(places: int = 1, most: int = 100, patience_s: float = FOREVER_S) -> VisitQueue:
    """A queue in a room of its own."""
    return VisitQueue(places, Room("redis://here", most, patience_s))


def taken(queue: VisitQueue) -> Visit:
    """A place that somebody has."""
    place = Visit()
    queue.take(place)
    return place


async def waiting(queue: VisitQueue, many: int) -> None:
    """Let tasks run until so many wait."""
    while len(queue.room.waiting) < many:
        await asyncio.sleep(0)


def test_everybody_goes_in_the_order_in_which_they_came() -> None:
    queue = a_queue(places=2, most=200)
    went: list[int] = []
    at_once: list[int] = []

    async def one(number: int) -> None:
        place = Visit()
        await queue.atake(place)
        went.append(number)
        at_once.append(len(queue.seated))
        await asyncio.sleep(0)
        queue.leave(place)

    async def all_of_them() -> None:
        await asyncio.gather(*[one(number) for number in range(200)])

    asyncio.run(all_of_them())
    assert went == list(range(200))
    assert max(at_once) == 2
    assert not queue.seated
    assert not queue.room.waiting


def test_threads_and_tasks_stand_in_one_queue() -> None:
    queue = a_queue()
    first = taken(queue)
    went: list[str] = []

    def thread() -> None:
        place = Visit()
        queue.take(place)
        went.append("thread")
        queue.leave(place)

    async def task(name: str) -> None:
        place = Visit()
        await queue.atake(place)
        went.append(name)
        queue.leave(place)

    async def three() -> None:
        before = asyncio.create_task(task("before"))
        await waiting(queue, 1)
        running = threading.Thread(target=thread)
        running.start()
        await waiting(queue, 2)
        after = asyncio.create_task(task("after"))
        await waiting(queue, 3)
        queue.leave(first)
        await asyncio.gather(before, after, asyncio.to_thread(running.join))

    asyncio.run(three())
    assert went == ["before", "thread", "after"]


def test_who_finishes_something_goes_first() -> None:
    queue = a_queue()
    first = taken(queue)
    went: list[str] = []

    async def one(name: str, finishing: bool) -> None:
        place = Visit()
        await queue.atake(place, finishing)
        went.append(name)
        queue.leave(place)

    async def all_of_them() -> None:
        tasks = []
        for number, (name, finishing) in enumerate(
            [("a", False), ("b", False), ("c", True), ("d", True)]
        ):
            tasks.append(asyncio.create_task(one(name, finishing)))
            await waiting(queue, number + 1)
        queue.leave(first)
        await asyncio.gather(*tasks)

    asyncio.run(all_of_them())
    assert went == ["c", "d", "a", "b"]
    assert finishes(Batch("b", settles=(("a", None),)))
    assert not finishes(Batch("b", lines=(Line(key("t", "a")),)))


def test_a_full_queue_refuses_at_once_and_still_lets_in_who_finishes() -> None:
    queue = a_queue(most=3)
    first = taken(queue)

    async def full() -> None:
        places = [Visit() for _ in range(3)]
        tasks = [asyncio.create_task(queue.atake(place)) for place in places]
        await waiting(queue, 3)
        late = Visit()
        with pytest.raises(
            Crowded,
            match=r"^3 other calls in this process wait for `redis://here`, and .* 0 s: try again",
        ):
            await queue.atake(late)
        queue.leave(late)
        places += [Visit() for _ in range(3)]
        tasks += [asyncio.create_task(queue.atake(place, True)) for place in places[3:]]
        await waiting(queue, 6)
        with pytest.raises(Crowded, match=r"^6 other calls"):
            await queue.atake(Visit(), True)
        queue.leave(first)
        for task, place in [
            *zip(tasks[3:], places[3:], strict=True),
            *zip(tasks[:3], places[:3], strict=True),
        ]:
            await task
            queue.leave(place)

    asyncio.run(full())
    assert not queue.seated
    assert not queue.room.waiting


def test_all_queues_of_a_room_share_its_bound() -> None:
    room = Room("redis://here", 1, SHORT_S)
    queues = [VisitQueue(1, room), VisitQueue(1, room)]
    for queue in queues:
        taken(queue)

    async def two() -> None:
        waits = asyncio.create_task(queues[0].atake(Visit()))
        await asyncio.sleep(0)
        with pytest.raises(Crowded, match=r"^1 other calls .* waited 0 s"):
            await queues[1].atake(Visit())
        with pytest.raises(Crowded, match=r"^0 other calls"):
            await waits

    asyncio.run(two())


def test_a_refusal_says_how_many_wait_and_how_long_it_was() -> None:
    clock = FakeClock(0)
    queue = VisitQueue(1, Room("redis://here", 100, SHORT_S, lambda: clock() / 1000))
    taken(queue)

    async def waits() -> Crowded:
        place = Visit()
        others = [asyncio.create_task(queue.atake(Visit())) for _ in range(4)]
        await waiting(queue, 4)
        mine = asyncio.create_task(queue.atake(place))
        await waiting(queue, 5)
        clock.advance(2_500)
        with pytest.raises(Crowded) as refused:
            await mine
        await asyncio.gather(*others, return_exceptions=True)
        return refused.value

    said = asyncio.run(waits())
    assert said.waited_ms == 2_500
    assert said.said[1] == "2.5"
    assert said.others == int(said.said[0])
    assert isinstance(said, StoreLost)


def test_a_loop_that_was_held_up_refuses_nobody_for_that(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long one turn of it took: those who wait have had no chance."""
    queue = a_queue(patience_s=10)
    first = taken(queue)

    async def held_up() -> None:
        loop = asyncio.get_running_loop()
        real, ahead = loop.time, 0.0
        monkeypatch.setattr(loop, "time", lambda: real() + ahead)
        place = Visit()
        tasks = [asyncio.create_task(queue.atake(one)) for one in (place, Visit())]
        await waiting(queue, 2)

        async def later(seconds: float) -> None:
            nonlocal ahead
            ahead += seconds
            for _ in range(5):
                await asyncio.sleep(0)

        await later(3_600)
        assert not tasks[0].done()
        queue.leave(first)
        await tasks[0]
        for _ in range(BEATS):
            await later(1.01)
        with pytest.raises(Crowded, match=r"^0 other calls"):
            await tasks[1]
        queue.leave(place)

    asyncio.run(held_up())


def test_whoever_is_cancelled_makes_room_at_once() -> None:
    queue = a_queue(most=2)
    first = taken(queue)

    async def one(place: Visit) -> None:
        try:
            await queue.atake(place)
        finally:
            queue.leave(place)

    async def cancelled() -> None:
        tasks = [asyncio.create_task(one(Visit())) for _ in range(2)]
        await waiting(queue, 2)
        tasks[0].cancel()
        await asyncio.wait(tasks[:1])
        assert len(queue.room.waiting) == 1
        tasks.append(asyncio.create_task(one(Visit())))
        await waiting(queue, 2)
        queue.leave(first)
        tasks[1].cancel()  # it has its place already, and does not know it yet
        await asyncio.gather(*tasks, return_exceptions=True)
        assert tasks[2].exception() is None

    asyncio.run(cancelled())
    assert not queue.seated


def test_a_loop_that_is_gone_holds_nobody_up() -> None:
    queue = a_queue()
    first = taken(queue)
    gone = asyncio.new_event_loop()
    tasks: list[asyncio.Task[None]] = []

    async def waits() -> None:
        tasks.append(gone.create_task(queue.atake(Visit())))
        await waiting(queue, 1)

    gone.run_until_complete(waits())
    gone.close()
    last = Visit()
    came = threading.Thread(target=lambda: queue.take(last))
    came.start()
    while len(queue.room.waiting) < 2:
        pass
    queue.leave(first)
    came.join()
    assert queue.seated == {last}


def test_nobody_waits_for_a_store_that_is_lost() -> None:
    queue = a_queue()
    taken(queue)

    async def lost() -> list[Any]:
        tasks = [asyncio.create_task(queue.atake(Visit())) for _ in range(20)]
        await waiting(queue, 20)
        queue.room.turn_away("it burns")
        return await asyncio.gather(*tasks, return_exceptions=True)

    said = asyncio.run(lost())
    assert [type(each) for each in said] == [StoreLost] * 20
    assert {str(each) for each in said} == {"it burns"}


@pytest.mark.parametrize(("most", "patience_s"), [(0, 1.0), (1, 0.0), (-3, 1.0), (1, float("nan"))])
def test_bounds_that_make_no_sense(most: int, patience_s: float) -> None:
    with pytest.raises(StoreError, match="must be above zero"):
        Room("redis://here", most, patience_s)


def used(queue: VisitQueue) -> None:
    """Take a place and leave it, as the pools do."""
    place = Visit()
    try:
        try:
            queue.take(place)
        finally:
            queue.leave(place)
    finally:
        queue.leave(place)


def refused(queue: VisitQueue) -> None:
    """The same where another has the only place."""
    try:
        used(queue)
    except Crowded:
        return
    raise AssertionError("there was no place")


def awaited(queue: VisitQueue) -> None:
    """Two tasks of which one waits for the other."""

    async def one() -> None:
        place = Visit()
        try:
            try:
                await queue.atake(place)
                await asyncio.sleep(0)
            finally:
                queue.leave(place)
        finally:
            queue.leave(place)

    async def two() -> None:
        await asyncio.gather(one(), one())

    asyncio.run(two())


@pytest.mark.parametrize("work", [used, refused, awaited])
def test_whatever_is_cut_off_leaves_the_queue_as_it_was(work: Callable[[VisitQueue], None]) -> None:
    queue = a_queue(places=1, most=1, patience_s=SHORT_S)
    held = [taken(queue)] if work is refused else []

    def check() -> None:
        assert queue.seated == set(held), "somebody still has a place"
        assert not queue.room.waiting, "somebody still waits"
        for place in held:
            queue.leave(place)
        used(queue)
        held[:] = [taken(queue) for _ in held]

    assert everywhere(lambda: work(queue), check, files("locks", "stores/queue.py"), every=3) > 20


def test_who_is_collected_as_garbage_where_the_lock_is_held_is_taken_out_later() -> None:
    queue = a_queue()
    place = taken(queue)
    with queue.room.lock:
        queue.leave(place)
    last = taken(queue)
    assert queue.seated == {last}
