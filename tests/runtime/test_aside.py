"""Long events are judged beside the event loop, and short ones on it."""

import asyncio
import threading
from collections.abc import Generator
from typing import Any

import pytest

from stanchion.kernel.sizes import LONG
from stanchion.runtime.driving.flow import AWAY, HERE
from stanchion.runtime.driving.on_loop import adrive
from stanchion.runtime.driving.sync import drive
from stanchion.runtime.shield import Shield

WORLD: Any = None


def _flow(gate: threading.Event | None = None) -> Generator[Any, Any, list[int]]:
    seen = [threading.get_ident()]
    yield AWAY
    if gate is not None:
        gate.wait()
    seen.append(threading.get_ident())
    yield HERE
    return [*seen, threading.get_ident()]


def test_what_takes_long_goes_on_in_a_thread_and_comes_back() -> None:
    first, between, last = asyncio.run(adrive(_flow(), WORLD))
    assert first == last == threading.get_ident() != between
    assert set(drive(_flow(), WORLD)) == {threading.get_ident()}


def test_the_loop_goes_on_meanwhile() -> None:
    async def main() -> list[int]:
        gate = threading.Event()
        working = asyncio.create_task(adrive(_flow(gate), WORLD))
        await asyncio.sleep(0)
        gate.set()
        return await working

    assert len(asyncio.run(main())) == 3


def test_whoever_is_cancelled_meanwhile_waits_for_it_and_the_flow_is_told() -> None:
    told: list[type[BaseException]] = []
    gate = threading.Event()

    def flow() -> Generator[Any, Any, None]:
        yield AWAY
        gate.wait()
        try:
            yield HERE
        except BaseException as error:
            told.append(type(error))
            raise

    async def main() -> None:
        working = asyncio.create_task(adrive(flow(), WORLD))
        await asyncio.sleep(0)
        working.cancel()
        await asyncio.sleep(0)
        gate.set()
        with pytest.raises(asyncio.CancelledError):
            await working

    asyncio.run(main())
    assert told == [asyncio.CancelledError]


@pytest.mark.parametrize(("size", "needs"), [(LONG + 1, [AWAY, HERE]), (100, [])])
def test_only_a_long_event_asks_for_it(size: int, needs: list[Any]) -> None:
    run = Shield.load({"name": "p"}, store="memory:", journal="memory:").run(agent="a")
    flow = run._result("web", {}, "a" * size)
    met: list[Any] = []
    try:
        need = flow.send(None)
        while True:
            met += [need] if need in (AWAY, HERE) else []
            need = flow.send(None if need in (AWAY, HERE) else run.desk.store.carry(need))
    except StopIteration as done:
        met.append(done.value.proceeds)
    assert met == [*needs, True]
