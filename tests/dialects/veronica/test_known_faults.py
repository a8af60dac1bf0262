"""Faults of an earlier execution shield, by number; each test fails where Stanchion has the
fault."""

from __future__ import annotations

import asyncio
import inspect
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from stanchion import Action, DeadlineExceeded, Finding, PolicyError, Refused, Shield
from stanchion.audit.journal import MemoryJournal
from stanchion.kernel.guard import Kind
from stanchion.testing import Blocks, FakeClock, ScriptedModel, ScriptedTool, shield_for
from tests.guards.steps import steps_of

FREE: dict[str, Any] = {"name": "free"}
BRAKE: dict[str, Any] = {"name": "brake", "guards": [{"use": "safe_mode"}]}


class Pure:
    """A guard that judges inline and gives one answer, or fails."""

    kind = Kind.PURE

    def __init__(
        self,
        name: str,
        answer: Any,
        *,
        stages: tuple[str, ...] = ("tool_call",),
        priority: int = 50,
    ) -> None:
        self.id = name
        self.stages = stages
        self.priority = priority
        self._answer = answer

    def judge(self, _reading: Any) -> Any:
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer


def test_fault_01_safe_mode_stops_wrapped_tool_calls() -> None:
    """Safe mode refuses what goes through the wrapper, and leaves named model calls alone."""
    shield = shield_for(BRAKE)
    tool = ScriptedTool("done", name="save")
    save = shield.tool(tool)
    with shield.run("a") as run:
        with pytest.raises(Refused) as refused:
            save(path="x")
        assert refused.value.decision.code == "safe_mode.tool_refused"
        assert run.model(ScriptedModel("an answer"), [], model="large") == "an answer"
    assert tool.count == 0


@pytest.mark.parametrize(
    ("policy", "says"),
    [
        (
            {"guards": [{"use": "egress_allowlist", "allowed_hosts": ["example.org"]}]},
            "egress_allowlist",
        ),
        ({"guards": [{"use": "step_limit", "max_step": 5}]}, "did you mean `max_steps`"),
        ({"guards": [{"use": "step_limit", "applies_to": {"agent": ["a"]}}]}, "agent"),
        (
            {"guards": [{"use": "safe_mode", "enabled": "maybe"}]},
            "was found where `true` or `false` is expected",
        ),
        ({"guards": [{"use": "step_limit", "stages": []}]}, "`stages` is empty"),
        (
            {"guards": [{"use": "step_limit", "applies_to": {"tools": []}}]},
            "`applies_to.tools` is empty",
        ),
        ({"guards": [{"use": "step_limit", "stages": ["tool_cal"]}]}, "tool_cal"),
        ({"agents": {"a": {"allowed_tools": ["ls"]}}}, "nothing acts on `agents.a.allowed_tools`"),
        ({"agents": {"a": {"allowed_tools": []}}}, "nothing acts on `agents.a.allowed_tools`"),
        (
            {"tasks": {"t": {"additional_tools": ["ls"]}}},
            "nothing acts on `tasks.t.additional_tools`",
        ),
        (
            {
                "agents": {"a": {"allowed_tools": ["ls"]}},
                "guards": [{"use": "tool_allowlist", "enabled": False}],
            },
            "nothing acts on `agents.a.allowed_tools`",
        ),
        ({"agents": {"a": {"tools": ["ls"]}}}, "tools"),
        ({"budget": {"max_cost_usd": 1}}, "budget"),
        ({"secret_guard": True}, "secret_guard"),
    ],
)
def test_fault_02_configuration_that_nothing_acts_on_is_an_error(
    policy: dict[str, Any], says: str
) -> None:
    """What a policy asks for and nobody would do is refused when it loads, by name."""
    with pytest.raises(PolicyError) as refused:
        Shield.load({"name": "inert", **policy})
    assert says in str(refused.value)


def test_fault_03_many_guards_stand_at_one_stage_and_one_that_raises_does_not_escape() -> None:
    """All guards of a stage are heard in order; a failing one becomes a refusal, not an
    exception."""
    guards = [
        Pure("first", Finding(Action.WARN, "own.first"), priority=10),
        Pure("second", Finding(Action.WARN, "own.second"), priority=20),
        Pure("broken", ZeroDivisionError("secret words"), priority=30),
        Pure("last", Finding(Action.WARN, "own.last"), priority=40),
    ]
    shield = shield_for(FREE, guards=guards)
    tool = ScriptedTool("done")
    with pytest.raises(Refused) as refused:
        shield.run("a").call(tool)
    decision = refused.value.decision
    assert [finding.code for finding in decision.findings] == [
        "own.first",
        "own.second",
        "kernel.guard_error",
    ]
    assert decision.skipped == ("last",)
    assert "`ZeroDivisionError`" in str(refused.value)
    assert "secret words" not in str(refused.value)
    assert tool.count == 0


@pytest.mark.parametrize(
    "stage", ["tool_result", "error", "model_call", "model_reply", "prompt", "egress", "handoff"]
)
def test_fault_03_a_guard_that_raises_fails_closed_at_every_stage(stage: str) -> None:
    """Wherever a guard breaks, the event is refused and the caller gets a decision."""
    fields: dict[str, dict[str, Any]] = {
        "tool_result": {"tool": "t", "args": {}, "result": 1},
        "error": {"error": "OSError"},
        "model_call": {"messages": []},
        "model_reply": {"text": "x"},
        "prompt": {"text": "x"},
        "egress": {"url": "https://example.org/"},
        "handoff": {"to": "b", "payload": {}},
    }
    run = shield_for(FREE, guards=[Pure("broken", KeyError(), stages=(stage,))]).run("a")
    decision = run.judge(stage, **fields[stage])
    assert (decision.proceeds, decision.code) == (False, "kernel.guard_error")


