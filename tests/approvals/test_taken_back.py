"""What was taken back, used up or put into the store by a program lets nothing through, and is
listed as it stands."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from stanchion import Refused, Shield
from stanchion.approvals import State, TicketError
from stanchion.approvals.act import Answer, Way
from stanchion.approvals.answerers import Signer
from stanchion.approvals.errors import AnswerRefused
from stanchion.approvals.grants import grants_key
from stanchion.approvals.shelf import ON_A_PAGE
from stanchion.approvals.ticket import key_of, wish_of
from stanchion.audit.errors import AuditLost
from stanchion.audit.journal import Fact, MemoryJournal
from stanchion.kernel.state import Batch, When
from stanchion.stores.protocol import Store
from stanchion.stores.sqlite import SqliteStore
from stanchion.testing import FakeClock, shield_for
from stanchion.testing.operators import operator
from tests.approvals.asking import Paid, policy


def asks(shield: Shield, paid: Paid, amount: int = 5, agent: str = "bot") -> str:
    """Ask to pay; gives the ticket, or nothing where it was paid."""
    with shield.run(agent, "t") as run:
        try:
            run.call(paid.pay, amount=amount)
        except Refused as refused:
            return str(refused.ticket)
    return ""


def put(store: Store, key: str, value: Any) -> None:
    """Write a record as a program could that reaches the store."""
    version = store.read(key)[0]
    tenant = key[1 : key.index("}")]
    batch = Batch(f"forged-{version}-{key}", tenant, True, puts=((key, value, When.JUDGED, 0, 0),))
    assert not store.carry(batch).stale


@pytest.mark.parametrize("scope", ["run", "task", "time", "pattern"])
def test_a_no_to_what_was_approved_for_longer_takes_all_of_it_back(scope: str) -> None:
    ann, known = operator()
    shield, paid = shield_for(policy(), operators=[known]), Paid()
    with shield.run("bot", "t") as run:
        with pytest.raises(Refused) as refused:
            run.call(paid.pay, amount=5, to="x/1")
        pattern = {"to": "x/*"} if scope == "pattern" else None
        shield.approve(str(refused.value.ticket), by=ann, scope=scope, pattern=pattern)
        run.call(paid.pay, amount=5, to="x/1")
        shield.deny(str(refused.value.ticket), by="bob", comment="no more")
        assert shield.grants() == []
        with pytest.raises(Refused):
            run.call(paid.pay, amount=5, to="x/1")
    assert paid.amounts == [5]


class Unwritten(MemoryJournal):
    """A trail that cannot take a fact of some kind."""

    def __init__(self) -> None:
        super().__init__()
        self.lost = ""

    def tell(self, fact: Fact) -> None:
        """Keep a fact, or lose it."""
        if fact.what == self.lost:
            raise AuditLost("the disk is full")
        super().tell(fact)


@pytest.mark.parametrize("yes", [True, False])
def test_an_answer_that_cannot_be_recorded_leaves_the_ticket_listed_as_long_as_before(
    yes: bool,
) -> None:
    clock, trail = FakeClock(), Unwritten()
    shield, paid = shield_for(policy(), clock=clock, journal=trail), Paid()
    ticket = asks(shield, paid)
    trail.lost = "ticket.approved" if yes else "ticket.denied"
    with pytest.raises(TicketError, match="is not answered, because the audit trail"):
        shield.approve(ticket, by="ann", for_s=1) if yes else shield.deny(
            ticket, by="ann", comment="no"
        )
    clock.advance(2_000)
    assert [one.id for one in shield.tickets()] == [ticket]


def test_a_ticket_whose_answer_does_not_count_is_listed_as_long_as_it_is_open() -> None:
    clock = FakeClock()
    shield, paid = shield_for(policy(), clock=clock), Paid()
    ticket = asks(shield, paid)
    shield.approve(ticket, by="ann", for_s=60)
    kept = shield.ticket(ticket)
    put(
        shield.store,
        kept.key,
        msgspec.to_builtins(msgspec.structs.replace(kept, grant_until=kept.grant_until + 1)),
    )
    assert asks(shield, paid) == ticket
    assert (shield.ticket(ticket).state, shield.ticket(ticket).generation) == (State.OPEN, 2)
    clock.advance(120_000)
    assert [one.id for one in shield.tickets()] == [ticket]


def test_a_ticket_that_is_asked_for_again_is_listed_once() -> None:
    shield, paid = shield_for(policy(tickets_for_a_run=10_000, tickets_a_minute=10_000)), Paid()
    first = asks(shield, paid)
    for amount in range(ON_A_PAGE):
        asks(shield, paid, 100 + amount)
    shield.approve(first, by="ann")
    assert asks(shield, paid) == ""
    assert asks(shield, paid) == first
    assert [one.id for one in shield.tickets(most=1_000)].count(first) == 1


def test_a_yes_is_for_the_agents_that_were_shown_though_another_asks_meanwhile() -> None:
    ann, known = operator()
    shield, paid = shield_for(policy(), operators=[known]), Paid()
    ticket = shield.ticket(asks(shield, paid, agent="one"))
    until = shield.clock() + 60_000
    answer = ann.signed(wish_of(ticket).act("ann", "human_operator", until, True, ""))
    asks(shield, paid, agent="two")
    shield.answer(answer.bytes)
    assert asks(shield, paid, agent="two") == ticket.id
    assert asks(shield, paid, agent="one") == ""
    assert paid.amounts == [5]


def test_nobody_answers_for_others_what_they_asked_for_meanwhile_themselves() -> None:
    bob, known = operator("bob", agents=("two",))
    shield, paid = shield_for(policy(), operators=[known]), Paid()
    ticket = shield.ticket(asks(shield, paid, agent="one"))
    answer = bob.signed(
        wish_of(ticket).act("bob", "human_operator", shield.clock() + 60_000, True, "")
    )
    asks(shield, paid, agent="two")
    with pytest.raises(AnswerRefused, match="somebody else has to answer"):
        shield.answer(answer.bytes)


@pytest.mark.parametrize(
    "scope", ["pattern", "pattern {", 'pattern {"amount": 1}', "weird", "", "run", "time x"]
)
@pytest.mark.parametrize("yes", [True, False])
def test_an_answer_that_was_made_up_is_refused_in_words(scope: str, yes: bool) -> None:
    ann, known = operator()
    shield, paid = shield_for(policy(), operators=[known]), Paid()
    ticket = shield.ticket(asks(shield, paid))
    act = wish_of(ticket, scope).act(
        "ann", "human_operator", shield.clock() + 60_000, yes, "not this one"
    )
    if yes:
        with pytest.raises(TicketError):
            shield.answer(ann.signed(act).bytes)
        assert shield.ticket(ticket.id).state is State.OPEN
    else:
        assert shield.answer(ann.signed(act).bytes).state is State.DENIED


def test_a_program_s_yes_counts_for_nothing_in_a_store_that_others_reach(tmp_path: Path) -> None:
    clock = FakeClock()
    shield, paid = (
        shield_for(policy(), clock=clock, store=SqliteStore(tmp_path / "state.db", clock=clock)),
        Paid(),
    )
    ticket = shield.ticket(asks(shield, paid))
    until = shield.clock() + 60_000
    yes = Answer(act=wish_of(ticket).act("ann", "human_operator", until, True, ""), way=Way.PROGRAM)
    forged = msgspec.structs.replace(
        ticket, state=State.APPROVED, answer=yes, grant_until=until, answered_by="ann"
    )
    put(shield.store, ticket.key, msgspec.to_builtins(forged))
    assert asks(shield, paid) == ticket.id
    assert paid.amounts == []
    shield.close()


def withdrawn(shield: Shield, ticket: str) -> None:
    shield.deny(ticket, by="bob", comment="no")


def used(shield: Shield, ticket: str) -> None:
    assert asks(shield, Paid()) == ""


@pytest.mark.parametrize("over", [used, withdrawn])
def test_what_is_over_for_a_process_is_over_though_the_store_says_otherwise(
    over: Callable[..., None],
) -> None:
    ann, known = operator()
    shield, paid = shield_for(policy(), operators=[known]), Paid()
    ticket = asks(shield, paid)
    shield.approve(ticket, by=ann)
    before = shield.store.read(key_of("default", ticket))[1]
    over(shield, ticket)
    put(shield.store, key_of("default", ticket), before)
    assert asks(shield, paid) == ticket
    assert paid.amounts == []


def test_a_grant_that_was_revoked_is_so_for_the_process_though_the_store_says_otherwise() -> None:
    ann, known = operator()
    shield, paid = shield_for(policy(), operators=[known]), Paid()
    ticket = asks(shield, paid)
    shield.approve(ticket, by=ann, scope="task")
    assert asks(shield, paid) == ""
    before = shield.store.read(grants_key("default"))[1]
    assert shield.revoke(f"{ticket}.1", by="bob")
    put(shield.store, grants_key("default"), before)
    assert asks(shield, paid) == ticket
    assert paid.amounts == [5]


def test_an_answer_is_no_answer_again_where_the_ticket_has_disappeared() -> None:
    ann, known = operator()
    shield, paid = shield_for(policy(), operators=[known]), Paid()
    ticket = shield.ticket(asks(shield, paid))
    answer = _signed(shield, ann, ticket)
    shield.answer(answer.bytes)
    assert asks(shield, paid) == ""
    put(shield.store, ticket.key, None)
    assert asks(shield, paid) == ticket.id
    with pytest.raises(TicketError):
        shield.answer(answer.bytes)
    assert asks(shield, paid) == ticket.id
    assert paid.amounts == [5]


def _signed(shield: Shield, by: Signer, ticket: Any) -> Answer:
    return by.signed(
        wish_of(ticket).act(by.name, "human_operator", shield.clock() + 60_000, True, "")
    )
