"""A process that was stopped between its permission and the start: what it was allowed on is
another's by then."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from stanchion import Decision, Refused, Run, Shield
from stanchion.audit.journal import MemoryJournal
from stanchion.kernel.state import Batch, Reply, key
from stanchion.policy.load import load_policy
from stanchion.runtime.calling.tool import Tool
from stanchion.runtime.deciding.start import START_MS
from stanchion.stores.protocol import Store
from stanchion.stores.redis import RedisStore
from stanchion.stores.sqlite import SqliteStore
from stanchion.testing import shield_for
from tests.stores import redis_server
from tests.stores.dying import Cut, note, noted, stopped, woken
from tests.stores.redis_server import Server
from tests.stores.servers import Place, place

server = redis_server.server
__all__ = ["place", "server"]

SOAK = bool(os.environ.get("STANCHION_SOAK"))
ONE_AT_A_TIME = {"use": "queue", "max_running": 1, "keep_s": 0.5, "timeout_s": 60, "pause_s": 0.05}
POLICY: dict[str, Any] = {"name": "p", "guards": [ONE_AT_A_TIME]}
BUDGET = {"use": "budget", "id": "spend", "tokens": 1_000, "reserve_tokens": 10, "api_calls": 100}
SPEND = key("default", "budget", "spend", "tokens", "run", "r1")


@pytest.fixture(params=["sqlite", "redis", "postgres"] if SOAK else ["sqlite"])
def open_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], Store]]:
    """Opens a store that several processes share, again and again."""
    opened: list[Store] = []

    def make() -> Store:
        if request.param == "sqlite":
            store: Store = SqliteStore(tmp_path / "state.db", busy_s=60)
        elif request.param == "redis":
            server: Server = request.getfixturevalue("server")
            store = RedisStore(server.url, timeout_s=60)
        else:
            place: Place = request.getfixturevalue("place")
            store = place.open()
        opened.append(store)
        return store

    make()
    yield make
    for store in opened:
        store.close()


def shield_on(store: Store) -> Shield:
    """A process's shield."""
    return Shield(load_policy(POLICY), store=store, journal=MemoryJournal())


class StopsWhenAllowed(Cut):
    """A store whose process is stopped as soon as a batch was carried out that gives it a place."""

    def carry(self, batch: Batch) -> Reply:
        """Carry a batch out."""
        reply = self._store.carry(batch)
        if reply.go and not reply.stale and any("queue" in put[0] for put in batch.puts):
            self._end()
        return reply


def test_a_stopped_process_does_not_start_what_it_was_allowed(
    open_store: Callable[[], Store], tmp_path: Path
) -> None:
    """It has the only place when it is stopped. Another one waits in line until the time of that
    place is over, and is at work when the first wakes."""
    notes = tmp_path / "notes"

    def stop() -> None:
        note(notes, "stopped")
        os.kill(os.getpid(), signal.SIGSTOP)

    def work() -> None:
        shield = shield_on(StopsWhenAllowed(open_store(), -1, stop))
        run = shield.run("ann")

        def pay() -> None:
            note(notes, "started")

        try:
            run.call(pay)
        except Refused as refused:
            note(notes, refused.decision.code)

    child = stopped(work)

    def pay() -> None:
        woken(child)

    shield_on(open_store()).run("bob").call(pay)
    assert noted(notes) == ["stopped", "kernel.lapsed"]


class Awake:
    """A clock that jumps when it is told to: the host has slept."""

    def __init__(self) -> None:
        self.now_ns = 1
        self.naps: list[int] = []

    def __call__(self) -> int:
        self.now_ns += self.naps.pop(0) if self.naps else 1
        return self.now_ns


def asleep(ms: int) -> tuple[Shield, Awake]:
    """A shield whose host sleeps for so long once its next action is judged."""
    awake = Awake()
    shield = shield_for({"name": "p", "guards": [BUDGET]}, awake_ns=awake)
    awake.naps = [1, ms * 1_000_000]
    return shield, awake


def started() -> None:
    """A tool that must not start."""
    raise AssertionError("it started")


async def astarted() -> None:
    """The same for async code."""
    raise AssertionError("it started")


def items() -> Iterator[int]:
    """A tool that gives items."""
    yield 1


WAYS: dict[str, Callable[[Any], object]] = {
    "a call": lambda run: run.call(started),
    "a call with a limit": lambda run: run.call(Tool(started, timeout_s=600)),
    "an async call": lambda run: asyncio.run(run.acall(astarted)),
    "a sync call on a loop": lambda run: asyncio.run(run.acall(started)),
    "once": lambda run: run.call_once("k", started),
    "items": lambda run: list(run.call(items)),
    "a model": lambda run: run.model(lambda _: started(), [], tokens=10),
    "an async model": lambda run: asyncio.run(run.amodel(lambda _: astarted(), [], tokens=10)),
}


@pytest.mark.parametrize("way", WAYS)
def test_nothing_starts_after_a_long_sleep(way: str) -> None:
    shield, _ = asleep(START_MS)
    run = shield.run("ann", id="r1")
    with pytest.raises(Refused) as refused:
        WAYS[way](run)
    assert refused.value.decision.code == "kernel.lapsed"
    assert (shield.store.read(SPEND)[0], list(shield.store.holds())) == (0, [])


@pytest.mark.parametrize("way", WAYS)
def test_everything_starts_after_a_short_one(way: str) -> None:
    shield, _ = asleep(START_MS - 1_000)
    run = shield.run("ann", id="r1")
    if way == "items":
        assert WAYS[way](run) == [1]
        return
    with pytest.raises(AssertionError, match="it started"):
        WAYS[way](run)


def test_a_host_is_told_that_its_call_has_lapsed() -> None:
    reports: tuple[Callable[[Run], Decision], ...] = (
        lambda run: run.check("write", {}, tokens=100),
        lambda run: run.model_call([], tokens=100),
        lambda run: run.handoff("bob", {}, tokens=100),
    )
    for report in reports:
        shield, _ = asleep(START_MS)
        run = shield.run("ann", id="r1")
        assert report(run).code == "kernel.lapsed"
        assert (shield.store.read(SPEND)[0], run.open_calls()) == (0, ())
        assert report(run).proceeds


def test_a_place_that_is_kept_for_less_lapses_sooner() -> None:
    for ms, starts in ((374, True), (375, False)):
        awake = Awake()
        shield = shield_for(POLICY, awake_ns=awake)
        awake.naps = [1, ms * 1_000_000]
        assert shield.run("ann").check("pay", {}).proceeds is starts


def test_a_policy_that_only_watches_keeps_nothing_from_starting() -> None:
    awake = Awake()
    shield = shield_for({"name": "p", "mode": "shadow", "guards": [BUDGET]}, awake_ns=awake)
    awake.naps = [1, START_MS * 2_000_000]
    assert shield.run("ann").check("pay", {}).proceeds
