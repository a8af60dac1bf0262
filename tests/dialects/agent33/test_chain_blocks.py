"""The blocks about chains and their results: the numbers and the words that they give are what the
code does."""

from __future__ import annotations

import re
from typing import Any

import pytest

from stanchion.dialects.agent33 import Hooks, Verdict
from stanchion.telemetry.kinds import Kind, Occurrence
from stanchion.testing import FakeClock
from stanchion.testing.operators import operator
from tests.dialects.agent33.rails import FAILS, HOLDS, WHY, Deeds, only, rail, rails

MINUTE = 60_000


def several(*said: tuple[str, int, str], check: str = FAILS) -> dict[str, Any]:
    """Guardrails by category, priority and action."""
    made = [
        {**rail(check, action, priority=priority, category=category), "id": f"{category}-05{at}"}
        for at, (category, priority, action) in enumerate(said)
    ]
    return {"guardrails": made}


def order(source: dict[str, Any]) -> list[str]:
    """The guardrails of a file that were reached, in their order."""
    named = [each["id"] for each in source["guardrails"]]
    told = rails(source, policy={"limits": {"warnings": 99}}).hooks("a").pre_execution("deploy", {})
    return [one.guardrail_id for one in told.details if one.guardrail_id in named]


def test_a_chain_goes_by_priority_and_ties_by_category_as_its_block_says() -> None:
    said = only(281)
    assert said["ordering"] == "by priority ascending (lower number = runs first)"
    ties = re.findall(r"\w+", said["tie_breaking"].partition("[")[2])
    assert ties == ["safety", "compliance", "budget", "scope", "quality"]
    drawn = [(category, 20, "warn") for category in sorted(ties)]
    assert order(several(*drawn)) == [
        f"{category}-05{[name for name, *_ in drawn].index(category)}" for category in ties
    ]
    assert order(several(("safety", 30, "warn"), ("quality", 2, "warn"), ("scope", 11, "warn"))) == [  # noqa: E501
        "quality-051", "scope-052", "safety-050",
    ]  # fmt: skip


def test_hooks_run_one_after_the_other() -> None:
    """What a guardrail behind another sees is what the first has left it."""
    assert only(281)["execution"] == "sequential (each hook runs after the previous completes)"
    told = (
        rails(several(("safety", 10, "block"), ("safety", 20, "block")))
        .hooks("a")
        .pre_execution("deploy", {})
    )
    assert [one.guardrail_id for one in told.details if one.result == Verdict.BLOCK] == [
        "safety-050"
    ]
    assert [one.guard for one in told.decision.findings] == ["safety-050"]


@pytest.mark.parametrize(
    ("action", "goes_on"), [("block", False), ("warn", True), ("escalate", True), ("log", True)]
)
def test_what_cuts_a_chain_short_is_what_its_block_says(action: str, goes_on: bool) -> None:
    said = only(281)["short_circuit"]
    assert sorted(said) == ["on_block", "on_escalate", "on_log", "on_warn"]
    assert ("skipped" in said[f"on_{action}"]) != goes_on
    source = several(("safety", 10, action), ("scope", 20, "warn"))
    made = rails(source)
    hooks = made.hooks("a")
    told = hooks.pre_execution("deploy", {})
    assert ("scope-051" in [one.guardrail_id for one in told.details]) == goes_on
    assert ("scope-051" in told.skipped) != goes_on
    assert bool(made.escalations()) == (action == "escalate"), "an escalation is queued"


