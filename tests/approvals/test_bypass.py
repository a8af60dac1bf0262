"""Asking to go past a guardrail: what is checked, what a yes lets through, and that it lets nothing
else through."""

from __future__ import annotations

import asyncio
import re
from uuid import UUID

import pytest

from stanchion import Action, Refused, Shield
from stanchion.approvals import BypassRefused, State, TicketError
from stanchion.approvals.bypass import checked_reason
from stanchion.approvals.ticket import Kind
from stanchion.testing import FakeClock, shield_for
from tests.approvals.bypassing import WHY, Deeds, allowing, denies, policy, refused
from tests.operators import ANN, KNOWN

S = 1_000


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def shield(clock: FakeClock) -> Shield:
    return shield_for(policy(), clock=clock)


@pytest.fixture
def deeds() -> Deeds:
    return Deeds()


def test_a_request_has_the_fields_of_the_specification(
    shield: Shield, deeds: Deeds, clock: FakeClock
) -> None:
    run = shield.run("bot")
    refused(run, deeds.pay, 5)
    made = run.request_bypass("first", WHY, "urgent")
    assert UUID(made.id).version == 4
    assert (made.guardrail_id, made.requested_by, made.reason, made.urgency) == (
        "first",
        "bot",
        WHY,
        "urgent",
    )
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", made.timestamp)
    ticket = shield.ticket(made.ticket)
    assert (ticket.kind, ticket.state, ticket.content["amount"]) == (Kind.BYPASS, State.OPEN, 5)
    assert ticket.beside["bypass"]["reason"] == WHY, "who answers is shown the reason"
    assert ticket.whole


def test_a_yes_lets_the_very_same_call_go_ahead_once(shield: Shield, deeds: Deeds) -> None:
    run = shield.run("bot")
    refused(run, deeds.pay, 5)
    made = run.request_bypass("first", WHY)
    refused(run, deeds.pay, 5)
    shield.approve(made.ticket, by="kim")
    for other in (6, 4):
        refused(run, deeds.pay, other)
    refused(run, deeds.pay, 5, to="me")
    run.call(deeds.pay, 5)
    assert deeds.done == [("pay", 5)]
    assert shield.ticket(made.ticket).state is State.USED
    refused(run, deeds.pay, 5)
    assert deeds.done == [("pay", 5)], "the guardrail is back at once"


def test_another_agent_or_task_cannot_use_it(shield: Shield, deeds: Deeds) -> None:
    run = shield.run("bot", "rent")
    refused(run, deeds.pay, 5)
    shield.approve(run.request_bypass("first", WHY).ticket, by="kim")
    refused(shield.run("other", "rent"), deeds.pay, 5)
    refused(shield.run("bot", "else"), deeds.pay, 5)
    assert deeds.done == []
    shield.run("bot", "rent").call(deeds.pay, 5)
    assert deeds.done == [("pay", 5)], "a later run of the same agent goes on"


def test_the_guards_behind_it_still_judge_and_can_be_gone_past_as_well(
    clock: FakeClock, deeds: Deeds
) -> None:
    behind = denies("second", "pay", priority=90, **allowing("architect"))
    shield = shield_for(policy(behind), clock=clock)
    run = shield.run("bot")
    assert refused(run, deeds.pay, 5).findings[-1].guard == "first"
    first = run.request_bypass("first", WHY).ticket
    shield.approve(first, by="kim")
    said = refused(run, deeds.pay, 5)
    assert [(one.guard, one.action) for one in said.findings] == [
        ("first", Action.ALLOW),
        ("second", Action.BLOCK),
    ]
    assert shield.ticket(first).state is State.APPROVED, "what does not start uses nothing up"
    with pytest.raises(BypassRefused):
        run.request_bypass("never", WHY)
    second = run.request_bypass("second", WHY).ticket
    refused(run, deeds.pay, 5)
    shield.approve(second, by="kim")
    run.call(deeds.pay, 5)
    assert deeds.done == [("pay", 5)]
    assert {shield.ticket(one).state for one in (first, second)} == {State.USED}


def test_the_parts_of_a_guardrail_are_gone_past_together(clock: FakeClock, deeds: Deeds) -> None:
    shield = shield_for(policy(denies("part", "pay", priority=90, part_of="first")), clock=clock)
    run = shield.run("bot")
    refused(run, deeds.pay, 5)
    shield.approve(run.request_bypass("first", WHY).ticket, by="kim")
    run.call(deeds.pay, 5)
    assert deeds.done == [("pay", 5)]


