"""Breaker, where a table cannot reach: any course of events on every store, racing calls, crashes,
other clocks."""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest

from stanchion import Refused
from stanchion.audit.journal import MemoryJournal
from stanchion.guards.breaker import SLACK_MS, ToolCircuit, circuit_of
from stanchion.kernel.chain import Plans
from stanchion.kernel.engine import decide
from stanchion.kernel.events import Event, Failure, Moment, RunInfo, ToolCall, ToolResult
from stanchion.kernel.state import Records, key
from stanchion.policy.load import load_policy
from stanchion.runtime.run import Run
from stanchion.stores.memory import MemoryStore
from stanchion.stores.protocol import Store
from stanchion.stores.sqlite import SqliteStore
from stanchion.testing import FakeClock, LostStore, ScriptedTool, interleave, shield_for
from tests.guards.breaker_model import (
    COOLDOWN_MS,
    OPTIONS,
    PROBE_MS,
    RUNS,
    SUCCESSES,
    THRESHOLD,
    Model,
)
from tests.guards.test_step_limit import in_threads
from tests.rules import rule
from tests.stores import redis_server
from tests.stores.redis_server import Server
from tests.stores.servers import Empty, Place, place

server = redis_server.server
__all__ = ["place", "server"]

SOAK: Final = bool(os.environ.get("STANCHION_SOAK"))
RECORD: Final = key("default", "breaker", "pay", "breaker")
LATE: Final = rule("late", "tool_call", check="event.args.fine", action="block")
POLICY: Final[dict[str, Any]] = {"name": "fragile", "guards": [OPTIONS, LATE]}
FOR_ALL: Final[dict[str, Any]] = {"name": "fragile", "guards": [{**OPTIONS, "runs": 1}, LATE]}
"""One run's failures are enough to refuse the calls of all."""
START: Final = 10_000_000
FAULTS: Final[dict[str, tuple[str, str]]] = {
    "system": ("ConnectionError", "system"),
    "user": ("ValueError", "user"),
}


def circuit(store: Store, record: str = RECORD) -> ToolCircuit:
    """What the store has written down."""
    return circuit_of(store.read(record)[1])


def expected(model: Model) -> ToolCircuit:
    """The same, as the model has it."""
    only = tuple(model.met) if len(model.met) < RUNS else ()
    if model.state == "closed":
        return ToolCircuit(model.failures, only=only)
    expires = model.expires if model.probe else 0
    return ToolCircuit(
        0, model.until, model.cooldown_ms, model.successes, model.probe, expires, only
    )


def report(run: Run, call: str, how: str) -> str:
    """Report what came of a call; gives what is said of it."""
    if how == "ok":
        return run.result("pay", {}, "paid", call=call).code
    return run.error("pay", FAULTS[how][0], call=call).code


def play(store: Store, true: FakeClock, drawn: random.Random, count: int) -> list[str]:
    """Any course of calls, outcomes, crashes and time in three processes whose clocks are off: what
    is said, and what is written down, is what the model says. Gives how often it opened and
    closed."""
    off = [drawn.choice((0, 0, -70_000, -SLACK_MS, 1, 70_000)) for _ in range(3)]
    hosts = [FakeClock(true() + ms) for ms in off]
    runs = [
        shield_for(POLICY, clock=host, store=store).run("a", id=f"r{at}")
        for at, host in enumerate(hosts)
    ]
    model = Model()
    under_way: list[tuple[Run, str]] = []
    for _ in range(count):
        step = drawn.choice(
            ("time", "call", "call", "call", "outcome", "outcome", "outcome", "crash")
        )
        if step == "time":
            ms = drawn.choice(
                (1, 500, PROBE_MS - 1, PROBE_MS, COOLDOWN_MS - 1, COOLDOWN_MS, 2 * COOLDOWN_MS)
            )
            for clock in (true, *hosts):
                clock.advance(ms)
        elif step == "call":
            run, fine = drawn.choice((runs[0], *runs)), drawn.random() < 0.8
            decision = run.check("pay", {"fine": fine})
            said = model.call(run.id, decision.id, true(), refused_elsewhere=not fine)
            codes = [finding.code for finding in decision.findings]
            goes = said in ("", "breaker.probe")
            assert codes == ([said] if said else []) + (
                ["rule.broken"] if goes and not fine else []
            )
            assert decision.proceeds == (goes and fine)
            under_way += [(run, decision.id)] if decision.proceeds else []
        elif under_way:
            trying = [at for at, (_, call) in enumerate(under_way) if call == model.probe]
            run, call = under_way.pop(trying[0] if trying else drawn.randrange(len(under_way)))
            if step == "outcome":
                often = "ok" if trying else "system"
                how = drawn.choice(("ok", "system", "user", often, often, often))
                assert report(run, call, how) == model.outcome(run.id, call, how, true())
        assert circuit(store) == expected(model)
    return model.log


