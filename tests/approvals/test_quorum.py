"""What is critical takes several people, each with a key of their own; one no ends it."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from stanchion import Refused, Shield
from stanchion.approvals import State, Ticket
from stanchion.approvals.answerers import Signer
from stanchion.approvals.errors import AnswerRefused, TicketClosed, TicketError
from stanchion.approvals.operators import Operator
from stanchion.approvals.ticket import wish_of
from stanchion.ops.views.people import ticket_view
from stanchion.stores.memory import MemoryStore
from stanchion.testing import FakeClock, shield_for
from stanchion.testing.operators import operator
from tests.approvals.asking import Paid, policy
from tests.approvals.bypassing import WHY, Deeds, policy as bypassable, refused
from tests.approvals.test_taken_back import asks, put

ANN, KNOWN_ANN = operator("ann")
BOB, KNOWN_BOB = operator("bob")
EVE, KNOWN_EVE = operator("eve", "reviewer")


def critical(*known: Operator, **escalation: Any) -> tuple[Shield, Paid, FakeClock]:
    """A shield under which paying is critical, and waits for those people."""
    clock = FakeClock()
    said = {**policy(**escalation), "tools": {"pay": {"risk": "critical"}}}
    return shield_for(said, clock=clock, store=MemoryStore(clock), operators=known), Paid(), clock


def test_two_people_have_to_say_yes_where_there_are_two() -> None:
    shield, paid, _ = critical(KNOWN_ANN, KNOWN_BOB)
    ticket = asks(shield, paid)
    once = shield.approve(ticket, by=ANN)
    assert (once.state, [one.act.operator for one in once.votes]) == (State.OPEN, ["ann"])
    assert asks(shield, paid) == ticket
    assert paid.amounts == []
    twice = shield.approve(ticket, by=BOB)
    assert (twice.state, twice.proven) == (State.APPROVED, True)
    assert asks(shield, paid) == ""
    assert paid.amounts == [5]
    used = shield.ticket(ticket)
    assert (used.state, [one.act.operator for one in used.votes]) == (State.USED, ["ann", "bob"])
    told = [one.what for one in shield.journal.facts() if one.what.startswith("ticket.")]
    assert told == ["ticket.opened", "ticket.voted", "ticket.approved"]


def test_one_person_is_enough_where_there_is_only_one() -> None:
    shield, paid, _ = critical(KNOWN_ANN)
    assert shield.approve(asks(shield, paid), by=ANN).state is State.APPROVED
    assert asks(shield, paid) == ""


def test_who_has_none_of_the_roles_is_not_one_of_two() -> None:
    shield, paid, _ = critical(KNOWN_ANN, KNOWN_EVE, roles=["human_operator"])
    assert shield.approve(asks(shield, paid), by=ANN).state is State.APPROVED


def test_what_is_not_critical_takes_one() -> None:
    clock = FakeClock()
    shield = shield_for(
        policy(quorum=3), clock=clock, store=MemoryStore(clock), operators=(KNOWN_ANN, KNOWN_BOB)
    )
    assert shield.approve(asks(shield, Paid()), by=ANN).state is State.APPROVED


@pytest.mark.parametrize(
    ("quorum", "state"), [(1, State.APPROVED), (2, State.OPEN), (3, State.OPEN)]
)
def test_the_policy_says_how_many(quorum: int, state: State) -> None:
    shield, paid, _ = critical(KNOWN_ANN, KNOWN_BOB, quorum=quorum)
    assert shield.approve(asks(shield, paid), by=ANN).state is state


def test_nobody_says_yes_twice_under_another_name_or_with_the_key_of_another() -> None:
    twin = msgspec.structs.replace(KNOWN_ANN, name="ann2")
    shield, paid, _ = critical(KNOWN_ANN, twin, KNOWN_BOB)
    ticket = asks(shield, paid)
    shield.approve(ticket, by=ANN)
    for again in (ANN, Signer("ann2", ANN.key)):
        with pytest.raises(AnswerRefused, match="has said yes to ticket"):
            shield.approve(ticket, by=again)
    assert asks(shield, paid) == ticket
    assert paid.amounts == []


def test_one_no_ends_it_and_the_yes_before_counts_no_more() -> None:
    shield, paid, clock = critical(KNOWN_ANN, KNOWN_BOB)
    ticket = asks(shield, paid)
    before = shield.approve(ticket, by=ANN)
    assert shield.deny(ticket, by="anybody", comment="not today").state is State.DENIED
    with pytest.raises(TicketClosed):
        shield.approve(ticket, by=BOB)
    put(shield.store, before.key, msgspec.to_builtins(before))
    shield.records.clear()
    shield.approve(ticket, by=BOB)
    asks(shield, paid)
    assert paid.amounts == [], (
        "what a no has ended is not half of a yes again, whatever the store says"
    )
    clock.advance(1)


def test_a_yes_that_lapsed_or_whose_operator_is_gone_is_none() -> None:
    shield, paid, clock = critical(KNOWN_ANN, KNOWN_BOB, quorum=2)
    ticket = asks(shield, paid)
    shield.approve(ticket, by=ANN, for_s=60)
    clock.advance(60_000)
    after = shield.approve(ticket, by=BOB)
    assert (after.state, [one.act.operator for one in after.votes]) == (State.OPEN, ["bob"])
    shield.enrol("revoke", KNOWN_BOB, ANN)
    after = shield.approve(ticket, by=ANN)
    assert (after.state, [one.act.operator for one in after.votes]) == (State.OPEN, ["ann"])


def test_each_yes_is_checked_again_when_the_action_starts() -> None:
    shield, paid, _ = critical(KNOWN_ANN, KNOWN_BOB, KNOWN_EVE)
    ticket = asks(shield, paid)
    for by in (EVE, BOB):
        shield.approve(ticket, by=by)
    shield.enrol("revoke", KNOWN_EVE, ANN)
    assert asks(shield, paid) == ticket
    assert paid.amounts == []
    refused = [one.why for one in shield.journal.facts() if one.what == "answer.refused"]
    assert refused == ["there is no operator with that name"]


def test_all_of_it_is_over_when_the_first_yes_is() -> None:
    shield, paid, clock = critical(KNOWN_ANN, KNOWN_BOB)
    ticket = asks(shield, paid)
    shield.approve(ticket, by=ANN, for_s=60)
    approved = shield.approve(ticket, by=BOB, for_s=600)
    assert approved.grant_until == clock() + 60_000
    clock.advance(60_000)
    with pytest.raises(Refused), shield.run("bot", "t") as run:
        run.call(paid.pay, amount=5)
    assert paid.amounts == []


def forged(ticket: Ticket, *votes: Signer, until: int) -> Ticket:
    """A ticket as somebody could write it who reaches the store, with those people's yes."""
    wish = wish_of(ticket)
    answers = tuple(
        [one.signed(wish.act(one.name, "human_operator", until, True, "")) for one in votes]
    )
    return msgspec.structs.replace(
        ticket,
        state=State.APPROVED,
        answer=answers[-1],
        votes=answers,
        grant_until=until,
        answered_by="ann",
    )


