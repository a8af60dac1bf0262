"""What waits for a person: asked once, let through once, refused with reasons, and never longer
than its time."""

from __future__ import annotations

import asyncio
import copy
import itertools
from typing import Any

import pytest

from stanchion import Action, Refused, Shield
from stanchion.approvals import State, TicketClosed, TicketError, UnknownTicket
from stanchion.approvals.ticket import key_of
from stanchion.audit.errors import AuditLost
from stanchion.audit.journal import Fact, MemoryJournal
from stanchion.kernel.state import Batch, When
from stanchion.stores.memory import MemoryStore
from stanchion.testing import FakeClock, LostStore, shield_for
from tests.approvals.asking import Meanwhile, Paid, Queue, policy
from tests.rules import rule

LIFE_MS = 1_800_000


def refused(shield: Shield, paid: Paid, amount: int = 5, **who: str) -> Refused:
    with (
        shield.run(who.get("agent", "bot"), who.get("task", "t")) as run,
        pytest.raises(Refused) as raised,
    ):
        run.call(paid.pay, amount=amount)
    return raised.value


def pays(shield: Shield, paid: Paid, amount: int = 5, **who: str) -> int:
    with shield.run(who.get("agent", "bot"), who.get("task", "t")) as run:
        return int(run.call(paid.pay, amount=amount))


def test_a_call_waits_for_a_ticket_and_goes_ahead_once_it_is_approved() -> None:
    shield, paid = shield_for(policy()), Paid()
    error = refused(shield, paid)
    assert error.waits
    assert error.ticket is not None
    assert "a person has been asked" in str(error)
    assert error.ticket not in f"{error} {error!r}"
    assert "repeat the same call" in str(error)
    shield.approve(error.ticket, by="ann")
    assert paid.amounts == []
    assert pays(shield, paid) == 5
    assert paid.amounts == [5]
    ticket = shield.ticket(error.ticket)
    kept = shield.journal.kept()
    started = [entry.read() for entry in kept if entry.read().granted]
    assert [(entry.action, entry.granted, entry.id) for entry in started] == [
        ("ALLOW", ticket.id, ticket.used_by)
    ]
    assert (ticket.state, ticket.answered_by) == (State.USED, "ann")


def test_asking_again_finds_the_same_ticket() -> None:
    shield, paid = shield_for(policy()), Paid()
    assert refused(shield, paid).ticket == refused(shield, paid).ticket
    assert [ticket.generation for ticket in shield.tickets()] == [1]
    assert [fact.what for fact in shield.journal.facts()] == ["ticket.opened"]


def test_that_a_ticket_was_opened_is_written_down_however_long_the_store_takes() -> None:
    ticks = itertools.count(1_000)
    shield, paid = shield_for(policy(), store=MemoryStore(lambda: next(ticks))), Paid()
    for agent in ("one", "two"):
        refused(shield, paid, agent=agent)
    assert [fact.what for fact in shield.journal.facts()] == ["ticket.opened"]


def test_an_approval_is_used_up() -> None:
    shield, paid = shield_for(policy()), Paid()
    first = refused(shield, paid).ticket
    assert first is not None
    shield.approve(first, by="ann")
    pays(shield, paid)
    assert refused(shield, paid).ticket == first
    again = shield.ticket(first)
    assert (again.state, again.generation, again.answered_by) == (State.OPEN, 2, "")
    assert paid.amounts == [5]


def test_equal_requests_of_parallel_agents_are_one_ticket_and_its_yes_is_for_those_who_asked() -> (
    None
):
    shield, paid = shield_for(policy()), Paid()
    first = refused(shield, paid, agent="one").ticket
    assert refused(shield, paid, agent="two").ticket == first
    (ticket,) = shield.tickets()
    assert ticket.askers == ("one", "two")
    shield.approve(ticket.id, by="ann")
    assert refused(shield, paid, agent="three").waits
    assert pays(shield, paid, agent="two") == 5
    assert refused(shield, paid, agent="one").waits
    assert paid.amounts == [5]