def plays(store_of: Any, seeds: int, count: int = 60) -> list[str]:
    """Many of them, each on an empty store."""
    log: list[str] = []
    for seed in range(seeds * (50 if SOAK else 1)):
        true = FakeClock(START)
        store = store_of(true)
        try:
            log += play(store, true, random.Random(seed), count)
        finally:
            store.close()
    return log


def test_any_course_of_events_is_the_model_s_in_memory() -> None:
    log = plays(MemoryStore, 60)
    assert log.count("opened") > 60, "the courses are worth something"
    assert log.count("opened for one") > 6
    assert log.count("closed") > 6


def test_any_course_of_events_is_the_model_s_on_sqlite(tmp_path: Path) -> None:
    numbers = iter(range(10**9))
    assert plays(lambda clock: SqliteStore(tmp_path / f"{next(numbers)}.db", clock), 5)


def test_any_course_of_events_is_the_model_s_on_postgres(place: Place) -> None:
    assert plays(Empty(place).store, 4)


def test_any_course_of_events_is_the_model_s_on_redis(server: Server) -> None:
    assert plays(redis_server.make(server), 5)


def moments(drawn: random.Random, number: int, model: Model, under_way: list[str]) -> Event:
    """One more event: a call, or the outcome of one, the probe's more often than others."""
    run, name = RunInfo(f"r{drawn.randrange(4)}", "a"), f"e{number}"
    if under_way and drawn.random() < 0.6:
        call = (
            model.probe
            if model.probe in under_way and drawn.random() < 0.7
            else drawn.choice(under_way)
        )
        under_way.remove(call)
        how = drawn.choice(("ok", "ok", "system", "system", "user"))
        if how == "ok":
            return ToolResult(id=name, at=START, run=run, tool="pay", call=call)
        error, fault = FAULTS[how]
        return Failure(id=name, at=START, run=run, tool="pay", call=call, error=error, fault=fault)
    return ToolCall(id=name, at=START, run=run, tool="pay", args={"fine": True})


def moved(true: FakeClock, drawn: random.Random) -> None:
    """Let time go on now and then, by more than the slack that a time may be written down with."""
    if drawn.random() < 0.05:
        true.advance(drawn.choice((SLACK_MS, PROBE_MS)))


def race(store: Store, true: FakeClock, drawn: random.Random, rounds: int) -> list[str]:
    """Decisions of three processes at once, their steps in any order, while time goes on: the order
    in which the store carried them out explains all of them."""
    policy = load_policy(POLICY)
    model = Model()
    caches: list[Records] = [{}, {}, {}]
    under_way: list[str] = []
    number = 0
    for _ in range(rounds):
        true.advance(drawn.choice((0, 1, PROBE_MS, COOLDOWN_MS, 2 * COOLDOWN_MS)))
        events: list[Event] = []
        for _ in range(drawn.randint(1, 4)):
            number += 1
            event = moments(drawn, number, model, under_way)
            events.append(
                msgspec.structs.replace(event, at=true() + drawn.choice((0, 0, -5_000, 5_000)))
            )
        done = interleave(
            [decide(Plans(policy, e.run), Moment((e,)), drawn.choice(caches)) for e in events],
            store,
            drawn.randrange,
            between=lambda: moved(true, drawn),
        )
        for trip in done.trips:
            if trip.reply is None or trip.reply.stale:
                continue
            event, decision = events[trip.who], done.decisions[trip.who]
            if isinstance(event, ToolCall):
                assert decision.code == model.call(event.run.id, event.id, trip.reply.now)
                under_way += [event.id] if decision.proceeds else []
            else:
                how = (
                    "ok"
                    if isinstance(event, ToolResult)
                    else str(event.fault)
                    if isinstance(event, Failure)
                    else ""
                )
                said = model.outcome(event.run.id, event.call, how, trip.reply.now)
                assert decision.code == said
        assert len(done.applied) == len(events)
        assert circuit(store) == expected(model)
    return model.log


