"""Runs: children, cancellation, deadlines, notices, models, streams, and what stands before every
chain."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from stanchion import Action, Refused, Shield, Stage
from stanchion.kernel.findings import Isolate, Patch, Retry, Wait
from stanchion.readings import read
from stanchion.stores.memory import MemoryStore
from stanchion.testing import FakeClock
from tests.runtime.guards import says

BARE = {"name": "bare"}


def test_cancelling_a_parent_cancels_its_children_at_once() -> None:
    """Also grandchildren, and also those of another shield on the same store."""
    store = MemoryStore()
    here, there = Shield.load(BARE, store=store), Shield.load(BARE, store=store)
    parent = here.run("a", id="parent")
    child = parent.spawn("b")
    grandchild = child.spawn("c")
    elsewhere = there.run("d", parent=there.run("a", id="parent"))
    assert grandchild.check("t", {}).proceeds
    parent.cancel("the user left")
    for run in (parent, child, grandchild, elsewhere):
        decision = run.check("t", {})
        assert (decision.action, decision.code) == (Action.HALT, "kernel.cancelled")
        assert decision.message == "the run was cancelled: the user left"


def test_cancelling_a_child_leaves_its_parent_alone() -> None:
    """Cancellation goes down, not up."""
    parent = Shield.load(BARE).run("a")
    child = parent.spawn("b")
    child.cancel()
    assert parent.check("t", {}).proceeds


def test_a_halt_ends_the_run_for_every_process() -> None:
    """Nothing of it proceeds any more, wherever it is judged next."""
    store = MemoryStore()
    guard = says(Action.HALT, Stage.PROMPT)
    run = Shield.load(BARE, store=store, guards=[guard]).run(id="r")
    assert run.prompt("do harm").action == Action.HALT
    assert run.check("t", {}).code == "kernel.ended"
    assert Shield.load(BARE, store=store).run(id="r").check("t", {}).code == "kernel.ended"


def test_a_closed_run_refuses() -> None:
    """A run that was left cannot be used by mistake."""
    shield = Shield.load(BARE)
    with shield.run() as run:
        pass
    assert run.check("t", {}).code == "kernel.ended"


def test_a_deadline_is_kept_and_inherited() -> None:
    """A child cannot have more time than its parent; afterwards nothing starts."""
    clock = FakeClock()
    shield = Shield.load(BARE, clock=clock)
    parent = shield.run(deadline_s=10)
    child = parent.spawn("b", deadline_s=60)
    clock.advance(9_999)
    assert child.check("t", {}).proceeds
    clock.advance(1)
    for run in (parent, child):
        assert run.check("t", {}).code == "kernel.deadline"


def test_a_task_of_the_policy_sets_a_deadline() -> None:
    """What the policy says of a task holds without the caller saying it."""
    clock = FakeClock()
    shield = Shield.load({"name": "p", "tasks": {"fix-*": {"deadline_s": 5}}}, clock=clock)
    run, other = shield.run("a", "fix-login"), shield.run("a", "other")
    clock.advance(5_000)
    assert run.check("t", {}).code == "kernel.deadline"
    assert other.check("t", {}).proceeds


def test_warnings_reach_the_agent_once_and_annotate_the_result() -> None:
    """`notices` hands them over; the record of the result carries them too."""
    shield = Shield.load(BARE, guards=[says(Action.WARN, Stage.TOOL_CALL, guidance="slow down")])
    with shield.run() as run:
        run.call(lambda: None)
        assert run.notices() == ("says says WARN; slow down",)
        assert run.notices() == ()
    assert shield.journal.kept()[-1].read().notes == ("says says WARN",)


def test_a_model_hears_notices_and_guidance_and_its_retries_are_bounded() -> None:
    """Asked again twice where the guard grants two retries, each time with one more word of
    guidance."""
    heard: list[list[Any]] = []
    guard = says(Action.RETRY, Stage.MODEL_REPLY, terms=Retry(2), guidance="answer in one word")
    run = Shield.load(BARE, guards=[guard]).run()
    run.desk.tell("mind the budget")

    def model(messages: list[Any]) -> str:
        heard.append([m["content"] for m in messages])
        return "many words"

    with pytest.raises(Refused):
        run.model(model, [{"role": "user", "content": "hi"}])
    assert heard == [
        ["hi", "mind the budget"],
        ["hi", "mind the budget", "answer in one word"],
        ["hi", "mind the budget", "answer in one word", "answer in one word"],
    ]


def test_guidance_names_a_tool_and_the_model_calls_it() -> None:
    """A guard that wants a tool called says so: it is the model that calls it, through the run."""
    searched: list[str] = []

    def search(query: str) -> str:
        searched.append(query)
        return "found"

    rule = {
        "use": "rule",
        "when": "event.text == 'I guess'",
        "action": "retry",
        "advice": "call `search` first",
    }
    run = Shield.load({"name": "p", "guards": [{**rule, "stages": ["model_reply"]}]}).run()
    called_by_then: list[int] = []

    def model(messages: list[Any]) -> str:
        called_by_then.append(len(searched))
        told = messages[-1]["content"]
        return f"{run.call(search, 'x')}" if told == "call `search` first" else "I guess"

    assert run.model(model, [{"role": "user", "content": "hi"}]) == "found"
    assert called_by_then == [0, 0]
    assert searched == ["x"]


@pytest.mark.parametrize(
    ("terms", "asked"), [(Retry(0), 1), (Retry(1), 2), (None, 3), (Retry(5), 6)], ids=str
)
@pytest.mark.parametrize("stage", [Stage.MODEL_CALL, Stage.MODEL_REPLY, Stage.ERROR])
def test_the_first_try_is_no_retry(terms: Retry | None, asked: int, stage: Stage) -> None:
    """`max_attempts: 1` asks once more, whichever stage asks for it; two retries are the
    default."""
    tried: list[int] = []
    shield = Shield.load(BARE, guards=[says(Action.RETRY, stage, terms=terms)])

    def model(_messages: list[Any]) -> str:
        tried.append(1)
        if stage == Stage.ERROR:
            raise ConnectionError("no route")
        return "many words"

    with pytest.raises((Refused, ConnectionError)):
        shield.run().model(model, [])
    judged = [kept.read() for kept in shield.journal.kept() if kept.read().stage == "model_call"]
    assert len(judged) == asked
    assert len(tried) == (0 if stage == Stage.MODEL_CALL else asked)


def test_a_rule_asks_for_a_step_again_with_its_advice() -> None:
    rule = {"use": "rule", "when": "event.text != 'short'", "action": "retry", "advice": "be short"}
    shield = Shield.load({"name": "p", "guards": [{**rule, "stages": ["model_reply"]}]})
    heard: list[Any] = []

    def model(messages: list[Any]) -> str:
        heard.append(messages[1:])
        return "long"

    with pytest.raises(Refused):
        shield.run().model(model, ["hi"])
    assert [len(each) for each in heard] == [0, 1, 2]
    assert all(each["content"] == "be short" for each in heard[-1])


def test_a_model_call_can_be_patched_and_degraded_once() -> None:
    """The lesser request is judged once more, and is what the model gets."""
    guard = says(
        Action.DEGRADE,
        Stage.MODEL_CALL,
        patches=(Patch(("model",), "small"), Patch(("params", "n"), 1)),
    )
    shield = Shield.load(BARE, guards=[guard])
    got: list[Any] = []

    def model(messages: list[Any], **params: Any) -> dict[str, Any]:
        got.append((messages, params))
        return {"content": "fine", "usage": {"input_tokens": 3, "output_tokens": 4}}

    reply = shield.run().model(model, ["hello"], model="large", params={"n": 5})
    assert reply["content"] == "fine"
    assert got == [(["hello"], {"n": 1, "model": "small"})], (
        "and it is told which model it is to be"
    )
    calls = [kept.read() for kept in shield.journal.kept() if kept.read().stage == "model_call"]
    assert [entry.content["model"] for entry in calls] == ["small", "small"]


def test_a_degraded_call_uses_one_step() -> None:
    """The first attempt takes nothing: only the call that starts is counted."""
    policy = {"name": "p", "guards": [{"use": "step_limit", "max_steps": 2}]}
    shield = Shield.load(
        policy, guards=[says(Action.DEGRADE, Stage.TOOL_CALL, patches=(Patch(("n",), 1),))]
    )
    run = shield.run()
    assert [run.check("t", {"n": 9}).action for _ in range(3)] == [
        Action.DEGRADE,
        Action.DEGRADE,
        Action.BLOCK,
    ]


def test_a_patched_reply_keeps_its_shape() -> None:
    """A mapping stays a mapping, with its text replaced."""
    guard = says(Action.REDACT, Stage.MODEL_REPLY, patches=(Patch((), "hidden"),))
    run = Shield.load(BARE, guards=[guard]).run()
    assert run.model(lambda _: {"role": "assistant", "content": "secret"}, []) == {
        "role": "assistant",
        "content": "hidden",
    }
    assert run.model(lambda _: "secret", []) == "hidden"


def test_an_async_model_and_stream() -> None:
    """The same flows on an event loop."""
    run = Shield.load(BARE).run()

    async def model(messages: list[Any]) -> str:
        return f"{len(messages)} messages"

    async def chunks() -> AsyncIterator[str]:
        yield "a"
        yield "b"

    async def main() -> tuple[str, list[str]]:
        return await run.amodel(model, [1, 2]), [chunk async for chunk in run.astream(chunks())]

    assert asyncio.run(main()) == ("2 messages", ["a", "b"])


def test_a_streamed_reply_that_needs_redaction_at_the_end_is_refused() -> None:
    """What was delivered cannot be taken back, so the milder thing becomes the stricter one."""
    guard = says(Action.REDACT, Stage.MODEL_REPLY, patches=(Patch((), "hidden"),))
    run = Shield.load(BARE, guards=[guard]).run()
    with pytest.raises(Refused) as refused:
        list(run.stream(["se", "cret"]))
    assert refused.value.decision.action > Action.DEGRADE


def test_a_queued_call_waits_and_is_judged_again() -> None:
    """It goes ahead as soon as it may, and gives up at its timeout."""
    asked: list[int] = []

    class Busy:
        id = "busy"
        stages = (Stage.TOOL_CALL,)

        def judge(self, _event: Any) -> Any:
            asked.append(1)
            found = says(Action.QUEUE, Stage.TOOL_CALL, terms=Wait(pause_ms=1, timeout_ms=5))
            return found.judge(read(_event)) if len(asked) < 3 else None

    with Shield.load(BARE, guards=[Busy()]).run() as run:
        assert run.call(lambda: "went") == "went"
    assert len(asked) == 3


def test_a_quarantine_isolates_one_tool_for_a_time() -> None:
    """Others go on; afterwards it is back."""
    clock = FakeClock()
    terms = Isolate("tool", 1_000)
    guard = says(Action.QUARANTINE, Stage.EGRESS, terms=terms)
    shield = Shield.load(BARE, clock=clock, guards=[guard])
    run, other = shield.run("a"), shield.run("b")
    assert run.egress("https://x", tool="mail").action == Action.QUARANTINE
    refused = other.check("mail", {})
    assert (refused.action, refused.code) == (Action.BLOCK, "kernel.quarantined")
    assert other.check("read", {}).proceeds
    clock.advance(1_000)
    assert other.check("mail", {}).proceeds


def test_safe_mode_is_switched_for_all_runs_and_back() -> None:
    """By API, while runs are under way; completions pass, tools and retries do not."""
    shield = Shield.load(BARE)
    run = shield.run()
    assert run.check("t", {}).proceeds
    shield.safe_mode(True, "incident")
    assert run.check("t", {}).code == "safe_mode.tool_refused"
    assert run.check("", {}).code == "safe_mode.tool_refused"
    assert run.model(lambda _: "hi", []) == "hi"
    assert run.error("t", "ValueError").code == "safe_mode.no_retry"
    assert run.egress("https://example.org").proceeds
    assert run.charge(tokens=1).proceeds
    shield.safe_mode(False)
    assert run.check("t", {}).proceeds


@pytest.mark.parametrize("variable", ["STANCHION_SAFE_MODE", "VERONICA_SAFE_MODE"])
def test_safe_mode_is_switched_on_by_environment(
    variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours and VERONICA's variable, read when a shield is made, not on import."""
    monkeypatch.setenv(variable, "1")
    store = MemoryStore()
    shield = Shield.load(BARE, store=store)
    assert shield.run().check("t", {}).code == "safe_mode.tool_refused"
    assert shield.run(tenant="other").check("t", {}).code == "safe_mode.tool_refused"
    monkeypatch.setenv(variable, "0")
    assert Shield.load(BARE, store=store).run().check("t", {}).proceeds, (
        "it does not outlive its process"
    )
    shield.safe_mode(False)
    assert shield.run().check("t", {}).proceeds


