"""The hooks before and after a handoff: every line of their blocks is played."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from stanchion.dialects.agent33 import DialectError, Hooks, Verdict
from stanchion.runtime.calling.handoffs import status_key, status_of
from stanchion.telemetry.kinds import Kind, Occurrence
from tests.dialects.agent33.rails import FAILS, Refusing, only, rail, rails

WHOLE: dict[str, Any] = {
    "context": {"task": "login"},
    "artifacts": ["src/login.py"],
    "rationale": "the form is done",
}
AGENTS: dict[str, Any] = {"ann": {}, "rob": {"capabilities": ["review"]}}


def test_a_payload_is_complete() -> None:
    hooks = rails(agents=AGENTS).hooks("ann")
    for missing in WHOLE:
        told = hooks.pre_handoff(
            "rob", **{name: value for name, value in WHOLE.items() if name != missing}
        )
        assert told.final_verdict == Verdict.BLOCK
        assert f"`{missing}`" in told.message
    assert hooks.pre_handoff("rob", **WHOLE).final_verdict == Verdict.PASS


@pytest.mark.parametrize(
    ("name", "said"), [("context", 5), ("artifacts", "src/a.py"), ("rationale", ["done"])]
)
def test_a_payload_with_a_field_of_another_kind_is_blocked(name: str, said: Any) -> None:
    told = rails(agents=AGENTS).hooks("ann").pre_handoff("rob", payload={**WHOLE, name: said})
    assert told.final_verdict == Verdict.BLOCK
    assert f"under `{name}`, and it has to be" in told.message


@pytest.mark.parametrize("told", [True, False])
def test_a_handoff_that_was_blocked_is_never_accepted(told: bool) -> None:
    made = rails({"compliance_guardrails": only(194)[:1]}, agents=AGENTS)
    hooks = made.hooks("ann")
    hooks.run.lock("src/login.py")
    blocked = hooks.pre_handoff("rob")
    assert blocked.final_verdict == Verdict.BLOCK
    with pytest.raises(
        DialectError,
        match="did not go ahead: correct it" if told else "no handoff to `rob` is under",
    ):
        hooks.post_handoff("rob", after=blocked if told else None)
    write = {"path": "src/login.py", "content": "x"}
    assert hooks.pre_execution("write_file", write).final_verdict == Verdict.PASS, (
        "its lock is its own still"
    )
    assert hooks.pre_handoff("rob", **WHOLE).proceeds
    assert hooks.post_handoff("rob").final_verdict == Verdict.PASS, (
        "the one that is under way is meant"
    )


def test_the_receiver_is_known_and_able() -> None:
    hooks = rails(agents=AGENTS).hooks("ann")
    assert (
        hooks.pre_handoff("rob", **WHOLE, required_capabilities=["review"]).final_verdict
        == Verdict.PASS
    )
    told = hooks.pre_handoff("rob", **WHOLE, required_capabilities=["deploy"])
    assert (told.final_verdict, "`deploy`" in told.message) == (Verdict.BLOCK, True)
    assert hooks.pre_handoff("eve", **WHOLE).final_verdict == Verdict.BLOCK


def test_the_budget_suffices_for_the_receiver() -> None:
    hooks = rails(agents=AGENTS, tasks={"login": {"token_budget": 100}}, autonomy=False).hooks(
        "ann", "login"
    )
    assert hooks.pre_handoff("rob", **WHOLE, token_budget=101).final_verdict == Verdict.BLOCK
    assert hooks.pre_handoff("rob", **WHOLE, token_budget=70).final_verdict == Verdict.PASS
    assert hooks.pre_execution("read", {}, estimated_tokens=31).final_verdict == Verdict.BLOCK


def test_no_lock_conflicts() -> None:
    made = rails({"compliance_guardrails": only(194)[:1]}, agents={**AGENTS, "eve": {}})
    eve, ann = made.hooks("eve"), made.hooks("ann")
    eve.run.lock("src/login.py")
    told = ann.pre_handoff("rob", **WHOLE)
    assert (told.final_verdict, "`eve`" in told.message) == (Verdict.BLOCK, True)
    eve.run.unlock("src/login.py")
    assert ann.pre_handoff("rob", **WHOLE).final_verdict == Verdict.PASS


BEFORE: dict[str, Callable[[], None]] = {
    (
        "Validate handoff payload is complete (context, artifacts, rationale)"
    ): test_a_payload_is_complete,
    "Check receiving agent has required capabilities": test_the_receiver_is_known_and_able,
    (
        "Verify autonomy budget is sufficient for the receiving agent"
    ): test_the_budget_suffices_for_the_receiver,
    "Confirm no file lock conflicts": test_no_lock_conflicts,
}


def test_the_hook_before_a_handoff_is_for_what_its_block_says() -> None:
    said = only(81)
    assert list(said) == ["trigger", "timing", "purpose", "on_block", "on_warn"]
    assert said["purpose"] == list(BEFORE)


def test_a_handoff_waits_until_its_hook_has_completed() -> None:
    assert only(81)["timing"].startswith("synchronous")
    refusing = Refusing("handoff")
    told = rails(agents=AGENTS, guards=[refusing]).hooks("ann").pre_handoff("rob", **WHOLE)
    assert (told.final_verdict, told.message, refusing.asked) == (Verdict.BLOCK, "not today", 1)


def test_a_blocked_handoff_is_prevented_until_the_agent_has_resolved_it() -> None:
    """Nothing was offered to the receiver, and the work goes on with the sender."""
    assert only(81)["on_block"] == "handoff prevented, agent must resolve issues first"
    made = rails(agents=AGENTS)
    hooks = made.hooks("ann", "login")
    told = hooks.pre_handoff("rob", rationale="done")
    assert (told.final_verdict, told.proceeds) == (Verdict.BLOCK, False)
    assert told.remediation == "add what the other agent needs to know, and hand over again"
    assert status(made, hooks) == ""
    assert hooks.pre_handoff("rob", **WHOLE).proceeds
    assert status(made, hooks) == "offered"


def status(made: Any, hooks: Hooks) -> str:
    """The status of the task, once the store was told everything."""
    made.hooks("looker").pre_execution("look", {})
    kept = made.shield.store.read(status_key("default", hooks.run.task))[1]
    return "" if kept is None else status_of(kept).status


def test_a_warned_handoff_proceeds_with_the_warning_in_the_trail() -> None:
    assert only(81)["on_warn"] == "handoff proceeds with warning in audit trail"
    made = rails({"guardrail": rail(FAILS, "warn", "pre_handoff")}, agents=AGENTS)
    told = made.hooks("ann").pre_handoff("rob", **WHOLE)
    assert (told.final_verdict, told.proceeds) == (Verdict.WARN, True)
    last = [one.read() for one in made.shield.journal.kept()][-1]
    assert (last.stage, [(one.guard, one.action) for one in last.findings]) == (
        "handoff",
        [("safety-050", "WARN")],
    )


def handed(made: Any) -> tuple[Hooks, Any]:
    hooks = made.hooks("ann", "login")
    return hooks, hooks.post_handoff("rob", after=hooks.pre_handoff("rob", **WHOLE))


def test_its_completion_is_in_the_trail() -> None:
    made = rails(agents=AGENTS)
    hooks = made.hooks("ann", "login")
    before = hooks.pre_handoff("rob", **WHOLE)
    hooks.post_handoff("rob", after=before)
    last = [one.read() for one in made.shield.journal.kept()][-1]
    assert (last.kind, last.stage, last.call) == ("outcome", "handoff_done", before.decision.id)


def test_the_locks_of_the_sender_are_released() -> None:
    made = rails({"compliance_guardrails": only(194)[:1]}, agents=AGENTS)
    rob = made.hooks("rob", "login")
    hooks = made.hooks("ann", "login")
    hooks.run.lock("src/login.py")
    write = {"path": "src/login.py", "content": "x"}
    before = hooks.pre_handoff("rob", **WHOLE)
    assert rob.pre_execution("write_file", write).final_verdict == Verdict.BLOCK
    hooks.post_handoff("rob", after=before)
    rob.run.lock("src/login.py")
    assert rob.pre_execution("write_file", write).final_verdict == Verdict.PASS


def test_the_status_of_the_task_is_kept() -> None:
    made = rails(agents=AGENTS)
    hooks, _ = handed(made)
    assert status(made, hooks) == "handed over"


def test_the_orchestrator_is_notified() -> None:
    made = rails(agents={**AGENTS, "boss": {}})
    boss = made.hooks("boss", "login")
    ann = Hooks(boss.run.spawn("ann"))
    told: list[Occurrence] = []
    made.shield.occurrences.subscribe(told.append, each=True)
    ann.post_handoff("rob", after=ann.pre_handoff("rob", **WHOLE))
    assert any("`rob`" in one for one in boss.warnings())
    assert Kind.HANDED_OVER in [one.kind for one in told]


AFTER: dict[str, Callable[[], None]] = {
    "Log handoff completion in audit trail": test_its_completion_is_in_the_trail,
    "Release file locks held by sending agent": test_the_locks_of_the_sender_are_released,
    "Update task status in workflow tracker": test_the_status_of_the_task_is_kept,
    "Notify orchestrator of workflow progression": test_the_orchestrator_is_notified,
}


def test_the_hook_after_a_handoff_is_for_what_its_block_says() -> None:
    said = only(98)
    assert list(said) == ["trigger", "timing", "purpose", "on_block", "on_warn"]
    assert said["purpose"] == list(AFTER)


class Slow:
    """A guard of the program's own that takes its time behind a handoff."""

    id = "slow"
    stages = ("handoff_done",)
    deadline_ms = 60_000

    def __init__(self) -> None:
        self.go_on = threading.Event()

    def judge(self, event: Any) -> str:
        assert self.go_on.wait(60)
        return "the handoff looks wrong"


