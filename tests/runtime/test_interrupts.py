"""A call that is cut off between any two steps leaves the shield usable, and its budget exact."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from stanchion import Shield
from stanchion.stores.memory import MemoryStore
from stanchion.stores.protocol import Store
from stanchion.stores.sqlite import SqliteStore
from stanchion.testing.shields import shield_for
from tests.interrupts import Cut, CutByTimer, everywhere, files

POLICY = {"name": "budget", "guards": [{"use": "budget", "calls": 100_000, "tokens": 100_000, "per": "task"}]}

pytestmark = [
    pytest.mark.filterwarnings("ignore:coroutine:RuntimeWarning"),  # one that is cut off before it is awaited
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # files of who is cut off before it closes them
]


@pytest.fixture(params=["memory", "sqlite"])
def shield(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Shield]:
    store: Store = MemoryStore() if request.param == "memory" else SqliteStore(tmp_path / "a.db")
    with shield_for(POLICY, store=store) as made:
        yield made


class Working:
    """Calls of one tool in runs of one task: how many were begun, how often the tool was at work."""

    def __init__(self, shield: Shield) -> None:
        self._shield = shield
        self._run = shield.run("ann", "t1")
        self.begun = self.worked = 0

    def tool(self) -> str:
        self.worked += 1
        return "done"

    def call(self) -> None:
        """Call the tool in this thread."""
        self.begun += 1
        assert self._run.call(self.tool) == "done"

    async def acall(self) -> None:
        """Call it on the running event loop."""
        self.begun += 1
        assert await self._run.acall(self.tool) == "done"

    def acall_alone(self) -> None:
        """Call it on an event loop of its own."""
        asyncio.run(self.acall())

    def check(self) -> None:
        """Another call goes through, and what was charged is what was at work, or might have been."""
        self.call()
        charged = sum([one.number for one in self._shield.store.look() if ":one:" in one.key])
        assert self.worked <= charged <= self.begun
        assert not self._shield.turns.lines


WITHIN = files("stores", "kernel", "locks.py", "runtime", "audit")


@pytest.mark.parametrize("error", [Cut, CutByTimer, KeyboardInterrupt])
def test_a_call_that_is_cut_off_anywhere(shield: Shield, error: type[BaseException]) -> None:
    working = Working(shield)
    assert everywhere(working.call, working.check, WITHIN, error=error, every=97, seed=1) > 20


@pytest.mark.parametrize("error", [Cut, KeyboardInterrupt])
def test_a_call_on_an_event_loop_that_is_cut_off_anywhere(shield: Shield, error: type[BaseException]) -> None:
    working = Working(shield)
    assert everywhere(working.acall_alone, working.check, WITHIN, error=error, every=97, seed=2) > 20