@pytest.mark.parametrize("other", [{"amount": 6}, {"task": "other"}])
def test_an_approval_covers_nothing_else(other: dict[str, Any]) -> None:
    shield, paid = shield_for(policy()), Paid()
    first = refused(shield, paid).ticket
    assert first is not None
    shield.approve(first, by="ann")
    assert refused(shield, paid, **other).ticket != first
    assert pays(shield, paid) == 5


def test_an_approval_under_another_policy_covers_nothing() -> None:
    shield, paid = shield_for(policy()), Paid()
    first = refused(shield, paid).ticket
    assert first is not None
    shield.approve(first, by="ann")
    shield.reload({**policy(), "version": "2"})
    assert refused(shield, paid).ticket != first
    assert paid.amounts == []


def test_a_policy_that_changes_while_somebody_waits_is_asked_anew() -> None:
    clock = FakeClock()
    paid = Paid()

    def change_and_approve(ticket: str) -> None:
        shield.reload({**policy(wait_s=0.01), "version": "2"})
        shield.approve(ticket, by="ann")

    shield = shield_for(
        policy(wait_s=30), clock=clock, store=Meanwhile(MemoryStore(clock), change_and_approve)
    )
    error = refused(shield, paid)
    shield.close()
    assert paid.amounts == []
    assert [(one.state, one.id == error.ticket) for one in shield.tickets()] == [
        (State.OPEN, True),
        (State.APPROVED, False),
    ]


def test_a_yes_does_not_lift_what_is_severer() -> None:
    shield, paid = shield_for(policy()), Paid()
    first = refused(shield, paid).ticket
    assert first is not None
    shield.approve(first, by="ann")
    shield.halt("stop")
    assert refused(shield, paid).decision.action == Action.HALT
    shield.resume()
    assert shield.ticket(first).state is State.APPROVED
    assert pays(shield, paid) == 5


def test_a_denial_says_who_and_why_and_stands_for_the_ticket_s_time() -> None:
    clock = FakeClock()
    shield, paid = shield_for(policy(), clock=clock), Paid()
    first = refused(shield, paid).ticket
    assert first is not None
    shield.deny(first, by="ann", comment="wrong account")
    for _ in range(2):
        error = refused(shield, paid)
        assert (error.decision.action, error.decision.code) == (Action.BLOCK, "approval.denied")
        assert str(error).startswith("a person was asked and said no: wrong account")
        assert error.decision.findings[0].detail == f"ticket `{first}` was denied by ann"
        assert not {first, "ann"} & set(str(error).replace("`", " ").split())
        assert error.ticket == first
        assert not error.waits
    clock.advance(LIFE_MS)
    assert refused(shield, paid).waits
    assert shield.ticket(first).generation == 2


def test_an_approval_can_be_taken_back_until_it_is_used() -> None:
    shield, paid = shield_for(policy()), Paid()
    first = refused(shield, paid).ticket
    assert first is not None
    shield.approve(first, by="ann")
    shield.deny(first, by="bob", comment="not today")
    assert refused(shield, paid).decision.code == "approval.denied"
    assert shield.ticket(first).state is State.WITHDRAWN
    assert paid.amounts == []


def test_without_an_answer_in_time_it_is_refused_and_can_be_asked_anew() -> None:
    clock = FakeClock()
    shield, paid = shield_for(policy(), clock=clock), Paid()
    first = refused(shield, paid).ticket
    assert first is not None
    clock.advance(LIFE_MS - 1)
    assert refused(shield, paid).waits
    clock.advance(1)
    error = refused(shield, paid)
    assert (error.decision.action, error.decision.code) == (Action.BLOCK, "approval.expired")
    assert "nobody answered within 1800 s" in str(error)
    assert refused(shield, paid).waits
    assert shield.ticket(first).generation == 2


