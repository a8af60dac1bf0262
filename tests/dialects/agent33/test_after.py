"""`after`: what an action used is counted whatever was said before it, and what did not go ahead
gives nothing."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from stanchion.dialects.agent33 import (
    ChainResult,
    DialectError,
    GuardrailMode,
    Hooks,
    Task,
    Verdict,
)
from tests.dialects.agent33.rails import FAILS, rail, rails

DEED = {"where": "here"}


def hooks_for(check: str = "event.tool != 'deploy'", action: str = "block") -> Hooks:
    """Hooks on a task that may cost a dollar, with a guardrail about `deploy`, and what the
    specification says of costs."""
    ceiling = {
        "id": "budget-004",
        "name": "cost_ceiling",
        "check": "cost_ceiling",
        "action_on_fail": "escalate",
    }
    source = {"guardrail": rail(check, action), "budget_guardrails": [ceiling]}
    return rails(source, tasks={"t": Task(cost_budget=1.0)}).hooks("a", "t")


def ended(hooks: Hooks, after: ChainResult, cost: float, awaited: bool = False) -> ChainResult:
    """What is said about what an action gave."""
    if awaited:
        return asyncio.run(hooks.apost_execution("deploy", DEED, "done", after=after, cost=cost))
    return hooks.post_execution("deploy", DEED, "done", after=after, cost=cost)


@pytest.mark.parametrize("awaited", [False, True])
@pytest.mark.parametrize("action", ["block", "escalate"])
def test_what_did_not_go_ahead_gives_nothing_and_costs_what_it_costs(
    action: str, awaited: bool
) -> None:
    hooks = hooks_for(action=action)
    before = hooks.pre_execution("deploy", DEED)
    assert not before.proceeds
    after = ended(hooks, before, 5.0, awaited)
    assert (after.final_verdict, after.proceeds) == (Verdict.BLOCK, False)
    assert after.details[0].guardrail_id == "safety-050"
    assert hooks.pre_execution("read", {}).guardrail_mode is GuardrailMode.HALT


@pytest.mark.parametrize("awaited", [False, True])
def test_a_result_that_is_told_twice_costs_twice(awaited: bool) -> None:
    hooks = hooks_for("event.tool != 'other'")
    before = hooks.pre_execution("deploy", DEED, estimated_cost=0.1)
    assert ended(hooks, before, 0.1, awaited).final_verdict is Verdict.PASS
    assert hooks.pre_execution("read", {}).guardrail_mode is GuardrailMode.STANDARD
    ended(hooks, before, 5.0, awaited)
    assert hooks.pre_execution("read", {}).guardrail_mode is GuardrailMode.HALT


def test_a_result_needs_no_arguments_a_second_time() -> None:
    hooks = rails({"guardrail": rail("event.args.where == 'here'", hook="post_execution")}).hooks(
        "a"
    )
    before = hooks.pre_execution("deploy", DEED)
    assert hooks.post_execution("deploy", None, "done", after=before).final_verdict is Verdict.PASS
    assert hooks.post_execution("deploy", {}, "done").final_verdict is Verdict.BLOCK
    with pytest.raises(
        DialectError, match="has neither `args` nor `after`: give what `pre_execution` has returned"
    ):
        hooks.post_execution("deploy", None, "done")


def test_after_is_about_this_very_action() -> None:
    made = rails({"guardrail": rail("event.tool != 'other'")})
    hooks, others = made.hooks("a"), made.hooks("b")
    before = hooks.pre_execution("deploy", DEED)
    handed = hooks.pre_handoff("b", context={"a": 1}, artifacts=["x"], rationale="it is done")
    wrong: list[tuple[Any, str]] = [
        (
            lambda: hooks.post_execution("read", DEED, "", after=before),
            "is about the tool `deploy`, and this is `read`",
        ),
        (
            lambda: hooks.post_execution("deploy", {}, "", after=before),
            "is about other arguments of `deploy`",
        ),
        (
            lambda: hooks.on_error("read", "broken", after=before),
            "is about the tool `deploy`, and this is `read`",
        ),
        (
            lambda: others.post_execution("deploy", DEED, "", after=before),
            "hooks of another agent or task",
        ),
        (
            lambda: others.request_bypass("safety-050", "why", after=before),
            "hooks of another agent or task",
        ),
        (
            lambda: hooks.post_handoff("c", after=handed),
            "is about a handoff to `b`, and this is one to `c`",
        ),
    ]
    for use, says in wrong:
        with pytest.raises(DialectError, match=says):
            use()
    assert hooks.run.desk.is_open(before.decision.id), "nothing of it has ended the action"


def test_an_escalation_by_the_agent_starts_nothing_and_says_so() -> None:
    made = rails({"guardrail": rail(FAILS)})
    hooks = made.hooks("a")
    hooks.pre_execution("deploy", DEED)
    asked = made.escalation(hooks.escalate("the release cannot go out without this step"))
    assert (asked.action, asked.starts, asked.bypass_request) == ("deploy", False, None)
    waiting = rails({"guardrail": rail(FAILS, "escalate")})
    told = waiting.hooks("a").pre_execution("deploy", DEED)
    assert waiting.escalation(str(told.escalation)).starts
