"""The instrument itself: it finds a lock that an exception leaves held, wherever that is."""

import asyncio
import gc
import threading
from contextlib import suppress

import pytest

from tests.interrupts import Cut, CutByTimer, cut_off, everywhere, soon

HERE = (__file__,)


class Counted:
    """Counts under a lock that is taken before `try`, as one should not."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.count = 0

    def add(self) -> None:
        self.lock.acquire()
        try:
            self.count += 1
        finally:
            self.lock.release()

    async def aadd(self) -> None:
        self.add()


def test_a_lock_that_stays_held_is_found() -> None:
    counted = Counted()

    def check() -> None:
        assert counted.lock.acquire(timeout=0.1)
        counted.lock.release()

    with pytest.raises(
        AssertionError, match=r"after an interrupt at .*test_interrupts.py:\d+ in `Counted.add`"
    ):
        everywhere(counted.add, check, HERE)


def test_it_strikes_at_every_step_until_there_are_no_more() -> None:
    done: list[int] = []

    def work() -> None:
        done.append(1)
        done.append(2)

    struck = everywhere(work, lambda: None, HERE)
    places = [cut_off(work, at, HERE) for at in range(1, struck + 2)]
    assert all(places[:struck])
    assert places[struck] == ""
    assert len(set(places[:struck])) == struck


def test_nothing_that_others_left_is_thrown_away_meanwhile() -> None:
    """Steps of its `__del__` would be struck, and the exception would come out nowhere."""
    collected: list[str] = []

    def note(phase: str, _info: dict[str, int]) -> None:
        collected.append(phase)

    usual = gc.get_threshold()
    gc.set_threshold(1)
    gc.callbacks.append(note)
    try:
        [[] for _ in range(100)]
        assert collected, "it is asked for at every chance"

        def work() -> None:
            collected.clear()
            kept: list[list[int]] = [[number] for number in range(100)]
            assert len(kept) == 100
            assert collected == []

        assert cut_off(work, 100_000, HERE) == ""
    finally:
        gc.callbacks.remove(note)
        gc.set_threshold(*usual)


@pytest.mark.filterwarnings(
    "ignore:coroutine:RuntimeWarning"
)  # one that is cut off before it is awaited
@pytest.mark.parametrize("error", [Cut, CutByTimer])
def test_it_strikes_on_an_event_loop(error: type[BaseException]) -> None:
    counted = Counted()

    def work() -> None:
        asyncio.run(counted.aadd())

    at = 0
    while not counted.lock.locked():
        at += 1
        assert cut_off(work, at, HERE, error)
    assert at > 1


def test_what_is_stuck_fails_instead_of_waiting() -> None:
    held = threading.Lock()
    with held, pytest.raises(AssertionError, match="it is stuck at"):
        soon(held.acquire, patience_s=0.1)
    with suppress(RuntimeError):
        held.release()
