"""Time limit, where a table cannot reach: clocks that disagree, trips to the store, threads, and
other stores."""

from __future__ import annotations

from typing import Any, Final

import pytest

from stanchion import Action, Refused
from stanchion.guards.time_limit import SLACK_MS, TimeLimit
from stanchion.kernel.events import RunInfo, ToolCall
from stanchion.kernel.state import FOREVER, Batch, Reply, When, key
from stanchion.stores.memory import MemoryStore
from stanchion.testing import FakeClock, LostStore, ScriptedTool, shield_for
from tests.guards.test_step_limit import in_threads

CLOCK: Final = key("default", "time", "run", "r")
MINUTE: Final = {
    "name": "minute",
    "guards": [{"use": "time_limit", "max_s": 60, "warn_at": 50, "escalate_at": 90}],
}


@pytest.mark.parametrize("off_ms", [-70_000, -SLACK_MS, 1, 29_999, 30_001, 70_000, 10**9, -(10**6)])
def test_a_host_whose_clock_is_off_rules_by_the_stores_clock(off_ms: int) -> None:
    """To the millisecond at every mark and at the limit, whatever the host believes."""
    true = FakeClock(10_000_000)
    host = FakeClock(10_000_000 + off_ms)
    run = shield_for(MINUTE, clock=host, store=MemoryStore(true)).run("a", id="r")
    assert run.check("t", {}).action == Action.ALLOW
    assert run.desk.store.read(CLOCK)[1]["began"] == 10_000_000
    said = []
    for ms in (29_999, 1, 23_999, 1, 6_000, 1):
        true.advance(ms)
        host.advance(ms)
        said.append(run.check("t", {}).action)
    assert said == [
        Action.ALLOW,
        Action.WARN,
        Action.WARN,
        Action.ESCALATE,
        Action.ESCALATE,
        Action.BLOCK,
    ]


def test_hosts_seventy_seconds_apart_agree() -> None:
    """One begins the time of a task, the others are kept to it, wherever their own clocks are."""
    true = FakeClock(10_000_000)
    store = MemoryStore(true)
    policy = {"name": "minute", "guards": [{"use": "time_limit", "max_s": 60, "per": "task"}]}
    hosts = [FakeClock(10_000_000 + off_ms) for off_ms in (-70_000, 0, 70_000)]
    runs = [shield_for(policy, clock=host, store=store).run("a", "t") for host in hosts]
    for first in runs:
        assert first.check("t", {}).proceeds
    true.advance(60_000)
    assert [run.check("t", {}).proceeds for run in runs] == [True, True, True]
    true.advance(1)
    assert [run.check("t", {}).code for run in runs] == ["time.exceeded"] * 3


def test_a_host_a_little_behind_begins_by_its_own_clock_and_never_late() -> None:
    """Within a second it saves a trip, and it costs the run that much of its time."""
    true, host = FakeClock(10_000_000), FakeClock(10_000_000 - SLACK_MS + 1)
    store = LostStore(MemoryStore(true))
    run = shield_for(MINUTE, clock=host, store=store).run("a", id="r")
    assert run.check("t", {}).proceeds
    assert len(store.batches) == 1
    assert store.read(CLOCK)[1]["began"] == 10_000_000 - SLACK_MS + 1


def test_a_clock_that_is_off_costs_a_trip_only_where_it_matters() -> None:
    true, host = FakeClock(10_000_000), FakeClock(10_000_000 - 29_000)
    store = LostStore(MemoryStore(true))
    run = shield_for(MINUTE, clock=host, store=store).run("a", id="r")
    trips: list[int] = []
    for ms in (0, 10_000, 19_999, 1, 10_000):
        true.advance(ms)
        host.advance(ms)
        run.check("t", {})
        trips.append(len(store.batches) - sum(trips))
    assert trips == [2, 1, 1, 2, 2], (
        "at the beginning, and between a mark's true time and the host's"
    )