def test_a_no_refuses_and_says_why(shield: Shield, deeds: Deeds) -> None:
    run = shield.run("bot")
    refused(run, deeds.pay, 5)
    made = run.request_bypass("first", WHY)
    shield.deny(made.ticket, by="kim", comment="wrong account")
    refused(run, deeds.pay, 5)
    assert any("wrong account" in one for one in run.notices())
    with pytest.raises(BypassRefused, match="denied by `kim`: wrong account"):
        run.request_bypass("first", WHY)
    assert deeds.done == []


def test_a_changed_policy_wants_a_new_request(clock: FakeClock, deeds: Deeds) -> None:
    shield = shield_for(policy(), clock=clock)
    store = shield.store
    run = shield.run("bot")
    refused(run, deeds.pay, 5)
    shield.approve(run.request_bypass("first", WHY).ticket, by="kim")
    other = shield_for(policy(denies("more", "sing")), store=store, clock=clock)
    refused(other.run("bot"), deeds.pay, 5)
    assert deeds.done == []


@pytest.mark.parametrize(
    ("guardrail", "reason", "urgency", "says"),
    [
        ("frist", WHY, "normal", "there is no guardrail `frist`: did you mean `first`"),
        ("never", WHY, "normal", "`never` allows no bypass"),
        ("built-in", WHY, "urgent", "`built-in` is always active"),
        ("first", WHY, "soon", "there is no urgency `soon`"),
        ("first", "", "normal", "needs a reason"),
        ("first", "  \n ", "normal", "needs a reason"),
        ("first", "emergency", "emergency", "says too little"),
        ("first", "please now", "normal", "says too little"),
        ("first", "rent " * 50, "normal", "says too little"),
        ("first", "bypass first for pay, emergency, urgent", "normal", "says too little"),
        ("first", "xxxx yyyy zzzz qqqq wwww", "normal", "says too little"),
        ("first", "word " * 1_000, "normal", "5,000 characters"),
    ],
)
def test_what_cannot_be_asked_is_one_clear_line_and_changes_nothing(
    shield: Shield, deeds: Deeds, guardrail: str, reason: str, urgency: str, says: str
) -> None:
    run = shield.run("bot")
    for tool, given in ((deeds.leak, "it"), (deeds.halt_job, "j"), (deeds.pay, 5)):
        refused(run, tool, given)
    before = {cell.key: cell for cell in shield.store.look()}
    with pytest.raises(BypassRefused, match=re.escape(says)) as error:
        run.request_bypass(guardrail, reason, urgency)
    assert "\n" not in str(error.value)
    assert {cell.key: cell for cell in shield.store.look()} == before
    assert not [fact for fact in shield.journal.facts() if fact.what.startswith("bypass")]


@pytest.mark.parametrize(
    ("always", "says"),
    [(False, "`first` allows no bypass"), (True, "`first` is always active")],
)
def test_where_nothing_allows_a_bypass_that_is_the_reason(
    always: bool, says: str, deeds: Deeds
) -> None:
    """Nothing is kept of what was refused, and nobody is told that it was not."""
    closed = {"use": "tool_denylist", "id": "first", "tools": ["pay"], "always": always}
    with shield_for({"name": "p", "guards": [closed]}) as shield:
        run = shield.run("bot")
        refused(run, deeds.pay, 5)
        with pytest.raises(BypassRefused, match=says):
            run.request_bypass("first", WHY)


def test_only_what_was_refused_can_be_asked_for(shield: Shield, deeds: Deeds) -> None:
    run = shield.run("bot")
    with pytest.raises(BypassRefused, match="nothing of this run was refused by `first`"):
        run.request_bypass("first", WHY)
    one, two = refused(run, deeds.pay, 5), refused(run, deeds.pay, 6)
    with pytest.raises(BypassRefused, match="`nothing` was refused by `first`"):
        run.request_bypass("first", WHY, call="nothing")
    by_id = run.request_bypass("first", WHY, call=one.id)
    last = run.request_bypass("first", WHY)
    assert [shield.ticket(made.ticket).content["amount"] for made in (by_id, last)] == [5, 6]
    assert run.request_bypass("first", WHY, call=two.id).id == last.id, (
        "one that stands is not asked for twice"
    )


def test_a_run_remembers_only_so_many(shield: Shield, deeds: Deeds) -> None:
    run = shield.run("bot")
    first = refused(run, deeds.pay, 0)
    for amount in range(1, 33):
        refused(run, deeds.pay, amount)
    with pytest.raises(BypassRefused):
        run.request_bypass("first", WHY, call=first.id)


