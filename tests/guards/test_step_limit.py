"""Step limit, where a table cannot reach: many threads, many tasks, many shields, and never one
step too many."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

import pytest

from model.directed.scene import RUN, Scene
from stanchion import Action, Refused, Run
from stanchion.guards.step_limit import StepLimit
from stanchion.kernel.autonomy import Share
from stanchion.kernel.chain import Plans
from stanchion.kernel.guard import Placed
from stanchion.kernel.state import Batch, Line, key
from stanchion.stores.memory import MemoryStore
from stanchion.testing import FakeClock, LostStore, ScriptedTool, shield_for

LOCKED = "in lockdown, with so little left of a budget, warnings refuse"
FIVE = {"name": "five", "guards": [{"use": "step_limit", "max_steps": 5, "per": "task"}]}


def in_threads(count: int, work: Callable[[int], None]) -> None:
    """Run `work(0)` to `work(count - 1)`, all of them let go at once."""
    start = threading.Barrier(count)

    def worker(number: int) -> None:
        start.wait()
        work(number)

    threads = [threading.Thread(target=worker, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_fifty_threads_take_exactly_five_steps() -> None:
    run = shield_for({"name": "five", "guards": [{"use": "step_limit", "max_steps": 5}]}).run("a")
    tool = ScriptedTool("done")
    codes: list[str] = []

    def step(_number: int) -> None:
        try:
            assert run.call(tool) == "done"
        except Refused as refused:
            codes.append(refused.decision.code)

    in_threads(50, step)
    assert tool.count == 5
    assert codes == ["steps.exceeded"] * 45


def test_fifty_threads_on_several_shields_with_one_store_take_exactly_five_steps() -> None:
    store = MemoryStore(FakeClock())
    runs = [shield_for(FIVE, store=store).run(f"agent-{number}", "shared") for number in range(5)]
    tool = ScriptedTool("done")

    def step(number: int) -> None:
        try:
            runs[number % len(runs)].call(tool)
        except Refused:
            return

    in_threads(50, step)
    assert tool.count == 5


async def _gathered(run: Run, tool: ScriptedTool) -> list[object]:
    calls = [run.acall(tool.as_async()) for _ in range(50)]
    return list(await asyncio.gather(*calls, return_exceptions=True))


def test_fifty_tasks_take_exactly_five_steps() -> None:
    tool = ScriptedTool("done")
    answers = asyncio.run(_gathered(shield_for(FIVE).run("a", "t"), tool))
    assert tool.count == 5
    assert answers.count("done") == 5
    assert sum(isinstance(answer, Refused) for answer in answers) == 45


def test_a_call_that_fails_has_used_its_step() -> None:
    run = shield_for({"name": "two", "guards": [{"use": "step_limit", "max_steps": 2}]}).run("a")
    tool = ScriptedTool(OSError("no disk"))
    for _ in range(2):
        with pytest.raises(OSError, match="no disk"):
            run.call(tool)
    with pytest.raises(Refused, match="all 2 steps of this run are used; stop and report"):
        run.call(tool)
    assert tool.count == 2


def test_an_answer_of_the_store_that_is_lost_refuses_and_the_step_stays_used() -> None:
    clock = FakeClock()
    store = LostStore(MemoryStore(clock), on=[1], applied=True)
    run = shield_for(FIVE, clock=clock, store=store).run("a", "t")
    decisions = [run.check("t", {}) for _ in range(6)]
    assert [decision.code for decision in decisions] == [
        "kernel.store_lost",
        "",
        "",
        "",
        "",
        "steps.exceeded",
    ]


def test_children_take_steps_of_the_task_they_share() -> None:
    parent = shield_for(FIVE).run("a", "t")
    children = [parent.spawn(f"child-{number}") for number in range(5)]
    assert [child.check("t", {}).proceeds for child in children] == [True] * 5
    assert parent.check("t", {}).code == "steps.exceeded"
    assert children[0].check("t", {}).code == "steps.exceeded"


def test_a_warning_that_refuses_in_lockdown_says_so() -> None:
    limits = {"use": "step_limit", "max_steps": 6, "warn_after": 5}
    policy = {"name": "p", "autonomy": True, "guards": [{"use": "budget", "calls": 6}, limits]}
    run = shield_for(policy).run("a")
    for _ in range(5):
        assert run.check("t", {}).proceeds
    decision = run.check("t", {})
    assert (decision.inputs.mode, decision.action, decision.code) == (
        "lockdown",
        Action.BLOCK,
        "steps.nearly",
    )
    assert decision.message == "this is step 6 of 6 of this run; " + LOCKED
    assert decision.findings[0].said == Action.WARN


def test_a_step_after_the_last_is_no_warning_in_lockdown() -> None:
    scene = Scene(Placed("s", StepLimit(max_steps=5, warn_after=1)))
    scene.budgets = (Share(key("default", "steps", "", "run", "r1"), 6),)
    scene.plans = Plans(scene, RUN)
    scene.store.carry(
        Batch(
            "before",
            lines=(Line(key("default", "steps", "", "run", "r1")),),
            amounts=(5, 0, 0, 0, 0),
        )
    )
    decision = scene.judge()
    assert (decision.inputs.mode, decision.code, decision.findings[0].said) == (
        "lockdown",
        "steps.exceeded",
        None,
    )
    assert decision.message == "all 5 steps of this run are used"
