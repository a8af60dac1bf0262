"""The lock outlives whoever was cut off while it held it, and keeps out everybody else as long as
nobody was."""

import asyncio
import threading
from collections.abc import Iterator
from itertools import chain, repeat
from types import SimpleNamespace

import pytest

from stanchion.audit.marks import DiskMarks
from stanchion.locks import Bell, Lock, Reentrant, has_ended
from tests.interrupts import Cut, CutByTimer, everywhere, files, soon

WITHIN = (*files("locks"), __file__)


class Pair:
    """Two numbers that are always equal, except to who is cut off between them."""

    def __init__(self) -> None:
        self.lock = Lock(self.mend)
        self.left = self.right = 0

    def mend(self) -> None:
        self.left = self.right

    def add(self) -> None:
        with self.lock:
            assert self.left == self.right
            self.left += 1
            self.right += 1

    def try_to_add(self) -> None:
        with self.lock.within(5) as held:
            assert held
            assert self.left == self.right
            self.left += 1
            self.right += 1


@pytest.mark.parametrize("error", [Cut, CutByTimer])
@pytest.mark.parametrize("add", [Pair.add, Pair.try_to_add])
def test_whoever_is_cut_off_anywhere_leaves_it_usable_and_whole(
    add: object, error: type[BaseException]
) -> None:
    pair = Pair()
    assert callable(add)
    struck = everywhere(lambda: add(pair), pair.add, WITHIN, error=error)
    assert struck > 30
    assert not pair.lock.locked


def test_one_who_comes_again_in_the_same_frame_takes_over_from_itself() -> None:
    lock, mended = Lock(lambda: mended.append(1)), list[int]()
    lock.__enter__()  # and nothing that lets go of it
    with lock:
        assert mended == [1]
    assert not lock.locked


def test_waiting_is_cut_off_as_well() -> None:
    pair = Pair()

    def work() -> None:
        def hold() -> None:
            with pair.lock:
                held.set()
                while not (pair.lock.awaited or go.is_set()):
                    go.wait(0.001)

        held, go = threading.Event(), threading.Event()
        holder = threading.Thread(target=hold)
        holder.start()
        held.wait()
        try:
            pair.add()
        finally:
            go.set()
            holder.join()

    everywhere(work, pair.add, files("locks"), every=7, seed=3)


def test_nobody_takes_over_from_one_who_is_at_work() -> None:
    lock, inside, seen = Lock(), list[int](), list[int]()

    def work() -> None:
        for _ in range(300):
            with lock:
                inside.append(1)
                seen.append(len(inside))
                sum(range(200))
                inside.pop()

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(seen) == {1}
    assert len(seen) == 2_400


def test_nobody_takes_over_from_a_frame_that_rests() -> None:
    lock = Lock()

    def resting() -> Iterator[int]:
        with lock:
            yield 1

    rests = resting()
    next(rests)
    with lock.within(0.05) as held:
        assert not held
    assert list(rests) == []
    with lock.within(0) as held:
        assert held


def test_who_gives_up_lets_everybody_else_go_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its time is over just after it was to go first."""
    clock = chain([0.0, 0.02, 0.04], repeat(0.06))
    lock = Lock()
    assert lock.take(0)
    monkeypatch.setattr("stanchion.locks.lock.time", SimpleNamespace(monotonic=lambda: next(clock)))
    assert not lock.take(0.05)
    lock.give_back()
    assert lock.take(0)


@pytest.mark.filterwarnings(
    "ignore:coroutine:RuntimeWarning"
)  # one that is cut off before it is awaited
def test_generators_and_coroutines_that_are_cut_off_leave_it_usable_and_whole() -> None:
    pair = Pair()

    def steps() -> Iterator[int]:
        yield 1
        with pair.lock:
            pair.left += 1
            pair.right += 1
        yield 2

    async def task() -> None:
        await asyncio.sleep(0)
        with pair.lock:
            pair.left += 1
            pair.right += 1

    assert everywhere(lambda: list(steps()), pair.add, WITHIN) > 30
    assert everywhere(lambda: asyncio.run(task()), pair.add, WITHIN) > 30


def test_asking_about_one_that_rests_does_not_end_it() -> None:
    def counting() -> Iterator[int]:
        yield from range(3)

    numbers = counting()
    next(numbers)
    frame = numbers.gi_frame  # type: ignore[attr-defined]  # an iterator to who uses it
    assert not has_ended(frame)
    assert list(numbers) == [1, 2]
    assert has_ended(frame)


def test_what_is_taken_is_held_beyond_the_frame_until_it_is_given_back() -> None:
    lock = Lock()

    def take() -> bool:
        return lock.take(0)

    assert take()
    assert not take()
    lock.give_back()
    assert take()
    lock.give_back()
    soon(lambda: lock.take(0))
    assert not take()


def test_a_body_that_raises_is_mended_and_one_that_does_not_is_left_alone() -> None:
    mended: list[int] = []
    lock = Lock(lambda: mended.append(1))
    with lock:
        pass
    assert mended == []
    with pytest.raises(ValueError, match="no"), lock:
        raise ValueError("no")
    assert mended == [1]
    assert not lock.locked


def test_one_that_may_come_again_is_let_go_of_by_the_first_alone() -> None:
    lock = Reentrant()

    def inner() -> None:
        with lock:
            assert lock.locked

    def outer() -> None:
        with lock:
            inner()
            assert lock.locked
            with pytest.raises(AssertionError, match="it is stuck"):
                soon(inner, patience_s=0.1)

    outer()
    soon(inner)
    assert not lock.locked


def test_one_that_may_come_again_outlives_whoever_is_cut_off() -> None:
    lock = Reentrant()

    def inner() -> None:
        with lock:
            assert lock.locked

    def outer() -> None:
        with lock:
            inner()

    assert everywhere(outer, outer, WITHIN) > 30
    assert not lock.locked


def test_whoever_sets_a_bell_is_cut_off_and_the_next_one_still_wakes_who_waits() -> None:
    bell = Bell()

    def check() -> None:
        bell.set()
        assert bell.wait(60)
        bell.clear()
        bell.wait(0)
        assert not bell.wait(0)

    assert everywhere(bell.set, check, WITHIN) > 3


def test_whoever_waits_for_the_disk_or_tells_of_it_is_cut_off() -> None:
    marks = DiskMarks(0)

    def tell() -> None:
        marks.reached(marks._synced + 1)

    def wait() -> None:
        teller = threading.Thread(target=tell)
        marks.wait(marks._synced + 1, 60, teller.start)
        teller.join()

    def check() -> None:
        wait()
        marks._bells.clear()

    assert everywhere(wait, check, files("audit"), every=3) > 10
    assert everywhere(tell, check, files("audit")) > 3
    assert not marks._lock.locked


def test_one_who_hardly_lets_go_keeps_nobody_out() -> None:
    lock, begun, others = Lock(), threading.Event(), list[int]()
    turns = 0

    def often() -> None:
        nonlocal turns
        while len(others) < 1_000 and turns < 10_000:
            with lock:
                begun.set()
                turns += 1
                sum(range(3_000))

    busy = threading.Thread(target=often, daemon=True)
    busy.start()
    begun.wait()
    for turn in range(1_000):
        with lock:
            others.append(turn)
    busy.join()
    assert turns < 10_000