def test_requests_count_towards_the_limits_of_tickets(clock: FakeClock, deeds: Deeds) -> None:
    shield = shield_for({**policy(), "escalation": {"tickets_a_minute": 2}}, clock=clock)
    run = shield.run("bot")
    for amount in (1, 2, 3):
        refused(run, deeds.pay, amount)
        if amount < 3:
            run.request_bypass("first", WHY)
    with pytest.raises(BypassRefused, match="asked too often"):
        run.request_bypass("first", WHY)


@pytest.mark.parametrize(
    "reason", [WHY, "明日までに家賃を払う必要がある", "Die Miete ist heute fällig und bewilligt"]
)
def test_a_reason_in_any_language_says_something(reason: str) -> None:
    assert checked_reason(f" {reason} ", "first", "pay") == reason


def test_the_role_is_the_one_that_the_guardrail_asks_for_or_a_higher_one(
    clock: FakeClock, deeds: Deeds
) -> None:
    known = {"ann": {"key": KNOWN.key, "roles": ["reviewer"]}}
    shield = shield_for({**policy(role="architect"), "operators": known}, clock=clock)
    run = shield.run("bot")
    refused(run, deeds.pay, 5)
    made = run.request_bypass("first", WHY)
    with pytest.raises(TicketError, match="the role `reviewer` cannot say yes"):
        shield.approve(made.ticket, by=ANN)
    refused(run, deeds.pay, 5)
    assert deeds.done == []


def test_a_yes_never_reaches_further_than_one_action(shield: Shield, deeds: Deeds) -> None:
    run = shield.run("bot")
    refused(run, deeds.pay, 5)
    made = run.request_bypass("first", WHY)
    for scope in ("run", "task", "time"):
        with pytest.raises(TicketError):
            shield.approve(made.ticket, by="kim", scope=scope)
    assert shield.ticket(made.ticket).state is State.OPEN


def test_the_agent_is_told_that_it_may_ask_where_it_may(shield: Shield, deeds: Deeds) -> None:
    run = shield.run("bot")
    with pytest.raises(Refused, match="ask for a bypass of `first`"):
        run.call(deeds.pay, 5)
    with pytest.raises(Refused) as error:
        run.call(deeds.leak, "it")
    assert "bypass" not in str(error.value)
    with pytest.raises(Refused) as error:
        run.call(deeds.halt_job, "j")
    assert "bypass" not in str(error.value)


def test_async_code_asks_as_well(shield: Shield, deeds: Deeds) -> None:
    async def asks() -> None:
        run = shield.run("bot")
        with pytest.raises(Refused):
            await run.acall(deeds.pay, 5)
        made = await run.arequest_bypass("first", WHY)
        shield.approve(made.ticket, by="kim")
        await run.acall(deeds.pay, 5)

    asyncio.run(asks())
    assert deeds.done == [("pay", 5)]


def test_everything_that_becomes_of_a_request_is_written_down(
    shield: Shield, deeds: Deeds, clock: FakeClock
) -> None:
    run = shield.run("bot")
    for amount, answer in ((1, True), (2, False), (3, None)):
        refused(run, deeds.pay, amount)
        made = run.request_bypass("first", WHY)
        if answer is not None:
            (shield.approve if answer else shield.deny)(made.ticket, by="kim", comment="so be it")
        if answer:
            run.call(deeds.pay, amount)
    clock.advance(900 * S)
    refused(run, deeds.pay, 3)
    facts = [fact for fact in shield.journal.facts() if fact.what.startswith("bypass.")]
    assert [fact.what.removeprefix("bypass.") for fact in facts] == [
        "requested", "granted", "used", "requested", "denied", "requested", "denied",
    ]  # fmt: skip
    assert {fact.data["guardrail"] for fact in facts} == {"first"}
    assert facts[-1].why == "nobody answered in time"
    assert all(fact.data["reason"] == WHY for fact in facts)


def test_requests_are_counted_by_what_came_of_them(
    shield: Shield, deeds: Deeds, clock: FakeClock
) -> None:
    counted: list[tuple[str, str]] = []
    shield.telemetry.bypass = lambda guardrail, outcome, run: counted.append((guardrail, outcome))  # type: ignore[method-assign]  # what is told is looked at here
    run = shield.run("bot")
    for amount, answer in ((1, True), (2, False), (3, None)):
        refused(run, deeds.pay, amount)
        made = run.request_bypass("first", WHY)
        if answer is not None:
            (shield.approve if answer else shield.deny)(made.ticket, by="kim", comment="so be it")
        if answer:
            run.call(deeds.pay, amount)
    clock.advance(900 * S)
    refused(run, deeds.pay, 3)
    assert [outcome for _, outcome in counted] == [
        "requested",
        "approved",
        "used",
        "requested",
        "denied",
        "requested",
        "denied",
    ]