def test_what_passes_proceeds_and_is_recorded_where_it_is_asked_for() -> None:
    said = only(330)
    assert said["action"] == "proceed with execution"
    assert said["logging"] == "optional (configurable per guardrail)"
    assert said["notification"] == "none"
    source = several(("safety", 10, "block"), ("scope", 20, "block"), check=HOLDS)
    made = rails(source, log_passes=["scope-051"])
    hooks, deeds = made.hooks("a"), Deeds()
    hooks.execute(deeds.deploy)
    assert (deeds.done, hooks.warnings()) == (["here"], ())
    assert made.shield.journal.kept()[0].read().passed == ("scope-051",)
    warned = rails(
        {"guardrails": [*source["guardrails"], *several(("quality", 30, "warn"))["guardrails"]]},
        log_passes=["scope-051"],
    )
    warned.hooks("a").pre_execution("deploy", {})
    assert warned.shield.journal.kept()[0].read().passed == ("scope-051",), (
        "beside one that has something to say"
    )


def test_a_warning_proceeds_is_recorded_and_told_as_its_block_says() -> None:
    said = only(341)
    assert said["action"] == "proceed with execution"
    assert said["logging"].startswith("required")
    assert said["notification"] == "agent receives warning message"
    made = rails(several(("safety", 10, "warn")))
    hooks = made.hooks("a")
    assert hooks.pre_execution("deploy", {}).proceeds
    assert made.shield.journal.kept()[-1].read().findings[0].action == "WARN"
    assert len(hooks.warnings()) == 1


def test_so_many_warnings_of_one_guardrail_in_a_task_escalate() -> None:
    """Their number is read out of the block. Those of another guardrail, or in another task, do not
    count."""
    most = int(re.findall(r"\d+", only(341)["accumulation"])[0])
    checks = {"safety": "event.tool != 'deploy'", "scope": "event.tool != 'pay'"}
    source = several(("safety", 10, "warn"), ("scope", 20, "warn"))
    for each in source["guardrails"]:
        each["validation"]["check"] = checks[each["category"]]
    made = rails(source)
    hooks, other = made.hooks("a", "fix"), made.hooks("a", "else")
    for tool in ["deploy"] * (most - 1) + ["pay"] * (most - 1):
        assert hooks.pre_execution(tool, {}).final_verdict == Verdict.WARN
    assert other.pre_execution("deploy", {}).final_verdict == Verdict.WARN
    told = hooks.pre_execution("deploy", {})
    assert (told.final_verdict, told.proceeds) == (Verdict.ESCALATE, False)
    assert told.escalation is not None
    assert most == 3


def blocked() -> tuple[Any, Hooks, Deeds]:
    """A deployment that was blocked, and what an agent can do about it."""
    bypass = {"allowed": True, "requires_approval": "architect"}
    made = rails(
        {"guardrail": rail("event.tool != 'deploy'", bypass=bypass, description="not on a Friday")}
    )
    hooks, deeds = made.hooks("a"), Deeds()
    told = hooks.pre_execution("deploy", {"where": "here"})
    assert (told.final_verdict, told.proceeds) == (Verdict.BLOCK, False)
    return made, hooks, deeds


def test_a_block_prevents_is_recorded_and_tells_why_and_what_to_do() -> None:
    said = only(353)
    assert (said["action"], said["logging"]) == (
        "prevent execution",
        "required (block recorded in audit trail)",
    )
    assert said["notification"] == "agent receives block reason and remediation guidance"
    made, hooks, _ = blocked()
    (last,) = [one.read() for one in made.shield.journal.kept()]
    assert [(one.guard, one.action) for one in last.findings] == [("safety-050", "BLOCK")]
    told = hooks.pre_execution("deploy", {"where": "here"})
    assert told.message == "not on a Friday"
    assert "ask for a bypass of `safety-050`" in told.remediation


def test_a_blocked_agent_may_change_the_action() -> None:
    _, hooks, _ = blocked()
    assert hooks.pre_execution("stage", {"where": "here"}).final_verdict == Verdict.PASS


def test_a_blocked_agent_may_ask_for_a_bypass() -> None:
    made, hooks, deeds = blocked()
    request = hooks.request_bypass("safety-050", WHY)
    assert made.approve(request, by="kim").state == "approved"
    assert hooks.execute(deeds.deploy, where="here") == "deployed here"


