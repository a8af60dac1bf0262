"""The blocks about bypasses and budgets: their steps are played in order, with the times and shares
that they give."""

from __future__ import annotations

import re
from typing import Any

import pytest

from stanchion import Refused
from stanchion.approvals import TicketError
from stanchion.approvals.ticket import Kind as TicketKind
from stanchion.dialects.agent33 import (
    BypassRefused,
    GuardrailMode,
    Guardrails,
    Hooks,
    Urgency,
    Verdict,
)
from stanchion.telemetry.kinds import Kind, Occurrence, Severity
from stanchion.testing import FakeClock
from stanchion.testing.operators import operator
from tests.dialects.agent33.rails import FAILS, WHY, Deeds, block, only, rail, rails
from tests.dialects.listed import text

MINUTE = 60_000
ROLES = ("reviewer", "architect", "supervisor", "human_operator")
PEOPLE = {role: operator(f"the-{role}", role) for role in ROLES}
BYPASS = {"allowed": True, "requires_approval": "architect"}


def number(said: str) -> int:
    return int(re.findall(r"\d+", said)[0])


def guarded(clock: FakeClock, *responses: str, **more: Any) -> Guardrails:
    """Guardrails of which one can be bypassed with an architect's yes, and one cannot."""
    source = {
        "guardrails": [
            rail("event.tool != 'deploy'", bypass=BYPASS),
            {**rail("event.tool != 'pay'"), "id": "safety-051"},
        ]
    }
    known = [known for _, known in PEOPLE.values()]
    return rails(source, clock=clock, known=known, safety_responses=responses, **more)


def refused(hooks: Hooks, deeds: Deeds, where: str = "here") -> None:
    with pytest.raises(Refused):
        hooks.execute(deeds.deploy, where)


def facts(made: Guardrails) -> list[str]:
    return [one.what for one in made.shield.journal.facts() if one.what.startswith("bypass.")]


def test_a_bypass_takes_the_steps_of_its_block() -> None:
    steps = [key for key in only(522) if key[0].isdigit()]
    assert steps == ["1_request", "2_validate", "3_route", "4_decide", "5_execute", "6_audit"]
    made, deeds = guarded(FakeClock()), Deeds()
    hooks = made.hooks("ann", "fix")
    refused(hooks, deeds)
    hooks.pre_execution("pay", {})
    with pytest.raises(BypassRefused, match="`safety-051` allows no bypass"):
        hooks.request_bypass("safety-051", WHY)
    request = hooks.request_bypass("safety-050", WHY)
    asked = made.escalation(request)
    assert asked.priority_order[0] == BYPASS["requires_approval"]
    assert (asked.context, asked.agent_id) == ({"where": "here"}, "ann")
    assert asked.bypass_request == request, "the approver reads the reason and the urgency"
    assert asked.id == request.id, "it is one thing, and has one id"
    with pytest.raises(TicketError, match="the role `reviewer` cannot say yes"):
        made.approve(request, by=PEOPLE["reviewer"][0])
    refused(hooks, deeds)
    made.approve(request, by=PEOPLE["architect"][0], comment="as agreed")
    refused(hooks, deeds, "elsewhere")
    assert hooks.execute(deeds.deploy, "here") == "deployed here"
    refused(hooks, deeds)
    assert deeds.done == ["here"]
    assert facts(made) == ["bypass.requested", "bypass.granted", "bypass.used"]
    kept = [one for one in made.shield.journal.facts() if one.what.startswith("bypass.")]
    assert all((one.data["guardrail"], one.data["reason"]) == ("safety-050", WHY) for one in kept)


def test_a_denied_bypass_lets_nothing_through() -> None:
    made, deeds = guarded(FakeClock()), Deeds()
    hooks = made.hooks("ann")
    refused(hooks, deeds)
    made.deny(
        hooks.request_bypass("safety-050", WHY), by=PEOPLE["architect"][0], comment="not today"
    )
    refused(hooks, deeds)
    assert (deeds.done, facts(made)) == ([], ["bypass.requested", "bypass.denied"])


@pytest.mark.parametrize("urgency", list(Urgency))
def test_what_happens_without_an_answer_is_what_its_block_says(urgency: Urgency) -> None:
    """A normal request is denied, an urgent one goes to the next authority. In an emergency a
    safety response goes ahead, and is reviewed: any other action waits as if it were urgent."""
    said = only(522)
    assert list(said["on_timeout"]) == list(Urgency)
    wait = number(said["approval_timeout"]) * MINUTE
    clock = FakeClock()
    made, deeds = guarded(clock), Deeds()
    hooks = made.hooks("ann")
    refused(hooks, deeds)
    request = hooks.request_bypass("safety-050", WHY, urgency)
    clock.advance(wait - 1)
    assert made.escalation(request).state == "open"
    clock.advance(1)
    if urgency is Urgency.NORMAL:
        assert said["on_timeout"]["normal"] == "deny bypass"
        refused(hooks, deeds)
        assert facts(made) == ["bypass.requested", "bypass.denied"]
        return
    assert said["on_timeout"]["urgent"] == "escalate to next authority"
    refused(hooks, deeds)
    with pytest.raises(TicketError, match="the role `architect` cannot say yes"):
        made.approve(request, by=PEOPLE["architect"][0])
    made.approve(request, by=PEOPLE["supervisor"][0])
    assert hooks.execute(deeds.deploy, "here") == "deployed here"


