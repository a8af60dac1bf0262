"""The hook on errors: every line of its block is played."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from stanchion import Refused
from stanchion.dialects.agent33 import ErrorSeverity, Guardrails, OnError, RecoveryAction, Verdict
from stanchion.dialects.agent33.guardrails import policy_for
from stanchion.kernel.state import StoreLost
from stanchion.testing import FakeClock, ScriptedTool, shield_for
from tests.dialects.agent33.rails import FAILS, Deeds, Refusing, block, only, rail, rails
from tests.runtime.failing import FailingStore, from_on

SAFE: dict[str, Any] = {"tools": {"flaky": {"annotations": ["idempotent"]}}}


def flaky(*outcomes: Any) -> ScriptedTool:
    return ScriptedTool(*outcomes, name="flaky")


def test_errors_are_classified() -> None:
    hooks = rails(policy=SAFE).hooks("a")
    errors: list[BaseException] = [
        ConnectionError("reset"),
        MemoryError("no room"),
        KeyError("x"),
        ValueError("wrong"),
    ]
    told = [hooks.on_error("flaky", error).severity for error in errors]
    assert told == ["recoverable", "fatal", "unknown", "recoverable"]


def test_what_becomes_of_an_error_depends_on_how_bad_it_is() -> None:
    """By how bad it is, or as the settings say; what the agent has to correct is handed to it."""
    hooks = rails(policy=SAFE).hooks("a")
    errors: list[BaseException] = [
        ConnectionError("reset"),
        MemoryError("no room"),
        KeyError("x"),
        ValueError("wrong"),
    ]
    told = [hooks.on_error("flaky", error).recovery for error in errors]
    assert told == [RecoveryAction.RETRY, RecoveryAction.ROLLBACK, RecoveryAction.ESCALATE, None]
    other = {"recoverable": "escalate", "fatal": "quarantine", "unknown": "rollback"}
    made = rails(policy=SAFE, on_error=other)
    told = [
        made.hooks(f"a{at}").on_error("flaky", error).recovery for at, error in enumerate(errors)
    ]
    assert told == [
        RecoveryAction.ESCALATE,
        RecoveryAction.QUARANTINE,
        RecoveryAction.ROLLBACK,
        None,
    ]


def test_the_context_of_an_error_is_kept() -> None:
    hooks = rails(policy=SAFE).hooks("a")
    with pytest.raises(MemoryError):
        hooks.execute(flaky(MemoryError("no room")))
    kept = hooks.run.last_error
    assert kept is not None
    assert (kept.tool, kept.error, kept.text, kept.attempt) == (
        "flaky",
        "MemoryError",
        "no room",
        1,
    )
    told = hooks.on_error("flaky", KeyError("x"), args={"path": "a"})
    kept = told.context
    assert kept is not None
    assert (kept.tool, kept.error, kept.args, kept.code) == (
        "flaky",
        "KeyError",
        {"path": "a"},
        "recovery.unknown",
    )


def test_an_agent_that_failed_does_not_go_on_failing() -> None:
    """An agent that failed for good is isolated, and does not go on failing."""
    hooks = rails(policy=SAFE, on_error=OnError(fatal=RecoveryAction.QUARANTINE)).hooks("a")
    hooks.on_error("flaky", MemoryError("no room"))
    tool = flaky("done")
    with pytest.raises(Refused):
        hooks.execute(tool)
    assert tool.count == 0


PURPOSES: dict[str, Callable[[], None]] = {
    "Classify error severity (recoverable, fatal, unknown)": test_errors_are_classified,
    "Determine recovery action (retry, rollback, escalate)": test_what_becomes_of_an_error_depends_on_how_bad_it_is,  # noqa: E501
    "Capture error context for diagnostics": test_the_context_of_an_error_is_kept,
    "Prevent cascading failures": test_an_agent_that_failed_does_not_go_on_failing,
}


def test_a_failed_action_is_retried_up_to_max_retries() -> None:
    """Up to `max_retries`, and not once more."""
    tool = flaky(*[ConnectionError("reset") for _ in range(9)])
    hooks = rails(policy=SAFE, on_error=OnError(max_retries=2, backoff=0)).hooks("a")
    with pytest.raises(ConnectionError):
        hooks.execute(tool)
    assert tool.count == 3
    again = rails(policy=SAFE, on_error={"backoff": 0}).hooks("a")
    assert again.execute(flaky(ConnectionError("reset"), "done")) == "done"
    spent = [
        hooks.on_error("flaky", ConnectionError("reset"), attempt=at).recovery for at in (1, 2, 3)
    ]
    assert spent == [RecoveryAction.RETRY, RecoveryAction.RETRY, None]


def test_a_host_that_does_not_count_is_not_told_to_retry_for_ever() -> None:
    policy = {**SAFE, "limits": {"warnings": 99}}
    hooks = rails(policy=policy, on_error=OnError(max_retries=2, backoff=0)).hooks("a")

    def fails(args: dict[str, Any], **how: Any) -> RecoveryAction | None:
        before = hooks.pre_execution("flaky", args)
        return hooks.on_error("flaky", ConnectionError("reset"), after=before, **how).recovery

    first, other = {"path": "a"}, {"path": "b"}
    again = RecoveryAction.RETRY
    assert [fails(first) for _ in range(4)] == [again, again, None, None]
    assert fails(other) is again, "another action is another count"
    hooks.post_execution("flaky", None, "words of it", after=hooks.pre_execution("flaky", first))
    assert [fails(first) for _ in range(3)] == [again, again, None], "it has worked in between"
    assert fails(other, attempt=2) is again, "a host that counts is believed"
    assert fails(other) is None


def test_retries_are_counted_in_the_store() -> None:
    """By other hooks of the agent at work on the task, too; another task has its own."""
    made = rails(policy=SAFE, on_error=OnError(max_retries=2, backoff=0))

    def fails(task: str = "fix", **more: Any) -> RecoveryAction | None:
        error = ConnectionError("reset")
        return made.hooks("a", task).on_error("flaky", error, **more).recovery

    again = RecoveryAction.RETRY
    assert [fails() for _ in range(4)] == [again, again, None, None]
    assert fails("other") is again


def test_no_retry_is_left_where_nobody_can_count() -> None:
    clock = FakeClock()
    lost = FailingStore(clock, from_on(1, StoreLost("it is gone")))
    said = policy_for(block(431), policy=SAFE)
    made = Guardrails(shield_for(said, clock=clock, store=lost))
    told = made.hooks("a").on_error("flaky", ConnectionError("reset"))
    assert told.recovery is not RecoveryAction.RETRY


def test_settings_say_what_may_be_repeated() -> None:
    """In the words of the specification; whoever is not told to repeat it reads why."""
    hooks = rails(on_error={"repeatable": ["fetch"]}).hooks("a")
    told = hooks.on_error("fetch", ConnectionError("reset"))
    assert told.recovery is RecoveryAction.RETRY
    told = hooks.on_error("pay", ConnectionError("reset"))
    assert (told.recovery, told.severity, told.final_verdict) == (
        None,
        ErrorSeverity.RECOVERABLE,
        Verdict.WARN,
    )
    assert told.message in hooks.warnings()[0]
    hooks.on_error("pay", ConnectionError("reset"))
    told = hooks.on_error("pay", ConnectionError("reset"))
    assert told.recovery is RecoveryAction.ESCALATE, "the third warning goes to a person"


def test_partial_changes_are_undone() -> None:
    made = rails(policy=SAFE)
    deeds = Deeds()
    undone: list[str] = []
    deploy = made.shield.tool(undo=undone.append)(deeds.deploy)
    hooks = made.hooks("a")
    for where in ("one", "two"):
        hooks.execute(deploy, where)
    with pytest.raises(MemoryError):
        hooks.execute(flaky(MemoryError("no room")))
    assert undone == ["two", "one"]


def test_an_error_goes_to_a_person() -> None:
    made = rails(policy=SAFE)
    hooks = made.hooks("a")
    told = hooks.on_error("flaky", KeyError("x"))
    assert told.final_verdict == Verdict.ESCALATE
    assert told.escalation is not None
    asked = made.escalation(told.escalation)
    assert (asked.agent_id, asked.action, asked.state) == ("a", "flaky", "open")


def test_a_failing_agent_is_isolated() -> None:
    """The agent is isolated, whatever it tries next; others go on, and so does it once its time is
    over."""
    clock = FakeClock()
    made = rails(policy=SAFE, clock=clock, on_error=OnError(fatal=RecoveryAction.QUARANTINE))
    hooks, other = made.hooks("a"), made.hooks("b")
    assert hooks.on_error("flaky", MemoryError("no room")).recovery == RecoveryAction.QUARANTINE
    assert not hooks.pre_execution("read", {}).proceeds
    assert not made.hooks("a").pre_execution("read", {}).proceeds
    assert other.pre_execution("flaky", {}).proceeds
    clock.advance(300_001)
    assert made.hooks("a").pre_execution("read", {}).proceeds


ACTIONS: dict[str, Callable[[], None]] = {
    "retry": test_a_failed_action_is_retried_up_to_max_retries,
    "rollback": test_partial_changes_are_undone,
    "escalate": test_an_error_goes_to_a_person,
    "quarantine": test_a_failing_agent_is_isolated,
}


def test_the_hook_on_errors_is_for_what_its_block_says() -> None:
    said = only(115)
    assert list(said) == ["trigger", "timing", "purpose", "on_block", "actions"]
    assert said["purpose"] == list(PURPOSES)
    assert [next(iter(one)) for one in said["actions"]] == list(ACTIONS) == list(RecoveryAction)
    assert all(f"{severity}" in said["purpose"][0] for severity in ErrorSeverity)


def test_handling_an_error_waits_until_its_hook_has_completed() -> None:
    assert only(115)["timing"].startswith("synchronous")
    refusing, tool = Refusing("error"), flaky(ConnectionError("reset"), "done")
    with pytest.raises(ConnectionError):
        rails(policy=SAFE, guards=[refusing]).hooks("a").execute(tool)
    assert (refusing.asked, tool.count) == (1, 1), (
        "what it says is heard before anything is retried"
    )


@pytest.mark.parametrize("action", ["block", "escalate", "warn"])
def test_a_guardrail_that_blocks_does_not_keep_the_error_hook_from_running(action: str) -> None:
    """It runs in whatever state the agent is: with the guardrail, quarantined, or with nothing left
    of its budget."""
    assert only(115)["on_block"].startswith("not applicable")
    made = rails(
        {"guardrail": rail(FAILS, action, "on_error", priority=99)},
        policy=SAFE,
        tasks={"fix": {"token_budget": 10}},
    )
    hooks = made.hooks("a", "fix")
    told = hooks.on_error("flaky", ConnectionError("reset"))
    assert "on-error" in [one.guardrail_id for one in told.details]
    hooks.run.charge(tokens=10, settled=True)
    told = hooks.on_error("flaky", MemoryError("no room"))
    assert (told.severity, told.recovery) == (ErrorSeverity.FATAL, RecoveryAction.ROLLBACK)