def test_an_approval_that_is_not_used_in_time_is_worth_nothing() -> None:
    clock = FakeClock()
    shield, paid = shield_for(policy(), clock=clock), Paid()
    first = refused(shield, paid).ticket
    assert first is not None
    shield.approve(first, by="ann", for_s=60)
    clock.advance(60_000)
    error = refused(shield, paid)
    assert error.decision.code == "approval.expired"
    assert "the yes was not used within 60 s" in str(error)
    assert paid.amounts == []
    assert refused(shield, paid).waits


def test_an_approval_that_lapses_while_its_action_queues_is_worth_nothing() -> None:
    clock = FakeClock()
    paid = Paid()
    queue = Queue(clock)
    shield = shield_for(policy(), clock=clock, guards=[queue])
    first = refused(shield, paid).ticket
    assert first is not None
    shield.approve(first, by="ann", for_s=60)
    queue.full = 2
    assert refused(shield, paid).decision.code == "approval.expired"
    assert paid.amounts == []


def test_the_store_s_clock_counts_not_the_host_s() -> None:
    host, stored = FakeClock(), FakeClock(9_000_000)
    shield, paid = shield_for(policy(), clock=host, store=MemoryStore(stored)), Paid()
    first = refused(shield, paid).ticket
    assert first is not None
    shield.approve(first, by="ann", for_s=60)
    assert shield.ticket(first).grant_until == 9_060_000
    host.advance(3_600_000)
    assert pays(shield, paid) == 5


@pytest.mark.parametrize("answer", ["approve", "deny"])
def test_a_caller_who_waits_gets_the_answer(answer: str) -> None:
    clock = FakeClock()
    paid = Paid()

    def answered(ticket: str) -> None:
        getattr(shield, answer)(ticket, by="ann", comment="because")

    shield = shield_for(
        policy(wait_s=600), clock=clock, store=Meanwhile(MemoryStore(clock), answered)
    )
    if answer == "approve":
        assert pays(shield, paid) == 5
    else:
        assert refused(shield, paid).decision.code == "approval.denied"
    shield.close()
    assert paid.amounts == ([5] if answer == "approve" else [])


def test_an_async_caller_waits_too() -> None:
    clock = FakeClock()
    paid = Paid()
    shield = shield_for(
        policy(wait_s=600),
        clock=clock,
        store=Meanwhile(MemoryStore(clock), lambda ticket: shield.approve(ticket, by="ann")),
    )

    async def call() -> Any:
        async with shield.run("bot") as run:
            return await run.acall(paid.pay, amount=5)

    assert asyncio.run(call()) == 5
    shield.close()


def test_a_caller_waits_no_longer_than_the_policy_says() -> None:
    shield, paid = shield_for(policy(wait_s=0.01)), Paid()
    assert refused(shield, paid).waits
    assert [ticket.state for ticket in shield.tickets()] == [State.OPEN]


def test_a_caller_waits_no_longer_than_its_run_has() -> None:
    shield, paid = shield_for(policy(wait_s=600)), Paid()
    with shield.run("bot", deadline_s=0.01) as run, pytest.raises(Refused) as raised:
        run.call(paid.pay, amount=5)
    assert raised.value.waits


def test_a_caller_waits_no_longer_than_the_ticket_lasts() -> None:
    clock = FakeClock()
    paid = Paid()
    store = Meanwhile(MemoryStore(clock), lambda _: clock.advance(LIFE_MS), at_once=True)
    shield = shield_for(policy(wait_s=600), clock=clock, store=store)
    assert refused(shield, paid).decision.code == "approval.expired"
    shield.close()


def test_somebody_else_who_waits_for_the_same_is_told_that_it_was_used() -> None:
    clock = FakeClock()
    paid = Paid()
    store = MemoryStore(clock)
    other = shield_for(policy(wait_s=600), clock=clock, store=store)

    def used_by_another(ticket: str) -> None:
        other.approve(ticket, by="ann")
        pays(other, paid)

    shield = shield_for(
        policy(wait_s=600), clock=clock, store=Meanwhile(store, used_by_another, at_once=True)
    )
    error = refused(shield, paid)
    assert (error.decision.action, error.decision.code) == (Action.BLOCK, "approval.used")
    assert paid.amounts == [5]


