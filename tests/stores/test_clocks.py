"""Hosts whose clocks are 70 seconds apart agree, on every store: the store's clock rules."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Final

import pytest

from stanchion import Shield
from stanchion.kernel.decision import Decision
from stanchion.runtime.run import Run
from stanchion.stores.memory import MemoryStore
from stanchion.stores.protocol import Store
from stanchion.stores.redis import RedisStore
from stanchion.testing.clock import FakeClock
from tests.stores import redis_server
from tests.stores.servers import new_place
from tests.stores.several import two
from tests.stores.slots import TAKEN, TOOL, Slots

APART_MS: Final = 70_000
WINDOW_S: Final = 60
HOLD_MS: Final = 30_000
POLICY: Final = {
    "name": "shared",
    "guards": [{"use": "budget", "tokens": 3, "per": "task", "window_s": WINDOW_S}],
}
"""Window and permit are shorter than the clocks are apart: by a host's clock both would be over at
once."""

STORES: Final = ("memory", "sqlite", "postgres", "redis")


@contextmanager
def opened(name: str, clock: FakeClock, folder: Path) -> Iterator[list[Store]]:
    """Two ways to one empty store, whose time is that of the clock."""
    match name:
        case "memory":
            yield [MemoryStore(clock)] * 2
        case "sqlite":
            yield two(folder / "state.db", clock)
        case "postgres":
            with new_place() as place:
                yield [place.open(clock), place.open(clock)]
        case "redis":
            server = redis_server.shared()
            server.ask("FLUSHALL")
            yield [RedisStore(server.url, clock=clock), RedisStore(server.url, clock=clock)]


def reading(clock: FakeClock, ahead: int) -> int:
    """What the clock of a host shows."""
    return clock() + ahead


@pytest.fixture
def clock() -> FakeClock:
    """The store's clock."""
    return FakeClock()


@pytest.fixture(params=STORES)
def runs(request: pytest.FixtureRequest, clock: FakeClock, tmp_path: Path) -> Iterator[list[Run]]:
    """A run of one task on each of two hosts: one is 35 seconds behind the store, the other as much
    ahead."""
    with opened(request.param, clock, tmp_path) as stores:
        shields = [
            Shield.load(
                POLICY,
                store=store,
                journal="memory:",
                clock=partial(reading, clock, ahead),
                guards=[Slots(1, HOLD_MS)],
            )
            for store, ahead in zip(stores, (-APART_MS // 2, APART_MS // 2), strict=True)
        ]
        yield [shield.run("host", "shared") for shield in shields]
        for shield in shields:
            shield.close()


def spend(run: Run) -> str:
    """Spend one token; gives why not, or nothing."""
    return _why(run.check("spend", {}, tokens=1))


def take(run: Run) -> str:
    """Take the only slot; gives why not, or nothing."""
    return _why(run.check(TOOL, {}))


def _why(decision: Decision) -> str:
    return "" if decision.determining is None else decision.determining.code


def each(runs: list[Run], act: Callable[[Run], str]) -> list[str]:
    """What comes of an action on one host after the other."""
    return [act(run) for run in runs]


def test_a_window_is_one_window(runs: list[Run], clock: FakeClock) -> None:
    behind, ahead = runs
    assert [spend(behind), spend(ahead), spend(behind)] == ["", "", ""]
    assert each(runs, spend) == ["budget.window_full"] * 2
    clock.advance(WINDOW_S * 1_000)
    assert each(runs, spend) == ["budget.window_full"] * 2
    clock.advance(WINDOW_S * 1_000 // 15)
    assert each(runs, spend) == ["", ""]
    assert spend(ahead) == ""
    assert each(runs, spend) == ["budget.window_full"] * 2


@pytest.mark.parametrize("first", [0, 1], ids=["behind", "ahead"])
def test_a_permit_expires_at_one_moment(first: int, runs: list[Run], clock: FakeClock) -> None:
    holder, other = runs[first], runs[1 - first]
    assert take(holder) == ""
    assert each(runs, take) == [TAKEN, TAKEN]
    clock.advance(HOLD_MS - 1)
    assert each(runs, take) == [TAKEN, TAKEN]
    clock.advance(1)
    assert [take(other), take(holder)] == ["", TAKEN]