@pytest.fixture(params=["memory", "sqlite", "postgres", "redis"])
def shared(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Store, FakeClock]]:
    """A store of each kind, and its clock."""
    clock = FakeClock(START)
    match request.param:
        case "memory":
            store: Store = MemoryStore(clock)
        case "sqlite":
            store = SqliteStore(tmp_path / "state.db", clock)
        case "postgres":
            found: Place = request.getfixturevalue("place")
            store = Empty(found).store(clock)
        case _:
            store = redis_server.make(request.getfixturevalue("server"))(clock)
    yield store, clock
    store.close()


def test_the_order_of_the_store_explains_decisions_that_race(
    shared: tuple[Store, FakeClock],
) -> None:
    store, clock = shared
    log = race(store, clock, random.Random(7), 4_000 if SOAK else 120)
    assert log.count("opened") > 3
    assert log.count("closed") > 0


def opened(run: Run) -> None:
    """Let the tool fail until nobody calls it any more."""
    for _ in range(THRESHOLD):
        run.error("pay", "ConnectionError")


def test_a_healthy_tool_writes_nothing_and_costs_one_trip() -> None:
    store = LostStore(MemoryStore(FakeClock()))
    run = shield_for(POLICY, store=store).run("a")
    for _ in range(20):
        call = run.check("pay", {"fine": True}).id
        run.result("pay", {}, "paid", call=call)
    assert len(store.batches) == 40
    assert not any(batch.puts for batch in store.batches)
    assert store.read(RECORD) == (0, None)


def test_of_many_threads_one_is_the_probe(tmp_path: Path) -> None:
    clock = FakeClock()
    shields = [
        shield_for(FOR_ALL, clock=clock, store=SqliteStore(tmp_path / "s.db", clock))
        for _ in range(2)
    ]
    runs = [shields[at % 2].run("a", id=f"r{at}") for at in range(8)]
    opened(runs[0])
    clock.advance(COOLDOWN_MS)
    said: list[str] = []
    in_threads(8, lambda at: said.append(runs[at].check("pay", {"fine": True}).code))
    for shield in shields:
        shield.close()
    assert sorted(said) == ["breaker.probe"] + ["breaker.probing"] * 7


def test_a_process_that_dies_with_the_probe_leaves_no_stuck_probe(tmp_path: Path) -> None:
    clock = FakeClock()
    with shield_for(FOR_ALL, clock=clock, store=SqliteStore(tmp_path / "s.db", clock)) as first:
        run = first.run("a", id="first")
        opened(run)
        clock.advance(COOLDOWN_MS)
        assert run.check("pay", {"fine": True}).code == "breaker.probe"
    with shield_for(FOR_ALL, clock=clock, store=SqliteStore(tmp_path / "s.db", clock)) as second:
        run = second.run("a", id="second")
        clock.advance(PROBE_MS - 1)
        assert run.check("pay", {"fine": True}).code == "breaker.probing"
        clock.advance(1)
        assert run.check("pay", {"fine": True}).code == "breaker.probe"


def test_a_probe_whose_answer_is_lost_on_the_way_back_is_given_back() -> None:
    """The store took it, the host never heard of it and ran nothing: whoever comes next gives it
    back."""
    clock = FakeClock()
    store = LostStore(MemoryStore(clock), applied=True)
    run = shield_for(POLICY, clock=clock, store=store).run("a")
    opened(run)
    clock.advance(COOLDOWN_MS)
    store.on = {len(store.batches) + 1}
    assert run.check("pay", {"fine": True}).code == "kernel.store_lost"
    assert circuit(store).probe
    assert run.check("pay", {"fine": True}).code == "breaker.probe"


def test_a_probe_that_is_interrupted_is_given_back() -> None:
    clock = FakeClock()
    run = shield_for(POLICY, clock=clock).run("a")

    def pay(fine: bool) -> None:
        raise KeyboardInterrupt

    opened(run)
    clock.advance(COOLDOWN_MS)
    with pytest.raises(KeyboardInterrupt):
        run.call(pay, fine=True)
    assert not circuit(run.desk.store).probe
    assert run.check("pay", {"fine": True}).code == "breaker.probe"


