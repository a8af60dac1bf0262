"""What a call took and does not use is given back on every store, also where nobody knows whether
it was taken."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from stanchion import Refused, Shield
from stanchion.stores.protocol import Store
from stanchion.testing.shields import LostStore
from tests.stores.test_flood import STORES, opened, place, server

__all__ = ["place", "server"]

POLICY: dict[str, Any] = {
    "name": "p",
    "guards": [
        {"use": "budget", "id": "money", "tokens": 100, "reserve_tokens": 60},
        {"use": "queue", "max_running": 1, "timeout_s": 0.1, "pause_s": 0.05, "keep_s": 100_000},
    ],
}


def tool() -> str:
    return "done"


def charged(store: Store) -> int:
    """What is counted in tokens, reserved or spent."""
    return sum([one.number for one in store.look() if "tokens" in one.key])


@pytest.mark.parametrize("name", STORES)
@pytest.mark.parametrize("applied", [False, True])
def test_a_batch_in_doubt_takes_nothing_whenever_it_arrives(
    name: str, applied: bool, tmp_path: Path
) -> None:
    with opened(name, tmp_path) as inner:
        store = LostStore(inner, on=[1], applied=applied)
        run = Shield.load(POLICY, store=store, journal="memory:").run("ann")
        with pytest.raises(Refused, match="cannot be used"):
            run.call(tool)
        lost = store.batches[0]
        assert run.call(tool) == "done"
        spent = charged(inner)
        inner.carry(lost)  # it was on its way all the time, and arrives now
        assert charged(inner) == spent
        assert run.call(tool) == "done"


@pytest.mark.parametrize("name", STORES)
def test_a_call_that_is_cancelled_at_work_leaves_its_place_to_the_next(
    name: str, tmp_path: Path
) -> None:
    async def all_of_it(store: Store) -> None:
        run = Shield.load(POLICY, store=store, journal="memory:").run("ann")
        begun = asyncio.Event()

        async def work(slow: bool) -> str:
            begun.set()
            if slow:
                await asyncio.Event().wait()
            return "done"

        task = asyncio.create_task(run.acall(work, slow=True))
        await begun.wait()
        with pytest.raises(Refused, match="places are taken"):
            await run.acall(work, slow=False)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await run.acall(work, slow=False) == "done"

    with opened(name, tmp_path) as store:
        asyncio.run(all_of_it(store))
