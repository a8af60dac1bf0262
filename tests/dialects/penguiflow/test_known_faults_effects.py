"""Faults of an earlier guardrail gateway in what rules do to a run; each test fails where Stanchion
has the fault."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from stanchion import Action, Refused
from stanchion.audit.reader import TrailReader
from stanchion.audit.runs import newest_runs
from stanchion.audit.trail import Trail
from stanchion.kernel.stages import Stage
from stanchion.stores.memory import MemoryStore
from stanchion.testing import FakeClock, ScriptedTool, shield_for
from tests.runtime.guards import says


def _striking(mode: str = "enforce", **strikes: Any) -> dict[str, Any]:
    """A policy with two rules that both count a strike against whoever calls `odd`."""
    rule = {
        "use": "rule",
        "when": "event.tool == 'odd'",
        "action": "warn",
        "effects": ["increment_strike"],
    }
    guards = [{**rule, "id": name, "mode": mode} for name in ("second", "first")]
    return {"name": "p", "limits": {"warnings": 1_000}, "strikes": strikes, "guards": guards}


def test_fault_09_shadow_mode_changes_no_strikes() -> None:
    """What only watches neither counts nor brings a real threshold nearer."""
    clock = FakeClock()
    store = MemoryStore(clock)
    watched = shield_for(_striking("shadow", escalate_at=1), clock=clock, store=store).run(
        "a", id="r"
    )
    for number in range(3):
        decision = watched.check("odd", {"number": number})
        assert (decision.action, decision.effects) == (Action.ALLOW, ())
        assert {effect for finding in decision.shadow for effect in finding.effects} == {
            "increment_strike"
        }
    real = shield_for(_striking(escalate_at=2), clock=clock, store=store)
    run = real.run("a", id="r")
    run.check("odd", {})
    assert [fact.data["count"] for fact in real.journal.facts()] == [1, 1]
    assert run.check("even", {}).action == Action.ALLOW


def test_fault_12_strikes_surface_and_decay(tmp_path: Path) -> None:
    """They stand in the run's end, lead to what the policy says, and are forgotten in time."""
    clock = FakeClock()
    shield = shield_for(
        _striking(escalate_at=2, decay_s=60),
        clock=clock,
        store=MemoryStore(clock),
        journal=Trail(tmp_path / "trail"),
    )
    with shield.run("a", id="r") as run:
        run.check("odd", {"number": 1})
        clock.advance(61_000)
        run.check("odd", {"number": 2})
        assert run.check("even", {"number": 2}).action == Action.ALLOW, (
            "the first strike is forgotten"
        )
        run.check("odd", {"number": 3})
        assert run.check("even", {"number": 3}).code == "strikes.reached"
    shield.close()
    (story,) = newest_runs(TrailReader(tmp_path / "trail"))
    assert story.strikes == {"first": 2, "second": 2}


def test_fault_12_a_stop_in_a_parallel_plan_ends_the_run() -> None:
    """Whatever runs beside it starts nothing any more, and what had started hands nothing on."""
    shield = shield_for(
        {"name": "free"}, guards=[says(Action.HALT, Stage.TOOL_CALL, tools=frozenset({"stop"}))]
    )
    run = shield.run("a")
    began, ended = asyncio.Event(), asyncio.Event()

    async def slow() -> str:
        began.set()
        await ended.wait()
        return "came too late"

    async def stop() -> None:
        """Never starts."""

    async def plan() -> list[Any]:
        work = asyncio.ensure_future(run.acall(slow))
        await began.wait()
        stopped = await asyncio.gather(run.acall(stop), return_exceptions=True)
        ended.set()
        return [*stopped, *await asyncio.gather(work, run.acall(slow), return_exceptions=True)]

    results = asyncio.run(plan())
    assert all(isinstance(result, Refused) for result in results)
    assert [result.decision.action for result in results] == [Action.HALT] * 3


def test_fault_01_a_pause_before_a_tool_call_is_durable_and_resumes() -> None:
    """The run goes on; another process approves, and a third one makes the call, once."""
    clock = FakeClock()
    store = MemoryStore(clock)
    rule = {
        "use": "rule",
        "when": "event.tool == 'pay'",
        "action": "escalate",
        "pause": {"prompt": "May it be paid?"},
    }
    policy = {"name": "p", "guards": [rule]}
    tool = ScriptedTool("paid", name="pay")
    first = shield_for(policy, clock=clock, store=store)
    run = first.run("a", id="r")
    with pytest.raises(Refused) as paused:
        run.call(tool, amount=5)
    assert paused.value.waits
    assert run.check("look", {}).proceeds, (
        "the rest of the run is not held up, and nothing has crashed"
    )
    assert paused.value.ticket is not None
    shield_for(policy, clock=clock, store=store).approve(paused.value.ticket, by="ann")
    later = shield_for(policy, clock=clock, store=store).run("a", id="r")
    assert later.call(tool, amount=5) == "paid"
    with pytest.raises(Refused):
        later.call(tool, amount=5)
    assert tool.count == 1