def test_a_host_finds_the_ticket_of_a_decision() -> None:
    shield = shield_for(policy())
    run = shield.run("bot")
    waits = run.check("pay", {"amount": 5})
    ticket = run.ticket(waits)
    assert waits.action == Action.ESCALATE
    assert ticket == shield.tickets()[0].id
    shield.approve(ticket, by="ann")
    assert run.check("pay", {"amount": 5}).proceeds
    assert run.ticket(run.check("read", {})) is None


REPORTS: dict[str, dict[str, Any]] = {
    "prompt": {"text": "hello"},
    "model_call": {"messages": ["hello"]},
    "model_reply": {"text": "hello"},
    "tool_result": {"tool": "read", "args": {}, "result": "hello"},
    "egress": {"url": "https://a.example/hello"},
    "handoff": {"to": "other", "payload": {"say": "hello"}},
    "error": {"tool": "read", "error": "ValueError", "text": "hello"},
}


@pytest.mark.parametrize("stage", REPORTS)
def test_whatever_waits_at_any_stage_is_let_through_when_it_is_reported_again(stage: str) -> None:
    asks = rule("ask", stage, check="false", action="escalate")
    shield = shield_for(policy(asks))
    run = shield.run("bot")
    waits = run.judge(stage, **REPORTS[stage])
    assert waits.action == Action.ESCALATE
    (ticket,) = shield.tickets()
    assert (ticket.id, ticket.stage) == (run.ticket(waits), stage)
    assert "hello" in str((ticket.content, ticket.beside))
    shield.approve(ticket.id, by="ann")
    assert run.judge(stage, **REPORTS[stage]).proceeds
    assert shield.ticket(ticket.id).state is State.USED
    assert run.judge(stage, **REPORTS[stage]).action == Action.ESCALATE


def test_a_result_that_is_denied_is_undone() -> None:
    asks = rule("ask", "tool_result", check="false", action="escalate")
    clock = FakeClock()
    undone: list[int] = []
    store = Meanwhile(
        MemoryStore(clock), lambda ticket: shield.deny(ticket, by="ann", comment="no")
    )
    shield = shield_for(policy(asks, wait_s=600), clock=clock, store=store)

    @shield.tool(undo=undone.append)
    def make(number: int) -> int:
        return number

    with shield.run("bot") as run, pytest.raises(Refused) as raised:
        run.call(make, 7)
    assert raised.value.decision.code == "approval.denied"
    assert undone == [7]
    shield.close()


def test_no_secret_is_shown_but_another_secret_is_another_call() -> None:
    shield, paid = shield_for(policy()), Paid()
    with shield.run("bot") as run:
        for password in ("hunter2", "hunter3"):
            with pytest.raises(Refused):
                run.call(paid.pay, amount=5, password=password)
    assert len(shield.tickets()) == 2
    assert "hunter" not in str(shield.tickets())
    assert "hunter" not in str(shield.journal.facts())


def test_the_answer_and_its_use_are_in_the_trail() -> None:
    shield, paid = shield_for(policy()), Paid()
    first = refused(shield, paid).ticket
    assert first is not None
    shield.approve(first, by="ann", comment="fine", for_s=60)
    shield.deny(first, by="bob", comment="no more")
    facts = shield.journal.facts()
    assert [(fact.what, fact.about, fact.by, fact.why) for fact in facts[1:]] == [
        ("ticket.approved", first, "ann", "fine"),
        ("ticket.withdrawn", first, "bob", "no more"),
    ]
    assert (facts[1].data["as"], facts[1].data["proven"]) == ("human_operator", False)
    assert facts[0].data["call"] == shield.journal.kept()[0].read().id