def test_nobody_waits_for_the_hook_after_a_handoff() -> None:
    assert only(98)["timing"].startswith("asynchronous")
    slow = Slow()
    made = rails(agents=AGENTS, guards=[slow])
    hooks, told = handed(made)
    assert told.final_verdict == Verdict.PASS, "it was not answered yet"
    slow.go_on.set()
    assert made.shield.answers.afterwards.finish(60)
    assert any("looks wrong" in one for one in hooks.warnings())


@pytest.mark.parametrize("action", ["block", "escalate", "warn"])
def test_the_hook_after_a_handoff_warns_and_blocks_nothing(action: str) -> None:
    """The warning is logged, and whoever the sender works for can look at it."""
    assert only(98)["on_block"].startswith("not applicable")
    assert only(98)["on_warn"] == "warning logged for orchestrator review"
    made = rails(
        {"guardrail": rail(FAILS, action, "post_handoff", description="it came late")},
        agents=AGENTS,
    )
    boss = made.hooks("boss", "login")
    ann = Hooks(boss.run.spawn("ann"))
    heard: list[Occurrence] = []
    made.shield.occurrences.subscribe(heard.append, each=True)
    told = ann.post_handoff("rob", after=ann.pre_handoff("rob", **WHOLE))
    assert (told.final_verdict, told.proceeds) == (Verdict.WARN, True)
    assert any("it came late" in one for one in boss.warnings())
    assert Kind.HANDOFF_WARNED in [one.kind for one in heard]
    last = [one.read() for one in made.shield.journal.kept()][-1]
    assert [(one.guard, one.action) for one in last.findings] == [("safety-050", "WARN")]
    made.hooks("looker").pre_execution("look", {})
    (warned,) = status_of(made.shield.store.read(status_key("default", "login"))[1]).warnings
    assert warned.guard == "safety-050"
