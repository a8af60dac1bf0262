"""Behind a handoff: nobody waits for its judgement, nothing blocks, and its task and whoever it
works for know."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any, Final

import pytest

from stanchion import Action, Run, Shield
from stanchion.kernel.findings import Finding
from stanchion.kernel.stages import Stage
from stanchion.runtime.calling.handoffs import TaskStatus, status_key, status_of
from stanchion.telemetry.occurrences import Kind, Occurrence
from stanchion.testing import shield_for
from tests.runtime.guards import Says

AGENTS: Final[dict[str, Any]] = {"name": "p", "agents": {"ann": {}, "bob": {}}}
DOUBT: Final = "the handoff looks wrong"


def rule(action: str) -> dict[str, Any]:
    """A guardrail behind handoffs that always finds something."""
    entry = {
        "use": "rule",
        "id": "after",
        "check": "event.stage != 'handoff_done'",
        "action": action,
        "message": DOUBT,
    }
    return {**AGENTS, "guards": [{**entry, "stages": ["handoff_done"]}]}


def hand_over(run: Run, to: str = "bob", payload: Any = None) -> Any:
    handed = run.handoff(to, {"reason": "done"} if payload is None else payload)
    assert handed.proceeds
    return run.handoff_done(to, call=handed.id)


def status(shield: Shield, task: str = "login") -> TaskStatus:
    """The status of a task as the store has it once it was told everything."""
    shield.run("looker").check("look", {})
    return status_of(shield.store.read(status_key("default", task))[1])


@pytest.mark.parametrize("action", ["warn", "escalate", "block"])
def test_a_guard_behind_a_handoff_warns_and_nothing_more(action: str) -> None:
    shield = shield_for(rule(action))
    run = shield.run("ann", task="login")
    decision = hand_over(run)
    assert (decision.action, decision.message) == (Action.WARN, DOUBT)
    assert decision.proceeds
    assert not shield.tickets()
    assert run.check("look", {}).proceeds


def test_a_guardrail_file_may_block_behind_a_handoff() -> None:
    said = {
        "id": "safety-050",
        "name": "x",
        "type": "post_handoff",
        "priority": 10,
        "category": "safety",
    }
    checked = {"check": "event.stage != 'handoff_done'", "action_on_fail": "block"}
    shield = shield_for({"guardrail": {**said, "validation": checked}})
    payload = {"context": {"task_id": "1"}, "artifacts": [], "rationale": "done"}
    assert hand_over(shield.run("ann"), payload=payload).action == Action.WARN


class Breaks(Says, frozen=True):
    """A guard that does not work."""

    def judge(self, reading: Any, /) -> Finding | None:
        raise RuntimeError


def test_a_guard_that_breaks_behind_a_handoff_is_a_warning_too() -> None:
    shield = Shield.load(AGENTS, guards=[Breaks(Action.BLOCK, frozenset({Stage.HANDOFF_DONE}))])
    decision = hand_over(shield.run("ann"))
    assert (decision.action, decision.code) == (Action.WARN, "kernel.guard_error")


class Asking:
    """A guard that asks somebody who takes their time."""

    id = "slow"
    stages = ("handoff_done",)
    deadline_ms = 60_000

    def __init__(self) -> None:
        self.asked, self.answer = threading.Event(), threading.Event()

    def judge(self, _event: Any) -> str:
        self.asked.set()
        assert self.answer.wait(60)
        return DOUBT


def slow(asking: Asking) -> Shield:
    return Shield.load(AGENTS, guards=[asking])


def test_nobody_waits_for_a_guard_that_asks_behind_a_handoff() -> None:
    asking = Asking()
    shield = slow(asking)
    run = shield.run("ann", task="login")
    decision = hand_over(run)
    assert decision.action == Action.ALLOW
    assert asking.asked.wait(60)
    assert run.check("look", {}).proceeds
    assert not run.notices()
    asking.answer.set()
    assert shield.answers.afterwards.finish(60)
    assert any(DOUBT in notice for notice in run.notices())
    (warned,) = status(shield).warnings
    assert (warned.guard, warned.decision) == ("slow", decision.id)
    shield.close()


def test_a_run_that_ends_is_judged_to_the_end() -> None:
    asking = Asking()
    shield = slow(asking)
    with shield.run("ann", task="login") as run:
        hand_over(run)
    asking.answer.set()
    assert shield.answers.afterwards.finish(60)
    (warned,) = status(shield).warnings
    assert warned.code == "python.refused"
    shield.close()


def test_closing_finishes_what_nobody_waited_for(tmp_path: Path) -> None:
    asking = Asking()
    shield = Shield.load(AGENTS, guards=[asking], store=f"sqlite:{tmp_path / 'state.db'}")
    hand_over(shield.run("ann", task="login"))
    asking.answer.set()
    shield.close()
    with Shield.load(AGENTS, store=f"sqlite:{tmp_path / 'state.db'}") as again:
        assert status(again).status == "handed over"
        assert len(status(again).warnings) == 1


def test_the_status_of_the_task_is_kept() -> None:
    shield = shield_for(rule("block"))
    run = shield.run("ann", task="login")
    handed = run.handoff("bob", {})
    now = status(shield)
    assert (now.status, now.by, now.to, now.run, now.handoffs) == (
        "offered",
        "ann",
        "bob",
        run.id,
        0,
    )
    done = run.handoff_done("bob", call=handed.id)
    now = status(shield)
    assert (now.status, now.by, now.to, now.handoffs) == ("handed over", "ann", "bob", 1)
    assert [(one.guard, one.code, one.decision) for one in now.warnings] == [
        ("after", done.code, done.id)
    ]
    hand_over(shield.run("bob", task="login"), "ann")
    now = status(shield)
    assert (now.by, now.to, now.handoffs, len(now.warnings)) == ("bob", "ann", 2, 2)
    assert status(shield, "other") == TaskStatus()


def test_a_handoff_tells_the_store_at_once() -> None:
    shield = shield_for(AGENTS)
    run = shield.run("ann", task="login")
    handed = run.handoff("bob", {})
    assert status_of(shield.store.read(status_key("default", "login"))[1]).status == "offered"
    run.handoff_done("bob", call=handed.id)
    assert status_of(shield.store.read(status_key("default", "login"))[1]).status == "handed over"
    assert not shield.unsettled.waiting


def test_a_handoff_that_is_refused_changes_no_status() -> None:
    shield = shield_for({**AGENTS, "guards": [{"use": "handoff"}]})
    assert not shield.run("ann", task="login").handoff("bob", {}).proceeds
    assert status(shield) == TaskStatus()


def test_only_so_many_warnings_are_kept() -> None:
    shield = shield_for({**rule("warn"), "limits": {"warnings": 1000}})
    for _ in range(25):
        hand_over(shield.run("ann", task="login"))
    now = status(shield)
    assert (now.handoffs, len(now.warnings)) == (25, 20)


def test_whoever_a_run_works_for_is_told() -> None:
    shield = shield_for(rule("warn"))
    parent = shield.run("chief")
    told: list[Occurrence] = []
    shield.occurrences.subscribe(told.append, each=True)
    hand_over(parent.spawn("ann"))
    (notice,) = parent.notices()
    assert notice == f"agent `ann` has handed its work to agent `bob`: {DOUBT}"
    (one,) = [one for one in told if one.kind in (Kind.HANDED_OVER, Kind.HANDOFF_WARNED)]
    assert (one.kind, one.agent, one.text) == (Kind.HANDOFF_WARNED, "ann", notice)


def test_a_handoff_without_a_warning_is_told_as_such() -> None:
    shield = shield_for({**AGENTS, "guards": []})
    told: list[Occurrence] = []
    shield.occurrences.subscribe(told.append, each=True)
    hand_over(shield.run("ann"))
    assert [one.kind for one in told] == [Kind.HANDED_OVER]
