"""Health, where a table cannot reach: the score itself, reliability, every store, and what it
costs."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from stanchion.guards.health import reliability_keys, score
from stanchion.stores.memory import MemoryStore
from stanchion.stores.protocol import Store
from stanchion.stores.sqlite import SqliteStore
from stanchion.testing import FakeClock, LostStore, shield_for
from tests.guards.test_step_limit import in_threads
from tests.stores import redis_server
from tests.stores.servers import Empty, place

server = redis_server.server
__all__ = ["place", "server"]

POLICY = {"name": "watched", "guards": [{"use": "health", "calls": 6, "min_calls": 3}]}


@pytest.fixture(params=["memory", "sqlite", "postgres", "redis"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """A store of each kind."""
    clock = FakeClock()
    match request.param:
        case "memory":
            made: Store = MemoryStore(clock)
        case "sqlite":
            made = SqliteStore(tmp_path / "state.db", clock)
        case "postgres":
            made = Empty(request.getfixturevalue("place")).store(clock)
        case _:
            made = redis_server.make(request.getfixturevalue("server"))(clock)
    yield made
    made.close()


def test_the_score_is_the_share_of_the_last_calls_that_went_well(store: Store) -> None:
    drawn = random.Random(3)
    shields = [shield_for(POLICY, store=store) for _ in range(2)]
    runs = [shield.run("a", id=f"r{at}") for at, shield in enumerate(shields)]
    went: list[bool] = []
    assert shields[0].health("search") is None
    for _ in range(30):
        went.append(drawn.random() < 0.6)
        run = drawn.choice(runs)
        said = run.result("search", {}, 1) if went[-1] else run.error("search", TimeoutError())
        last = went[-6:]
        wanted = 100 * sum(last) // len(last)
        assert [shield.health("search") for shield in shields] == [wanted, wanted]
        low = "health.low" if wanted < 50 else "health.unsteady" if wanted < 80 else ""
        assert said.code == (low if len(last) >= 3 else "")
        assert said.proceeds
    calls, failures = reliability_keys("default", "search")
    assert (store.read(calls)[0], store.read(failures)[0]) == (30, went.count(False))


def test_threads_push_without_racing() -> None:
    store = LostStore(MemoryStore(FakeClock()))
    run = shield_for(POLICY, store=store).run("a")

    def five_times(_number: int) -> None:
        for _ in range(5):
            run.result("search", {}, 1)

    in_threads(8, five_times)
    assert store.read(reliability_keys("default", "search")[0])[0] == 40
    assert len(store.batches) == 40, "nobody had to try again"


def test_a_score_is_of_a_hundred() -> None:
    assert [score(register) for register in (0, 0b10, 0b11, 0b110, 0b1001)] == [
        None,
        100,
        0,
        50,
        66,
    ]


def test_before_a_call_it_only_looks(store: Store) -> None:
    guard = {
        "use": "health",
        "calls": 6,
        "min_calls": 3,
        "stages": ["tool_call", "tool_result", "error"],
    }
    shield = shield_for({"name": "watched", "guards": [guard]}, store=store)
    run = shield.run("a")
    assert run.check("search", {}).findings == ()
    run.result("search", {}, 1)
    run.error("search", TimeoutError())
    for _ in range(3):
        assert [(one.code, one.args) for one in run.check("search", {}).findings] == [
            ("health.known", ("search", 50, 2))
        ]
    run.error("search", TimeoutError())
    assert run.check("search", {}).findings[0].code == "health.low"
    assert shield.health("search") == 33