def test_a_tool_that_runs_here_opens_it_tries_it_and_closes_it() -> None:
    clock = FakeClock()
    run = shield_for(POLICY, clock=clock).run("a")
    pay = ScriptedTool(*[ConnectionError("down")] * THRESHOLD, "paid", name="pay")
    for _ in range(THRESHOLD):
        with pytest.raises(ConnectionError):
            run.call(pay, fine=True)
    with pytest.raises(Refused, match="keeps failing"):
        run.call(pay, fine=True)
    clock.advance(COOLDOWN_MS)
    assert [run.call(pay, fine=True) for _ in range(SUCCESSES + 1)] == ["paid"] * (SUCCESSES + 1)
    assert circuit(run.desk.store) == ToolCircuit()


def test_async_calls_share_it() -> None:
    clock = FakeClock()
    shield = shield_for(FOR_ALL, clock=clock)
    together = asyncio.Barrier(8)

    async def pay(fine: bool) -> None:
        await together.wait()
        raise ConnectionError

    async def all_at_once() -> list[Any]:
        run = shield.run("a")
        came: list[Any] = await asyncio.gather(
            *[run.acall(pay, fine=True) for _ in range(8)], return_exceptions=True
        )
        return came

    assert [type(one) for one in asyncio.run(all_at_once())] == [ConnectionError] * 8, (
        "all began before it opened"
    )
    assert [type(one) for one in asyncio.run(all_at_once())] == [Refused] * 8
    assert circuit(shield.store).cooldown_ms == COOLDOWN_MS, (
        "outcomes that came while it was open changed nothing"
    )


def test_an_operator_closes_it_for_every_process_and_that_is_written_down() -> None:
    clock = FakeClock()
    store = MemoryStore(clock)
    journal = MemoryJournal()
    shield, other = (
        shield_for(FOR_ALL, clock=clock, store=store, journal=journal),
        shield_for(FOR_ALL, store=store),
    )
    run, theirs = shield.run("a"), other.run("b")
    opened(run)
    clock.advance(COOLDOWN_MS)
    probe = theirs.check("pay", {"fine": True})
    assert run.check("pay", {"fine": True}).code == "breaker.probing"
    assert shield.reset_tool("pay", why="it is back", by="ann")
    assert not shield.reset_tool("pay"), "it is closed already"
    assert not shield.reset_tool("unheard-of")
    facts = [(fact.what, fact.about, fact.tenant, fact.by, fact.why) for fact in journal.facts()]
    assert facts == [("breaker.reset", "tool:pay", "default", "ann", "it is back")]
    assert [each.check("pay", {"fine": True}).findings for each in (run, theirs)] == [(), ()]
    assert report(theirs, probe.id, "system") == "", "the probe of before is a call like others"
    assert circuit(store) == ToolCircuit(1)


def test_an_operator_closes_the_breakers_of_that_tool_and_tenant_only() -> None:
    guards = [{**OPTIONS, "failure_threshold": 1}]
    shield = shield_for({"name": "own", "guards": guards})
    runs = [shield.run("a"), shield.run("b"), shield.run("a", tenant="other")]
    for run in runs:
        for tool in ("pay", "payout"):
            run.error(tool, "ConnectionError")
    assert shield.reset_tool("pay")
    said = [[run.check(tool, {}).code for tool in ("pay", "payout")] for run in runs]
    assert said == [["", "breaker.open"], ["", "breaker.open"], ["breaker.open", "breaker.open"]]


@pytest.mark.parametrize("off_ms", [-70_000, -SLACK_MS, -1, 1, 59_999, 70_000, 10**9])
def test_a_host_whose_clock_is_off_rules_by_the_stores_clock(off_ms: int) -> None:
    true, host = FakeClock(START), FakeClock(START + off_ms)
    store = MemoryStore(true)
    run = shield_for(POLICY, clock=host, store=store).run("a")
    opened(run)
    assert START + COOLDOWN_MS - SLACK_MS < circuit(store).until <= START + COOLDOWN_MS
    true.advance(circuit(store).until - START - 1)
    assert run.check("pay", {"fine": True}).code == "breaker.open"
    true.advance(1)
    assert run.check("pay", {"fine": True}).code == "breaker.probe"
    assert PROBE_MS - SLACK_MS < circuit(store).expires - true() <= PROBE_MS