class Slow:
    """A store on whose way time passes."""

    def __init__(self, clock: FakeClock, takes_ms: int) -> None:
        self._clock, self._takes_ms = clock, takes_ms
        self._store = MemoryStore(clock)

    def carry(self, batch: Batch) -> Reply:
        self._clock.advance(self._takes_ms)
        return self._store.carry(batch)

    async def acarry(self, batch: Batch) -> Reply:
        return self.carry(batch)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


def test_what_arrives_late_at_the_store_is_late() -> None:
    """Judged in time and carried out too late is refused: the time that counts is that of the
    batch."""
    clock = FakeClock()
    run = shield_for(MINUTE, clock=clock, store=Slow(clock, 10)).run("a", id="r")
    assert run.check("t", {}).proceeds
    began = run.desk.store.read(CLOCK)[1]["began"]
    clock.advance(began + 60_000 - clock() - 5)
    assert run.check("t", {}).code == "time.exceeded"


def test_a_store_slower_than_the_slack_refuses_and_begins_nothing() -> None:
    clock = FakeClock()
    run = shield_for(MINUTE, clock=clock, store=Slow(clock, SLACK_MS)).run("a", id="r")
    assert run.check("t", {}).code == "kernel.contention"
    assert run.desk.store.read(CLOCK) == (0, None)


def test_fifty_threads_begin_once_and_end_together() -> None:
    clock = FakeClock()
    store = MemoryStore(clock)
    runs = [shield_for(MINUTE, clock=clock, store=store).run("a", id="r") for _ in range(5)]
    actions: list[Action] = []

    def step(number: int) -> None:
        actions.append(runs[number % 5].check("t", {}).action)

    in_threads(50, step)
    assert actions == [Action.ALLOW] * 50
    assert store.read(CLOCK) == (1, {"began": 1_000_000, "written": 1_000_000})
    clock.advance(60_001)
    in_threads(50, step)
    assert actions[50:] == [Action.BLOCK] * 50


def test_threads_on_both_sides_of_the_limit_are_told_apart_by_the_store() -> None:
    """While the clock moves under them, every one that went ahead was carried out in time."""
    clock = FakeClock()
    store = LostStore(MemoryStore(clock))
    run = shield_for(MINUTE, clock=clock, store=store).run("a", id="r")
    run.check("t", {})
    clock.advance(59_980)
    decisions: list[tuple[bool, int]] = []

    def step(_number: int) -> None:
        clock.advance(1)
        decision = run.check("t", {})
        assert decision.inputs.reply is not None
        decisions.append((decision.action == Action.BLOCK, decision.inputs.reply.now))

    step(0)
    in_threads(50, step)
    clock.advance(100)
    step(51)
    assert [late for late, _ in decisions] == [at > 1_060_000 for _, at in decisions]
    assert (decisions[0][0], decisions[-1][0], len(decisions)) == (False, True, 52)


def test_limits_of_one_run_share_its_beginning() -> None:
    clock = FakeClock()
    guards = [
        {"use": "time_limit", "id": f"l{at}", "max_s": 10 * at, "stages": ["tool_call"]}
        for at in (1, 2)
    ]
    guards.append({"use": "time_limit", "id": "models", "max_s": 15, "stages": ["model_call"]})
    run = shield_for({"name": "p", "guards": guards}, clock=clock).run("a", id="r")
    assert run.check("t", {}).proceeds
    clock.advance(15_000)
    assert run.check("t", {}).determining is not None
    assert run.model_call([]).proceeds
    clock.advance(1)
    assert run.model_call([]).code == "time.exceeded"


def test_a_call_that_takes_long_leaves_no_time_for_the_next() -> None:
    clock = FakeClock()
    run = shield_for(MINUTE, clock=clock).run("a", id="r")

    def slow() -> str:
        clock.advance(90_000)
        return "done"

    assert run.call(slow) == "done"
    late = ScriptedTool("never")
    with pytest.raises(
        Refused, match="the time of this run is over: it has 60 seconds from its first action; stop"
    ):
        run.call(late)
    assert late.count == 0