def test_an_emergency_goes_ahead_once_and_is_reviewed_as_its_block_says() -> None:
    said = only(542)
    seconds = number(said["condition"].partition("within")[2])
    hours = number(said["audit"]["review_deadline"])
    assert (seconds, hours) == (60, 24)
    clock, deeds = FakeClock(), Deeds()
    made = guarded(clock, "deploy")
    heard: list[Occurrence] = []
    made.shield.occurrences.subscribe(heard.append, each=True)
    hooks = made.hooks("ann")
    refused(hooks, deeds)
    hooks.request_bypass("safety-050", WHY, Urgency.EMERGENCY)
    clock.advance(seconds * 1000 - 1)
    refused(hooks, deeds)
    clock.advance(1)
    assert hooks.execute(deeds.deploy, "here") == "deployed here"
    refused(hooks, deeds)
    assert deeds.done == ["here"], "limited to a single action"
    (fact,) = [one for one in made.shield.journal.facts() if one.what == "bypass.overridden"]
    assert fact.data["level"] == said["audit"]["level"]
    (told,) = [one for one in heard if one.kind is Kind.BYPASS_OVERRIDDEN]
    assert told.severity is Severity.CRITICAL
    assert said["audit"]["review_required"] is True
    (review,) = [one for one in made.shield.tickets() if one.kind is TicketKind.REVIEW]
    assert review.review is not None
    assert review.review.due_at - review.opened_at == hours * 60 * MINUTE
    assert made.escalation(review.id).timeout == hours * 3600
    clock.advance(hours * 60 * MINUTE)
    made.hooks("other")
    assert [one.severity for one in heard if one.kind is Kind.REVIEW_MISSED] == [Severity.CRITICAL]
    made.review(review.id, by=PEOPLE["human_operator"][0], comment="it was right")
    assert made.escalation(review.id).state == "reviewed"


def test_an_emergency_is_for_safety_responses_alone() -> None:
    assert only(542)["constraints"][0].startswith("only for safety-critical response actions")
    clock, deeds = FakeClock(), Deeds()
    made = guarded(clock, "stop_job")
    hooks = made.hooks("ann")
    refused(hooks, deeds)
    hooks.request_bypass("safety-050", WHY, Urgency.EMERGENCY)
    clock.advance(10 * MINUTE)
    refused(hooks, deeds)
    assert deeds.done == []


def bands() -> dict[str, tuple[int, ...]]:
    """What is left in each band, in percent, from the comments of the block."""
    found = {}
    for line in text("agent33", 585).splitlines():
        name, _, remark = line.partition("#")
        if remark:
            found[name.strip(" :")] = tuple(map(int, re.findall(r"\d+", remark)))
    return found


def test_modes_follow_from_what_is_left_as_its_block_says() -> None:
    """Before and at each of its edges."""
    said = only(585)
    assert bands() == {
        "budget_remaining_high": (50,),
        "budget_remaining_low": (20, 50),
        "budget_remaining_critical": (20,),
    }
    modes = [one["guardrail_mode"].split()[0] for one in said.values()]
    assert modes == list(GuardrailMode)
    (half,), (fifth, _), _ = bands().values()
    for left, mode in (
        (100, GuardrailMode.STANDARD),
        (half + 1, GuardrailMode.STANDARD),
        (half, GuardrailMode.STRICT),
        (fifth, GuardrailMode.STRICT),
        (fifth - 1, GuardrailMode.LOCKDOWN),
        (1, GuardrailMode.LOCKDOWN),
        (0, GuardrailMode.HALT),
    ):
        assert at(left).pre_execution("read", {}).guardrail_mode == mode


def at(left: int, source: Any = None, **more: Any) -> Hooks:
    """Hooks of a run with so much left of a budget of 100."""
    made = rails(
        source,
        tasks={"fix": {"token_budget": 100}},
        known=[one for _, one in PEOPLE.values()],
        **more,
    )
    hooks = made.hooks("ann", "fix")
    if left < 100:
        hooks.run.charge(tokens=100 - left, settled=True)
    return hooks