def test_fault_11_a_runs_own_deadline_bounds_its_tools_and_refuses_what_comes_after() -> None:
    """The time a run has left is the most a tool gets; when it has passed nothing starts."""
    clock = FakeClock()
    run = shield_for(FREE, clock=clock).run("a", deadline_s=0.02)
    block = Blocks()
    with pytest.raises(DeadlineExceeded):
        run.call(ScriptedTool(block))
    block.release()
    clock.advance(20)
    late = ScriptedTool("done")
    with pytest.raises(Refused, match="the run's deadline has passed"):
        run.call(late)
    assert late.count == 0


def test_fault_12_async_functions_generators_and_methods_stay_what_they_are() -> None:
    """An async function is awaited, generators are iterated item by item, a method keeps its
    object."""
    shield = shield_for(FREE)

    @shield.tool
    async def fetch(url: str) -> str:
        await asyncio.sleep(0)
        return url.upper()

    @shield.tool
    def count(to: int) -> Iterator[int]:
        yield from range(to)

    @shield.tool
    async def acount(to: int) -> AsyncIterator[int]:
        for number in range(to):
            yield number

    class Counter:
        def __init__(self) -> None:
            self.total = 0

        @shield.tool
        def add(self, amount: int) -> int:
            self.total += amount
            return self.total

    async def story() -> tuple[str, list[int]]:
        return await fetch("x"), [number async for number in acount(3)]

    assert inspect.iscoroutinefunction(fetch)
    assert inspect.isgeneratorfunction(count)
    assert inspect.isasyncgenfunction(acount)
    with shield.run("a"):
        assert asyncio.run(story()) == ("X", [0, 1, 2])
        assert list(count(3)) == [0, 1, 2]
        counter = Counter()
        assert (counter.add(2), counter.add(3), counter.total) == (2, 5, 5)
    shown = [kept.read().content for kept in shield.journal.kept() if kept.read().tool == "add"]
    assert shown == [{"amount": 2}, 2, {"amount": 3}, 5]


START = """
import json, signal, sys
import stanchion

def handlers():
    return [str(signal.getsignal(number)) for number in sorted(signal.valid_signals())]

before = handlers()
with stanchion.Shield.load() as shield, shield.run("a") as run:
    result = run.call(len, "four")
print(json.dumps({"same": handlers() == before, "result": result, "state": shield.standing().state}))
sys.exit(int(sys.argv[1]))
"""  # noqa: E501


def test_fault_13_starting_leaves_no_files_no_signal_handlers_and_no_latch(tmp_path: Path) -> None:
    """Two starts in an empty directory, whatever the first one's exit: nothing is left, nothing is
    remembered."""
    home = tmp_path / "home"
    home.mkdir()
    for status in (1, 0):
        done = subprocess.run(
            [sys.executable, "-c", START, str(status)],
            cwd=home,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == status, done.stderr
        assert json.loads(done.stdout) == {"same": True, "result": 4, "state": ""}
        assert list(home.rglob("*")) == []


def test_fault_14_the_newest_records_are_kept_and_what_left_is_counted() -> None:
    """A full journal makes room at the old end and says how much it let go; the chain stays
    whole."""
    journal = MemoryJournal(capacity=3)
    run = shield_for(FREE, journal=journal).run("a", id="r")
    for number in range(10):
        run.prompt(f"words {number}")
    kept = journal.kept()
    assert [one.read().content for one in kept] == ["words 7", "words 8", "words 9"]
    assert (journal.written, journal.dropped) == (10, 7)
    assert [one.read().seq for one in kept] == [7, 8, 9]
    assert [one.read().prev for one in kept[1:]] == [one.hash for one in kept[:-1]]
    assert journal.head == kept[-1].hash


def test_fault_14_a_decision_costs_the_same_however_many_records_are_kept() -> None:
    """Judging and writing take as many steps with five thousand records as with five."""
    run = shield_for(FREE, journal=MemoryJournal(capacity=6_000)).run("a", id="r")

    def decided() -> None:
        run.check("t", {"a": "b"})

    for _ in range(5):
        decided()
    few = steps_of(decided)
    for _ in range(5_000):
        decided()
    assert steps_of(decided) == few


def test_fault_14_a_record_can_be_made_of_whatever_an_agent_sends() -> None:
    """Half characters, huge numbers, odd keys and objects are written down; nothing is dropped or
    raised."""
    shield = shield_for({**FREE, "unread": "allow"})
    run = shield.run("a")
    odd: list[Any] = [
        "\ud800",
        {"\udfff": 1},
        10**400,
        float("inf"),
        {1: 2, None: 3},
        b"\xff",
        {1, 2},
        object(),
    ]
    for value in odd:
        assert run.check("t", {"value": value}).proceeds
    assert shield.journal.written == len(odd)
    assert shield.journal.kept()[0].read().content == {"value": "\ufdd0\\ud800"}