def test_children_are_kept_to_the_time_of_the_run_that_began_them() -> None:
    clock = FakeClock()
    parent = shield_for(MINUTE, clock=clock).run("a", id="r")
    assert parent.check("t", {}).proceeds
    clock.advance(60_001)
    assert parent.spawn("b").check("t", {}).code == "time.exceeded"


def test_a_ruling_says_how_long_it_is_true() -> None:
    limit = TimeLimit(max_s=10, warn_at=50)
    event = ToolCall(id="e", at=0, run=RunInfo("r"))
    first = limit.ruling(event, None, 1_000)
    assert (first.finding, first.since, first.until) == (None, 1_000, 1_000 + SLACK_MS)
    began = {"began": 1_000, "written": 1_000}
    spans = [limit.ruling(event, began, now) for now in (0, 5_999, 6_000, 11_000, 11_001, 99_999)]
    assert [(one.since, one.until) for one in spans] == [
        (0, 6_000),
        (0, 6_000),
        (6_000, 11_001),
        (6_000, 11_001),
        (11_001, FOREVER),
        (11_001, FOREVER),
    ]
    assert [one.put for one in spans] == [None] * 6


def test_the_beginning_is_written_again_once_a_day() -> None:
    limit = TimeLimit(max_s=10)
    event = ToolCall(id="e", at=0, run=RunInfo("r"))
    began = {"began": 1_000, "written": 1_000}
    assert limit.ruling(event, began, 86_400_999).put is None
    assert limit.ruling(event, began, 86_401_000).put == {"began": 1_000, "written": 86_401_000}


def test_a_record_that_is_none_of_its_own_fails_closed() -> None:
    clock = FakeClock()
    store = MemoryStore(clock)
    store.carry(Batch("x", puts=((CLOCK, {"begun": 1}, When.JUDGED, 0, 0),)))
    decision = shield_for(MINUTE, clock=clock, store=store).run("a", id="r").check("t", {})
    assert (decision.proceeds, decision.code) == (False, "kernel.guard_error")


def test_in_strict_mode_marks_come_earlier_and_the_limit_stays() -> None:
    strict = TimeLimit(max_s=100, warn_at=70, escalate_at=90).tightened(0.8)
    assert (strict.warn_at, strict.escalate_at, strict.max_s) == (56, 72, 100)
    event = ToolCall(id="e", at=0, run=RunInfo("r"))
    began = {"began": 0, "written": 0}
    said = [
        limit.finding
        for limit in (strict.ruling(event, began, now) for now in (55_999, 56_000, 72_000, 100_001))
    ]
    assert [None if one is None else one.action for one in said] == [
        None,
        Action.WARN,
        Action.ESCALATE,
        Action.BLOCK,
    ]


def test_a_mark_that_refuses_in_lockdown_says_so() -> None:
    clock = FakeClock()
    limits = {"use": "time_limit", "max_s": 60, "warn_at": 70}
    policy = {"name": "p", "autonomy": True, "guards": [{"use": "budget", "calls": 6}, limits]}
    run = shield_for(policy, clock=clock).run("a")
    for _ in range(5):
        assert run.check("t", {}).action == Action.ALLOW
    clock.advance(42_000)
    decision = run.check("t", {})
    assert (decision.inputs.mode, decision.action, decision.code) == (
        "lockdown",
        Action.BLOCK,
        "time.nearly",
    )
    said = "this run reaches 70 % of its time: it has 60 seconds from its first action"
    assert (
        decision.message == f"{said}; in lockdown, with so little left of a budget, warnings refuse"
    )
    assert decision.findings[0].said == Action.WARN
    clock.advance(20_000)
    over = run.check("t", {})
    assert (over.code, over.message) == (
        "time.exceeded",
        "the time of this run is over: it has 60 seconds from its first action",
    )
