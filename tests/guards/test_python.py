"""A user's own guard, by shape alone: what it may be, how it answers, and what comes of it when it
is late."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from stanchion import Action, Finding, PolicyError, Refused, Run, Shield
from stanchion.testing import ScriptedTool, shield_for
from tests.guards.house_rules import Rules, Waiting, no_force

PLAIN: dict[str, Any] = {
    "name": "plain",
    "tools": {"door": {"risk": "high"}, "bomb": {"risk": "critical"}},
}
LONG_MS = 60_000
FORCED = {"command": "push --force"}


@pytest.fixture(autouse=True)
def short_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads that have nothing to do end at once: tests wait for their end."""
    monkeypatch.setattr("stanchion.runtime.answers.pool.IDLE_S", 0.01)


class CallableObject:
    """An object that is called like a function."""

    def __call__(self, event: Any) -> str | None:
        return no_force(event)


class AsyncCallable:
    """An object that is called like a coroutine function."""

    async def __call__(self, event: Any) -> str | None:
        return no_force(event)


async def no_force_async(event: Any) -> str | None:
    """A coroutine function."""
    return no_force(event)


def reasoned(event: Any, *, reason: str) -> str | None:
    """A function that needs one more argument before it is a guard."""
    return reason if no_force(event) else None


def placed(guard: Any, **place: Any) -> Any:
    """A guard with attributes that say where it stands; a method's are those of its function."""
    for name, value in place.items():
        setattr(getattr(guard, "__func__", guard), name, value)
    return guard


