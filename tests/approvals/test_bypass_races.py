"""Several processes and one bypass: exactly one action starts, however their steps fall and
wherever one is killed."""

from __future__ import annotations

import itertools
import random
import threading
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from stanchion import Decision, Refused, Shield
from stanchion.approvals import State, Ticket
from stanchion.approvals.ticket import Kind
from stanchion.kernel.units import JUST_ONE
from stanchion.runtime.calling.reports import check
from stanchion.stores.memory import MemoryStore
from stanchion.stores.protocol import Store
from stanchion.stores.redis import RedisStore
from stanchion.testing import FakeClock, interleave, shield_for
from tests.approvals.bypass_process import attempt
from tests.approvals.bypassing import WHY, Deeds, policy
from tests.operators import ANN, KNOWN
from tests.stores import redis_server
from tests.stores.servers import Place, place
from tests.stores.several import TakingTurns, two

server = redis_server.server
__all__ = ["place", "server"]

RACERS = 3
ROUNDS = 8
MINUTE = 60_000


class World:
    """A store that processes share, and its clock."""

    def __init__(self, store: Store, clock: FakeClock) -> None:
        self.store, self.clock = store, clock
        self.numbers = itertools.count(1)

    def process(self) -> Shield:
        """A process of its own."""
        return shield_for(policy(), store=self.store, clock=self.clock, operators=[KNOWN])

    def calling(self, pid: int) -> Any:
        """A process of its own that wants to stop something: its decision, step by step."""
        return check(self.process().run("bot").desk, "stop", {"pid": pid}, JUST_ONE)

    def ready(self, way: str) -> tuple[int, str]:
        """A refused action with leave to go past its guardrail: what it stops, and the ticket."""
        pid, shield = next(self.numbers), self.process()
        run = shield.run("bot")
        assert not run.check("stop", {"pid": pid}).proceeds
        made = run.request_bypass("first", WHY, "emergency" if way == "override" else "normal")
        if way == "override":
            self.clock.advance(MINUTE)
        else:
            shield.approve(made.ticket, by=ANN)
        return pid, made.ticket

    def ticket(self, name: str) -> Ticket:
        """A ticket as the store has it."""
        return self.process().ticket(name)

    def reviews(self, of: str) -> list[Ticket]:
        """The reviews of a ticket."""
        found = self.process().tickets(state="all")
        return [
            one
            for one in found
            if one.kind is Kind.REVIEW and one.review is not None and one.review.of == of
        ]


@pytest.fixture(params=["memory", "sqlite", "postgres", "redis"])
def world(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[World]:
    """A store; where it can be shared, two of them on one file or server that take turns."""
    clock = FakeClock()
    made: Store
    match request.param:
        case "memory":
            made = MemoryStore(clock)
        case "sqlite":
            made = TakingTurns(two(tmp_path / "state.db", clock))
        case "postgres":
            schema: Place = request.getfixturevalue("place")
            made = TakingTurns([schema.open(clock), schema.open(clock)])
        case _:
            url = request.getfixturevalue("server").url
            made = TakingTurns([RedisStore(url, clock=clock), RedisStore(url, clock=clock)])
    yield World(made, clock)
    made.close()


@pytest.mark.parametrize("way", ["yes", "override"])
def test_one_of_those_who_race_goes_past_the_guardrail(world: World, way: str) -> None:
    for turn in range(ROUNDS):
        pid, ticket = world.ready(way)
        racers = [world.calling(pid) for _ in range(RACERS)]
        decisions: tuple[Decision, ...] = interleave(
            racers, world.store, random.Random(turn).randrange
        ).decisions
        started = [decision.id for decision in decisions if decision.proceeds]
        assert len(started) == 1
        after = world.ticket(ticket)
        assert (after.state, after.used_by) == (State.USED, started[0])
        assert len(world.reviews(ticket)) == (way == "override")


@pytest.mark.parametrize("way", ["yes", "override"])
@pytest.mark.parametrize("heard", [False, True], ids=["before the store", "before the answer"])
def test_whoever_is_killed_at_any_trip_leaves_exactly_one_start(
    world: World, way: str, heard: bool
) -> None:
    """Each trip in turn: the process is killed before the store has carried it out, or before it
    has heard."""
    for trip in itertools.count():
        pid, ticket = world.ready(way)
        killed = world.calling(pid)
        if not killed_at(killed, world.store, trip, heard):
            assert trip > 2, "it makes several trips"
            break
        begun = world.ticket(ticket).state is State.USED
        (decision,) = interleave([world.calling(pid)], world.store, lambda _: 0).decisions
        assert decision.proceeds is not begun, (trip, begun)
        after = world.ticket(ticket)
        assert after.state is State.USED
        assert len(world.reviews(ticket)) == (way == "override"), (
            "the review is there with the start, or not at all"
        )
        (again,) = interleave([world.calling(pid)], world.store, lambda _: 0).decisions
        assert not again.proceeds


def killed_at(flow: Any, store: Store, trip: int, heard: bool) -> bool:
    """Drive a flow until so many trips are done, and kill it at the next one; says whether it came
    so far."""
    given: Any = None
    try:
        for _ in range(trip):
            given = store.carry(flow.send(given))
        need = flow.send(given)
    except StopIteration:
        return False
    if heard:
        store.carry(need)
    flow.close()
    return True


def test_of_many_threads_one_starts() -> None:
    deeds, shield = Deeds(), shield_for(policy())
    run = shield.run("bot")
    with pytest.raises(Refused):
        run.call(deeds.stop, 7)
    shield.approve(run.request_bypass("first", WHY).ticket, by="kim")
    gate = threading.Barrier(8)

    def tries() -> None:
        gate.wait()
        try:
            run.call(deeds.stop, 7)
        except Refused:
            return

    threads = [threading.Thread(target=run.bind(tries)) for _ in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert deeds.done == [("stop", 7)]


@pytest.mark.parametrize("way", ["yes", "override"])
def test_of_eight_processes_on_one_file_one_starts(tmp_path: Path, way: str) -> None:
    place = f"sqlite:{tmp_path / 'state.db'}"
    said = policy(emergency_s=0.001)
    with Shield.load(said, store=place, journal="memory:", operators=[KNOWN]) as shield:
        run = shield.run("bot")
        assert not run.check("stop", {"pid": 7}).proceeds
        made = run.request_bypass("first", WHY, "emergency" if way == "override" else "normal")
        if way == "yes":
            shield.approve(made.ticket, by=ANN)
        with ProcessPoolExecutor(8, mp_context=get_context("spawn")) as pool:
            started = list(pool.map(attempt, [(said, place, KNOWN.key)] * 8))
        assert sum(started) == 1
        assert shield.ticket(made.ticket).state is State.USED
        found = [one for one in shield.tickets(state="all") if one.kind is Kind.REVIEW]
        assert len(found) == (way == "override")