def test_each_mode_does_what_its_block_says() -> None:
    """Marks come a fifth earlier, warnings block, and nothing begins any more."""
    said = only(585)
    tighter = number(said["budget_remaining_low"]["guardrail_mode"].partition("(")[2])
    warn = number(only(386)["thresholds"]["warn"])
    assert (tighter, warn) == (20, 80)
    mark = warn * (100 - tighter) // 100
    hooks = at(49)
    assert (
        hooks.pre_execution("read", {}, estimated_tokens=mark - 51 - 1).final_verdict
        == Verdict.PASS
    )
    told = at(49).pre_execution("read", {}, estimated_tokens=mark - 51)
    assert (told.final_verdict, told.guardrail_mode) == (Verdict.WARN, GuardrailMode.STRICT)
    own = {"guardrail": rail("event.tool != 'deploy'", "warn")}
    assert (
        said["budget_remaining_critical"]["guardrail_mode"] == "lockdown (all warns become blocks)"
    )
    assert at(49, own).pre_execution("deploy", {}).final_verdict == Verdict.WARN
    assert at(19, own).pre_execution("deploy", {}).final_verdict == Verdict.BLOCK
    assert said["budget_exhausted"]["guardrail_mode"] == "halt (all actions blocked)"
    told = at(0).pre_execution("read", {})
    assert (told.final_verdict, told.decision.code) == (Verdict.BLOCK, "kernel.exhausted")


WHO = {
    "per guardrail config": ["architect", "supervisor", "human_operator"],
    "only with supervisor approval": ["supervisor", "human_operator"],
    "only with human approval": ["human_operator"],
}


@pytest.mark.parametrize("left", [100, 40, 10])
def test_whose_yes_lets_something_past_is_what_its_block_says(left: int) -> None:
    names = {
        100: "budget_remaining_high",
        40: "budget_remaining_low",
        10: "budget_remaining_critical",
    }
    who = WHO[only(585)[names[left]]["bypass_allowed"]]
    source = {
        "guardrail": rail("event.tool != 'deploy'", bypass=BYPASS),
        "budget_guardrails": only(221)[3:],
    }
    made = rails(
        source, tasks={"fix": {"cost_budget": 100}}, known=[one for _, one in PEOPLE.values()]
    )
    hooks = made.hooks("ann", "fix")
    hooks.run.charge(cost_usd=100.0 - left, settled=True)
    hooks.pre_execution("deploy", {})
    request = hooks.request_bypass("safety-050", WHY)
    for role in ROLES:
        if role not in who:
            with pytest.raises(TicketError):
                made.approve(request, by=PEOPLE[role][0])
    made.approve(request, by=PEOPLE[who[0]][0])


def test_where_nothing_is_left_only_an_emergency_goes_past() -> None:
    assert only(585)["budget_exhausted"]["bypass_allowed"] == "emergency override only"
    clock = FakeClock()
    hooks = at(0, clock=clock, safety_responses=["stop_job"])
    hooks.pre_execution("stop_job", {})
    with pytest.raises(BypassRefused, match="nothing is left of the budget"):
        hooks.request_bypass("kernel.exhausted", WHY, Urgency.URGENT)
    hooks.request_bypass("kernel.exhausted", WHY, Urgency.EMERGENCY)
    assert hooks.pre_execution("stop_job", {}).final_verdict == Verdict.BLOCK
    clock.advance(MINUTE)
    assert hooks.pre_execution("stop_job", {}).proceeds
    assert not hooks.pre_execution("stop_job", {}).proceeds


@pytest.mark.parametrize("line", [386, 402])
def test_a_built_in_budget_warns_escalates_and_blocks_at_the_marks_of_its_block(line: int) -> None:
    """A use that stays below a mark is let be; the one that reaches it is not. Exactly the budget
    is what fits."""
    marks = {name: number(said) for name, said in only(line)["thresholds"].items()}
    budget, unit = (
        ({"token_budget": 100}, "estimated_tokens")
        if line == 386
        else ({"time_budget": 100}, "estimated_duration")
    )
    steps = {marks["warn"] - 1: "pass", marks["warn"]: "warn", marks["escalate"] - 1: "warn"}
    steps |= {marks["escalate"]: "escalate", 100: "escalate", 101: "block"}
    for used, verdict in steps.items():
        made = rails(block(line), tasks={"fix": budget}, autonomy=False)
        told = made.hooks("a", "fix").pre_execution("read", {}, **{unit: used})
        assert (used, told.final_verdict) == (used, verdict)
        spoke = [one.guardrail_id for one in told.details if one.result != Verdict.PASS]
        assert spoke == ([] if verdict == "pass" else [only(line)["id"]])
    assert marks["block"] == 100


def test_a_request_is_found_by_its_own_id_and_its_answer_is_counted() -> None:
    made = rails(
        {"guardrails": [rail(FAILS, bypass={"allowed": True, "requires_approval": "reviewer"})]}
    )
    hooks = made.hooks("a")
    hooks.pre_execution("deploy", {})
    asked = hooks.request_bypass("safety-050", WHY)
    assert made.escalation(asked.id).bypass_request == asked
    assert made.approve(asked.id, by="kim").state == "approved"
    counted = made.metrics()["bypass_requests_total"]
    assert counted[("safety-050", "approved")] == (1,)