def test_a_blocked_agent_may_go_to_a_supervisor() -> None:
    made, hooks, _ = blocked()
    asked = made.escalation(hooks.escalate("the customer waits for it today"))
    assert (asked.agent_id, asked.state) == ("a", "open")


RECOVERY = {
    "agent may modify the action and retry": test_a_blocked_agent_may_change_the_action,
    (
        "agent may request bypass (if allowed for this guardrail)"
    ): test_a_blocked_agent_may_ask_for_a_bypass,
    "agent may escalate to supervisor": test_a_blocked_agent_may_go_to_a_supervisor,
}


def test_a_blocked_agent_has_the_ways_out_of_its_block() -> None:
    assert only(353)["recovery"] == list(RECOVERY)


ROLES = ("reviewer", "architect", "human_operator")
PEOPLE = [operator(role[:3], role) for role in ROLES]


def escalated(clock: FakeClock) -> tuple[Any, Hooks, list[Occurrence]]:
    made = rails(
        several(("safety", 10, "escalate")), clock=clock, known=[known for _, known in PEOPLE]
    )
    heard: list[Occurrence] = []
    made.shield.occurrences.subscribe(heard.append, each=True)
    return made, made.hooks("ann", "fix"), heard


def test_an_escalation_pauses_the_action_and_is_recorded() -> None:
    said = only(368)
    assert (said["action"], said["logging"]) == (
        "pause execution, forward to escalation target",
        "required",
    )
    made, hooks, _ = escalated(FakeClock())
    told = hooks.pre_execution("deploy", {"where": "here"})
    assert (told.final_verdict, told.proceeds) == (Verdict.ESCALATE, False)
    assert [one.action for one in made.shield.journal.kept()[-1].read().findings] == ["ESCALATE"]
    assert told.escalation is not None
    made.approve(told.escalation, by=PEOPLE[0][0])
    assert hooks.pre_execution("deploy", {"where": "here"}).final_verdict == Verdict.PASS
    assert not hooks.pre_execution("deploy", {"where": "here"}).proceeds, "a yes is for one action"


def test_whoever_is_asked_receives_the_full_context() -> None:
    assert only(368)["notification"] == "escalation target receives full context"
    made, hooks, heard = escalated(FakeClock())
    told = hooks.pre_execution("deploy", {"where": "there"})
    assert told.escalation is not None
    asked = made.escalation(told.escalation)
    assert (asked.agent_id, asked.task, asked.action, asked.context) == (
        "ann",
        "fix",
        "deploy",
        {"where": "there"},
    )
    assert (asked.guardrail_id, asked.reason) == ("safety-050", told.message)
    (opened,) = [one for one in heard if one.kind is Kind.TICKET_OPENED]
    assert (opened.agent, opened.tool, opened.ticket) == ("ann", "deploy", asked.id)
    assert "`reviewer`" in opened.text


def test_escalation_goes_in_the_order_of_its_block_and_ends_in_a_block() -> None:
    said = only(368)
    targets = said["escalation_target"]["priority_order"]
    minutes = int(re.findall(r"\d+", said["timeout"])[0])
    clock = FakeClock()
    made, hooks, _ = escalated(clock)
    ticket = hooks.pre_execution("deploy", {}).escalation
    assert ticket is not None
    asked = made.escalation(ticket)
    assert (asked.priority_order, asked.timeout) == (tuple(targets), minutes * 60)
    turns = []
    for _ in targets:
        turns.append(made.escalation(ticket).escalation_target)
        clock.advance(minutes * MINUTE // 3)
    assert turns == [tuple(targets[: at + 1]) for at in range(3)]
    told = hooks.pre_execution("deploy", {})
    assert (told.final_verdict, told.decision.code) == (Verdict.BLOCK, "approval.expired")
    assert "default to block" in said["timeout"]