def test_an_operators_halt_stops_everything_until_resumed() -> None:
    """Model calls too."""
    shield = Shield.load(BARE)
    run = shield.run()
    shield.halt("fire drill")
    assert run.check("t", {}).code == "kernel.halted"
    assert "fire drill" in run.model(lambda _: "hi", [])
    shield.resume()
    assert shield.run().check("t", {}).proceeds


def test_a_warning_after_execution_commits_the_result_with_an_annotation() -> None:
    """The agent gets the result and is told; the record of the result carries the warning."""
    shield = Shield.load(BARE, guards=[says(Action.WARN, Stage.TOOL_RESULT)])
    with shield.run() as run:
        assert run.call(lambda: "result") == "result"
        assert run.notices() == ("says says WARN",)
    last = shield.journal.kept()[-1].read()
    assert (last.stage, last.content, [finding.text for finding in last.findings]) == (
        "tool_result",
        "result",
        ["says says WARN"],
    )


def test_a_handoff_with_a_warning_proceeds_and_is_in_the_trail() -> None:
    """Control passes; whoever reads the trail sees the warning."""
    shield = Shield.load(BARE, guards=[says(Action.WARN, Stage.HANDOFF)])
    assert shield.run("a").handoff("b", {"context": "all of it"}).proceeds
    assert shield.journal.kept()[-1].read().findings[0].action == "WARN"