def test_a_ticket_that_somebody_wrote_by_hand_needs_both_signatures() -> None:
    mallory = operator("bob")[0]
    for votes, starts in (
        ((ANN,), False),
        ((ANN, ANN), False),
        ((ANN, mallory), False),
        ((ANN, BOB), True),
    ):
        shield, paid, clock = critical(KNOWN_ANN, KNOWN_BOB)
        ticket = shield.ticket(asks(shield, paid))
        put(
            shield.store,
            ticket.key,
            msgspec.to_builtins(forged(ticket, *votes, until=clock() + 60_000)),
        )
        shield.records.clear()
        asks(shield, paid)
        assert bool(paid.amounts) is starts


def test_whoever_asked_is_no_part_of_it() -> None:
    own, known = operator("ann", agents=("bot",))
    shield, paid, _ = critical(known, KNOWN_BOB)
    ticket = asks(shield, paid)
    assert shield.approve(ticket, by=BOB).state is State.OPEN
    with pytest.raises(AnswerRefused, match="somebody else has to answer"):
        shield.approve(ticket, by=own)


def test_those_who_have_said_yes_are_shown() -> None:
    shield, paid, _ = critical(KNOWN_ANN, KNOWN_BOB)
    view = ticket_view(shield.approve(asks(shield, paid), by=ANN))
    assert view.said_yes == ("ann",)


def test_one_key_is_one_person_however_its_line_is_written() -> None:
    ann = msgspec.structs.replace(KNOWN_ANN, key=f"{KNOWN_ANN.key} one", agents=("bot",))
    shield = shield_for(
        policy(), clock=FakeClock(), operators=(ann, msgspec.structs.replace(KNOWN_ANN, name="zed"))
    )
    with pytest.raises(AnswerRefused, match="asked for it, or an agent of theirs did"):
        shield.approve(asks(shield, Paid()), by=Signer("zed", ANN.key))


@pytest.mark.parametrize(("agent", "own"), [("bot-1", True), ("BOT-22", True), ("robot-1", False)])
def test_agents_of_an_operator_can_be_a_pattern(agent: str, own: bool) -> None:
    known = msgspec.structs.replace(KNOWN_ANN, agents=("bot-*",))
    shield, paid = shield_for(policy(), clock=FakeClock(), operators=(known,)), Paid()
    with pytest.raises(Refused) as raised:
        shield.run(agent).call(paid.pay, 5)
    if own:
        with pytest.raises(AnswerRefused, match="somebody else has to answer"):
            shield.approve(raised.value.ticket or "", by=ANN)
    else:
        assert shield.approve(raised.value.ticket or "", by=ANN).state is State.APPROVED


def test_a_bypass_of_what_is_critical_takes_two_people_as_well() -> None:
    deeds = Deeds()
    said = {**bypassable(), "tools": {"pay": {"risk": "critical"}}}
    shield = shield_for(said, clock=FakeClock(), operators=(KNOWN_ANN, KNOWN_BOB))
    run = shield.run("bot")
    refused(run, deeds.pay, 5)
    ticket = run.request_bypass("first", WHY).ticket
    assert shield.approve(ticket, by=ANN).state is State.OPEN
    refused(run, deeds.pay, 5)
    with pytest.raises(AnswerRefused, match="has said yes to ticket"):
        shield.approve(ticket, by=ANN)
    assert shield.approve(ticket, by=BOB).state is State.APPROVED
    run.call(deeds.pay, 5)
    refused(run, deeds.pay, 5)
    assert deeds.done == [("pay", 5)]


def test_a_bypass_goes_ahead_as_it_was_asked_for_and_cannot_be_changed() -> None:
    deeds = Deeds()
    shield = shield_for(bypassable(), clock=FakeClock())
    run = shield.run("bot")
    refused(run, deeds.pay, 5)
    ticket = run.request_bypass("first", WHY).ticket
    with pytest.raises(TicketError, match="edits nothing"):
        shield.approve(ticket, by="kim", edits={"amount": 4})
    assert shield.ticket(ticket).state is State.OPEN