class Full(MemoryJournal):
    """A journal that takes decisions and no facts."""

    def tell(self, fact: Fact) -> None:
        """There is no room."""
        raise AuditLost("the disk is full")


def test_an_answer_that_cannot_be_recorded_is_none() -> None:
    clock = FakeClock()
    store = MemoryStore(clock)
    shield, paid = shield_for(policy(), clock=clock, store=store, journal=Full()), Paid()
    first = refused(shield, paid).ticket
    assert first is not None
    with pytest.raises(
        TicketError, match="is not answered, because the audit trail cannot be written"
    ):
        shield.approve(first, by="ann")
    assert shield.ticket(first).state is State.OPEN
    assert refused(shield, paid).waits


def test_errors_of_answers() -> None:
    shield, paid = shield_for(policy()), Paid()
    first = refused(shield, paid).ticket
    assert first is not None
    with pytest.raises(UnknownTicket):
        shield.approve("nowhere", by="ann")
    with pytest.raises(TicketError, match="asked for it"):
        shield.approve(first, by="bot")
    for for_s in (0, -1, 86_401):
        with pytest.raises(TicketError, match="cannot be valid for"):
            shield.approve(first, by="ann", for_s=for_s)
    shield.approve(first[:4], by="ann")
    with pytest.raises(TicketClosed, match="already approved, by `ann`"):
        shield.approve(first, by="carl")
    assert [ticket.id for ticket in shield.tickets(state="approved")] == [first]
    assert shield.tickets(tenant="elsewhere") == []


@pytest.mark.parametrize(
    ("applied", "state", "then"), [(False, State.APPROVED, [5]), (True, State.USED, [])]
)
def test_a_start_that_the_store_lost_leaves_the_approval_as_the_store_has_it(
    applied: bool, state: State, then: list[int]
) -> None:
    clock = FakeClock()
    store = LostStore(MemoryStore(clock), applied=applied)
    shield, paid = shield_for(policy(), clock=clock, store=store), Paid()
    first = refused(shield, paid).ticket
    assert first is not None
    shield.approve(first, by="ann")
    stakes = len(store.batches) + 4
    store.on = (stakes,)
    assert refused(shield, paid).decision.code == "kernel.store_lost"
    assert [put[0] for put in store.batches[stakes - 1].puts] == [key_of("default", first)]
    assert shield.ticket(first).state is state
    if then:
        assert pays(shield, paid) == 5
    else:
        assert refused(shield, paid).waits
    assert paid.amounts == then


def test_without_the_store_there_is_no_ticket_and_nothing_happens() -> None:
    clock = FakeClock()
    store = LostStore(MemoryStore(clock))
    shield, paid = shield_for(policy(), clock=clock, store=store), Paid()
    store.on = range(2, 100)
    with shield.run("bot") as run, pytest.raises(Refused) as raised:
        run.call(paid.pay, amount=5)
    assert raised.value.waits
    assert raised.value.ticket is None
    assert any("nobody could be asked" in words for words in run.notices())
    assert paid.amounts == []


def test_a_ticket_of_something_else_in_its_place_is_left_alone() -> None:
    clock = FakeClock()
    store = MemoryStore(clock)
    shield, paid = shield_for(policy(), clock=clock, store=store), Paid()
    first = refused(shield, paid).ticket
    assert first is not None
    key = key_of("default", first)
    version, value = store.read(key)
    other = {
        **value,
        "deed": {**value["deed"], "what": "f" * 64},
        "state": "approved",
        "grant_until": clock() + 1_000,
    }
    store.carry(Batch("other", puts=((key, other, When.JUDGED, 0, 0),)))
    error = refused(shield, paid)
    assert error.waits
    assert error.ticket is None
    assert store.read(key) == (version + 1, other)
    assert paid.amounts == []


def test_a_refusal_keeps_its_ticket_when_it_is_copied() -> None:
    error = refused(shield_for(policy()), Paid())
    again = copy.copy(error)
    assert (again.ticket, str(again)) == (error.ticket, str(error))