SHAPES: dict[str, Any] = {
    "function": no_force,
    "lambda": lambda event: no_force(event),
    "coroutine function": no_force_async,
    "object with judge": Rules(),
    "object with async judge": Waiting(),
    "bound method": Rules().judge,
    "callable object": CallableObject(),
    "async callable object": AsyncCallable(),
    "partial": partial(reasoned, reason="not like that"),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_whatever_has_the_shape_of_a_guard_is_one(shape: str) -> None:
    run = shield_for(PLAIN, guards=[placed(SHAPES[shape], deadline_ms=LONG_MS)]).run("a")
    good, bad = {"path": "/house/x"}, {**FORCED, "path": "/elsewhere"}
    assert run.check("git", good).proceeds
    refused = run.check("git", bad)
    assert (refused.action, refused.code) == (Action.BLOCK, "python.refused")
    assert asyncio.run(run.acheck("git", good)).proceeds
    assert asyncio.run(run.acheck("git", bad)).code == "python.refused"


def test_its_text_is_what_the_agent_reads_and_the_tool_does_not_run() -> None:
    run = shield_for(PLAIN, guards=[placed(no_force, deadline_ms=LONG_MS)]).run("a")
    tool = ScriptedTool(name="git")
    with pytest.raises(
        Refused,
        match=r"^do not force; rebase instead; do it in a way that this allows, or ask the user$",
    ):
        run.call(tool, **FORCED)
    assert tool.count == 0


class Own:
    """A guard that gives one answer and says where it stands by attributes."""

    deadline_ms = LONG_MS

    def __init__(self, answer: Any, **place: Any) -> None:
        self.answer = answer
        for name, value in place.items():
            setattr(self, name, value)

    def judge(self, _event: Any) -> Any:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def test_attributes_say_where_it_stands() -> None:
    guards = [
        Own(None, id="last", priority=300),
        Own(Finding(Action.WARN, "own.b"), id="b", priority=20, category="scope"),
        Own(Finding(Action.WARN, "own.a"), id="z", priority=20, category="safety"),
        Own("no", id="stops", priority=200),
        Own("no", id="watches", priority=1, mode="shadow"),
        Own("no", id="elsewhere", priority=0, stages=["prompt"]),
    ]
    run = shield_for(PLAIN, guards=guards).run("a")
    decision = run.check("t", {})
    assert [finding.guard for finding in decision.findings] == ["z", "b", "stops"]
    assert [finding.guard for finding in decision.shadow] == ["watches"]
    assert decision.skipped == ("last",)
    assert run.prompt("hello").determining == Finding(
        Action.BLOCK, "python.refused", ("no",), guard="elsewhere"
    )


@pytest.mark.parametrize(
    "answer",
    [0, True, b"no", ["no"], Action.BLOCK, object()],
    ids=lambda answer: type(answer).__name__,
)
def test_an_answer_of_any_other_shape_refuses(answer: Any) -> None:
    decision = shield_for(PLAIN, guards=[Own(answer, id="odd")]).run("a").check("t", {})
    assert (decision.action, decision.code) == (Action.BLOCK, "kernel.guard_error")
    assert decision.errors == decision.findings
    assert "guard `odd` failed with `TypeError`" in decision.message


@pytest.mark.parametrize(
    ("fail_open", "tool", "proceeds"),
    [
        (False, "door", False),
        (True, "door", True),
        (True, "t", True),
        (True, "bomb", False),
        (False, "t", False),
    ],
)
def test_one_that_raises_refuses_unless_it_may_fail_open(
    fail_open: bool, tool: str, proceeds: bool
) -> None:
    guard = Own(RuntimeError("the password is hunter2"), id="broken", fail_open=fail_open)
    shield = shield_for(PLAIN, guards=[guard])
    decision = shield.run("a").check(tool, {})
    assert decision.proceeds is proceeds
    assert [finding.code for finding in decision.errors] == ["kernel.lookup_failed"]
    assert "`RuntimeError`" in decision.errors[0].message
    assert b"hunter2" not in shield.journal.kept()[0].text


def test_a_risk_that_a_tool_is_registered_with_keeps_it_closed() -> None:
    shield = shield_for(PLAIN, guards=[Own(RuntimeError(), fail_open=True)])
    ran: list[str] = []

    @shield.tool(risk="critical")
    def wipe() -> None:
        ran.append("wipe")

    with shield.run("a"), pytest.raises(Refused, match="failed with `RuntimeError`"):
        wipe()
    assert ran == []


def test_guards_are_asked_side_by_side() -> None:
    meeting = threading.Barrier(2)

    def meets(_event: Any) -> None:
        meeting.wait()

    pair: list[Any] = [partial(meets), partial(meets)]
    guards = [
        placed(guard, id=f"guard-{number}", deadline_ms=LONG_MS)
        for number, guard in enumerate(pair)
    ]
    run = shield_for(PLAIN, guards=guards).run("a")
    assert run.check("t", {}).proceeds
    assert asyncio.run(run.acheck("t", {})).proceeds


class Slow:
    """A guard that does not answer before it is released: always after its deadline."""

    def __init__(self, answer: Any, **place: Any) -> None:
        self.id = "slow"
        self.deadline_ms = 1
        self._answer = answer
        self._begun = threading.Event()
        self._released = threading.Event()
        self._thread: threading.Thread | None = None
        for name, value in place.items():
            setattr(self, name, value)

    def judge(self, _event: Any) -> Any:
        self._thread = threading.current_thread()
        self._begun.set()
        self._released.wait()
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer

    def answer(self) -> None:
        """Let the answer come, and wait until it has been taken."""
        self._begun.wait()
        self._released.set()
        assert self._thread is not None
        self._thread.join()


def late(run: Run, slow: Slow, tool: str = "door") -> Any:
    """Have a call judged without the slow guard's answer, let that come, and give the first
    decision."""
    decision = run.check(tool, {})
    slow.answer()
    return decision


def test_a_redaction_that_takes_nothing_out_refuses() -> None:
    said = Finding(Action.REDACT, "own.secret")
    run = shield_for(PLAIN, guards=[Own(said, fail_open=True)]).run("a")
    decision = run.check("t", {"password": "hunter2"})
    assert (decision.action, decision.code) == (Action.BLOCK, "kernel.patch_failed")
    tool = ScriptedTool(name="t")
    with pytest.raises(Refused, match="the redaction of guard `Own` does not fit"):
        run.call(tool, password="hunter2")
    assert tool.count == 0


def test_no_answer_within_the_deadline_refuses() -> None:
    slow = Slow(None)
    decision = late(shield_for(PLAIN, guards=[slow]).run("a"), slow)
    assert (decision.action, decision.code) == (Action.BLOCK, "kernel.lookup_expired")
    assert decision.message == "guard `slow` got no answer in time, so it is refused"


@pytest.mark.parametrize(
    ("place", "tool", "proceeds", "code"),
    [
        ({"deep": True}, "t", True, "kernel.lookup_late"),
        ({"deep": True}, "door", False, "kernel.lookup_undecided"),
        ({"deep": True}, "bomb", False, "kernel.lookup_expired"),
        ({"deep": True, "fail_open": True}, "door", True, "kernel.lookup_expired"),
        ({"fail_open": True}, "t", True, "kernel.lookup_expired"),
        ({"fail_open": True}, "bomb", False, "kernel.lookup_expired"),
        ({"deep": True, "fail_open": True}, "bomb", False, "kernel.lookup_expired"),
    ],
)
def test_a_deep_guard_and_one_that_fails_open_may_be_late(
    place: dict[str, bool], tool: str, proceeds: bool, code: str
) -> None:
    slow = Slow(None, **place)
    decision = late(shield_for(PLAIN, guards=[slow]).run("a"), slow, tool)
    assert decision.proceeds is proceeds
    assert [finding.code for finding in decision.errors] == [code]


@pytest.mark.parametrize(
    ("answer", "action"),
    [
        ("no", Action.ESCALATE),
        (Finding(Action.BLOCK, "own.late"), Action.ESCALATE),
        (Finding(Action.ESCALATE, "own.late"), Action.ESCALATE),
        (Finding(Action.QUARANTINE, "own.late"), Action.QUARANTINE),
        (Finding(Action.HALT, "own.late"), Action.HALT),
        (Finding(Action.REDACT, "own.late"), Action.WARN),
        (Finding(Action.RETRY, "own.late"), Action.WARN),
        (Finding(Action.QUEUE, "own.late"), Action.WARN),
        (Finding(Action.WARN, "own.late"), Action.WARN),
    ],
    ids=lambda value: value.action.name if isinstance(value, Finding) else repr(value),
)
def test_a_late_answer_enters_the_next_event(answer: Any, action: Action) -> None:
    slow = Slow(answer, deep=True)
    run = shield_for(PLAIN, guards=[slow]).run("a")
    assert late(run, slow, "t").proceeds
    following = run.model_reply("hello")
    assert (following.action, following.code) == (action, "kernel.late_answer")
    assert "a late answer from guard `slow` about an earlier event" in following.message
    after = run.model_reply("hello again")
    assert after.action is (Action.HALT if action is Action.HALT else _after(action))


def _after(action: Action) -> Action:
    """What the event after the next one meets: an isolated agent stays isolated, all else is
    over."""
    return Action.BLOCK if action is Action.QUARANTINE else Action.ALLOW


@pytest.mark.parametrize(
    "answer",
    [None, Finding(Action.ALLOW, "own.fine"), ValueError("too late to matter"), 7],
    ids=repr,
)
def test_a_late_answer_without_an_objection_changes_nothing(answer: Any) -> None:
    slow = Slow(answer, deep=True)
    run = shield_for(PLAIN, guards=[slow]).run("a")
    assert late(run, slow, "t").proceeds
    assert run.model_reply("hello").findings == ()


def test_a_late_answer_in_shadow_mode_is_only_noted() -> None:
    slow = Slow("no", mode="shadow")
    run = shield_for(PLAIN, guards=[slow]).run("a")
    assert late(run, slow).action is Action.ALLOW
    following = run.model_reply("hello")
    assert (following.action, following.findings) == (Action.ALLOW, ())
    assert [finding.code for finding in following.shadow] == ["kernel.late_answer"]


def test_late_warnings_are_told_to_the_agent() -> None:
    slow = Slow(Finding(Action.WARN, "own.late", text="mind the gap"), deep=True)
    run = shield_for(PLAIN, guards=[slow]).run("a")
    late(run, slow, "t")
    run.model_reply("hello")
    assert ["mind the gap" in notice for notice in run.notices()] == [True]


class SlowAsync:
    """An async guard that waits to be released."""

    id = "slow"
    deadline_ms = 1

    def __init__(self, answer: Any) -> None:
        self.released = asyncio.Event()
        self.answer = answer

    async def judge(self, _event: Any) -> Any:
        await self.released.wait()
        return self.answer


def test_an_async_guard_that_is_late_enters_the_next_event_too() -> None:
    async def story() -> list[tuple[Action, str]]:
        slow = SlowAsync("no")
        run = shield_for(PLAIN, guards=[slow]).run("a")
        first = await run.acheck("t", {})
        slow.released.set()
        await _until(lambda: asyncio.all_tasks() == {asyncio.current_task()})
        following = await run.ajudge("model_reply", text="hello")
        return [(decision.action, decision.code) for decision in (first, following)]

    assert asyncio.run(story()) == [
        (Action.BLOCK, "kernel.lookup_expired"),
        (Action.ESCALATE, "kernel.late_answer"),
    ]


async def _until(true: Callable[[], bool]) -> None:
    """Let other tasks work until something is so, and once more for what that calls back."""
    while not true():
        await asyncio.sleep(0)
    await asyncio.sleep(0)


def test_a_policy_file_names_code_that_can_be_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "my_rules_of_the_house.py").write_text(
        "def careful(event):\n    return 'not on a Friday' if event.args.get('day') == 'friday' "
        "else None\n",
        encoding="utf-8",
    )
    file = tmp_path / "policy.yaml"
    file.write_text(
        "name: house\nguards:\n"
        "  - {use: python, id: careful, call: 'my_rules_of_the_house:careful', deadline_ms: "
        "60000}\n",
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(tmp_path)
    run = Shield.load(file).run("a")
    assert run.check("deploy", {"day": "monday"}).proceeds
    refused = run.check("deploy", {"day": "friday"})
    assert (refused.code, refused.message) == ("python.refused", "not on a Friday")


@pytest.mark.parametrize(
    ("guard", "says"),
    [
        (7, "cannot judge"),
        ("tests.guards.house_rules:no_force", "cannot judge"),
        (Rules, "cannot judge"),
        (Own(None, judge="no"), "cannot judge"),
        (Own(None, stages=["model_chunk"]), "`model_chunk` takes pure guards only"),
        (Own(None, stages=["tool_cal"]), "tool_cal"),
    ],
)
def test_what_cannot_judge_is_an_error_at_once(guard: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        shield_for(PLAIN, guards=[guard])


def test_two_guards_of_one_id_are_an_error() -> None:
    with pytest.raises(PolicyError, match="the id is taken"):
        shield_for(PLAIN, guards=[no_force, no_force])
