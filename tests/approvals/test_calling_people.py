"""`run.escalate`: an agent that is refused calls somebody, who sees what was refused; nothing
starts on the answer."""

from __future__ import annotations

import asyncio

import pytest

from stanchion import Refused
from stanchion.approvals import TicketError
from stanchion.approvals.ticket import Kind, State
from stanchion.kernel.state import StoreLost
from stanchion.stores.memory import MemoryStore
from stanchion.telemetry.kinds import Kind as Told, Occurrence
from stanchion.testing import FakeClock, LostStore, shield_for
from stanchion.testing.operators import operator
from tests.approvals.asking import Paid, policy

ANN, KNOWN = operator("ann")
DENIES = {"use": "tool_denylist", "id": "never", "tools": ["pay"], "action": "block"}


def test_a_blocked_agent_goes_to_a_supervisor_who_sees_what_was_refused() -> None:
    shield, paid = shield_for(policy(DENIES), operators=[KNOWN]), Paid()
    told: list[Occurrence] = []
    shield.occurrences.subscribe(told.append, each=True)
    with shield.run("bot", "t") as run:
        with pytest.raises(Refused):
            run.call(paid.pay, amount=5, password="hunter2")
        ticket = shield.ticket(run.escalate("the invoice is due today"))
        assert (ticket.kind, ticket.state, ticket.run) == (Kind.RUN, State.OPEN, run.id)
        assert (ticket.tool, ticket.message) == ("pay", "the invoice is due today")
        assert ticket.content["amount"] == 5
        assert "hunter2" not in repr(ticket.content)
        assert ticket.evidence["refused"]["code"] == "tool.denied"
        assert ticket.evidence["refused"]["guard"] == "never"
        assert [(one.kind, one.ticket) for one in told] == [(Told.TICKET_OPENED, ticket.id)]
        assert run.escalate("the invoice is due today") == ticket.id, (
            "the same about the same is one ticket"
        )
        shield.approve(ticket.id, by=ANN, comment="seen")
        with pytest.raises(Refused):
            run.call(paid.pay, amount=5, password="hunter2")
    assert paid.amounts == []


def test_it_can_be_asked_for_without_a_refusal_and_from_async_code() -> None:
    shield = shield_for(policy(), operators=[KNOWN])

    async def asks() -> str:
        async with shield.run("bot", "t") as run:
            return await run.aescalate("the numbers do not add up")

    ticket = shield.ticket(asyncio.run(asks()))
    assert (ticket.kind, ticket.about, ticket.content) == (Kind.RUN, "tool_call", None)
    assert ticket.whole


@pytest.mark.parametrize("reason", ["", " ", "...", "\u200b\u200b", None])
def test_a_reason_has_to_say_something(reason: str) -> None:
    with (
        shield_for(policy()).run("bot") as run,
        pytest.raises(TicketError, match="say in words why"),
    ):
        run.escalate(reason)


def test_the_limits_of_tickets_hold() -> None:
    shield = shield_for(policy(tickets_for_a_run=2))
    with shield.run("bot", "t") as run:
        assert run.escalate("one") != run.escalate("two")
        with pytest.raises(TicketError, match="people were asked too often"):
            run.escalate("three")
    assert len(shield.tickets()) == 2


def test_a_store_that_is_lost_is_said_in_words() -> None:
    clock = FakeClock()
    store = LostStore(MemoryStore(clock), on=set(range(1, 100)))
    with shield_for(policy(), clock=clock, store=store).run("bot") as run:
        with pytest.raises(TicketError, match="the state store cannot be used") as error:
            run.escalate("help")
        assert isinstance(error.value.__cause__, StoreLost)


def test_a_secret_in_the_reason_reaches_nobody() -> None:
    shield = shield_for(policy())
    with shield.run("bot") as run:
        ticket = shield.ticket(run.escalate("the password is hunter2, and it does not work"))
    assert "hunter2" not in ticket.message