def test_a_blocked_agent_may_change_the_action_and_try_again() -> None:
    """A refusal ends nothing but the action: the next one, changed, goes ahead, and the refused one
    used no step."""
    policy = {
        "name": "p",
        "guards": [
            {"use": "tool_denylist", "tools": ["rm"]},
            {"use": "step_limit", "max_steps": 1},
        ],
    }
    run = Shield.load(policy).run()
    assert run.check("rm", {"path": "x"}).action == Action.BLOCK
    assert run.check("trash", {"path": "x"}).proceeds


def test_a_completed_handoff_is_in_the_trail() -> None:
    """As the outcome of the handoff that let it happen."""
    shield = Shield.load({"name": "x"})
    run = shield.run("a")
    handed = run.handoff("b", {"context": "all of it"})
    run.handoff_done("b")
    last = shield.journal.kept()[-1].read()
    assert (last.kind, last.stage, last.call, last.beside) == (
        "outcome",
        "handoff_done",
        handed.id,
        {"to": "b"},
    )


def test_a_model_that_fails_is_judged_and_asked_again() -> None:
    """Its error is an event like a tool's: recovered from, counted once, and in the trail."""
    policy = {
        "name": "recovering",
        "guards": [
            {"use": "recovery", "backoff_base_s": 0.001},
            {"use": "budget", "tokens": 1_000},
        ],
    }
    shield = Shield.load(policy)
    failures = iter([ConnectionError("reset"), TimeoutError("slow")])

    def model(messages: list[Any]) -> dict[str, Any]:
        error = next(failures, None)
        if error is not None:
            raise error
        return {"content": "fine", "usage": {"input_tokens": 3, "output_tokens": 4}}

    run = shield.run("a")
    assert run.model(model, ["hello"], tokens=100)["content"] == "fine"
    stages = [kept.read().stage for kept in shield.journal.kept()]
    assert stages == ["model_call", "error", "model_call", "error", "model_call", "model_reply"]

    def broken(messages: list[Any]) -> str:
        raise KeyError("never")

    with pytest.raises(KeyError):
        run.model(broken, ["hello"], tokens=100)
