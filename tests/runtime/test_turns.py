"""Turns: whoever is cut off while it stands in line, or leaves it, holds nobody up."""

import asyncio

import pytest

from stanchion.kernel.state import Moved
from stanchion.runtime.driving.turns import PATIENCE_S, Courtesy, Turns
from tests.interrupts import Cut, CutByTimer, everywhere, files

WITHIN = files("runtime/driving/turns.py", "locks")
MOVED = Moved("{ann}record")

pytestmark = pytest.mark.filterwarnings(
    "ignore:coroutine:RuntimeWarning"
)  # one that is cut off before it is awaited


def stand(turns: Turns) -> bool:
    """Wait in line as the sync driver does; says whether the turn came."""
    line = Courtesy(turns)
    try:
        place = line.join(MOVED)
        assert place is not None
        place.wait(PATIENCE_S * 100)
        return place.called
    finally:
        line.leave()


async def astand(turns: Turns) -> bool:
    """The same as the async driver does it."""
    line = Courtesy(turns)
    try:
        place = line.join(MOVED)
        assert place is not None
        await place.await_turn(PATIENCE_S * 100)
        return place.called
    finally:
        line.leave()


@pytest.mark.parametrize("error", [Cut, CutByTimer])
def test_a_call_that_is_cut_off_in_line(error: type[BaseException]) -> None:
    turns = Turns()

    def check() -> None:
        assert stand(turns)
        assert asyncio.run(astand(turns))
        assert not turns.lines

    assert everywhere(lambda: stand(turns), check, WITHIN, error=error, every=5) > 20


@pytest.mark.parametrize("error", [Cut, KeyboardInterrupt])
def test_a_task_that_is_cut_off_in_line(error: type[BaseException]) -> None:
    turns = Turns()

    def check() -> None:
        assert stand(turns)
        assert not turns.lines

    assert everywhere(lambda: asyncio.run(astand(turns)), check, WITHIN, error=error, every=5) > 20


def test_leaving_twice_is_no_trouble() -> None:
    turns = Turns()
    line = Courtesy(turns)
    place = line.join(MOVED)
    assert place is not None
    turns.leave(MOVED.key, place)
    line.leave()
    line.leave()
    assert stand(turns)


def test_one_behind_another_that_was_cut_off_goes_on() -> None:
    """The one in front ends without a word while the other waits already."""
    turns = Turns()

    def cut() -> None:
        Courtesy(turns).join(MOVED)

    cut()
    waits = Courtesy(turns)
    place = waits.join(MOVED)
    assert place is not None
    place.wait(PATIENCE_S * 100)
    assert place.called
