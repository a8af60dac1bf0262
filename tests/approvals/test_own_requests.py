"""Nobody answers for themselves or for those below them: under no name, with no key, in no way to
answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from stanchion import Refused, Shield
from stanchion.approvals.answerers import Signer
from stanchion.approvals.errors import AnswerRefused
from stanchion.approvals.operators import Operator
from stanchion.approvals.ticket import Ticket, wish_of
from stanchion.stores.memory import MemoryStore
from stanchion.testing import FakeClock, shield_for
from stanchion.testing.operators import operator
from tests.approvals.asking import Paid, policy

ANN, KNOWN_ANN = operator("ann")
BOB, KNOWN_BOB = operator("bob")
EVE, KNOWN_EVE = operator("eve")
SPELLED = ("ann", "Ann", "ａｎｎ", "a nn", "an\u200bn", "ánn")


def shielded(*known: Operator, risk: str = "medium") -> Shield:
    """A shield under which paying waits for those people."""
    clock = FakeClock()
    said = {**policy(), "tools": {"pay": {"risk": risk}}}
    return shield_for(said, clock=clock, store=MemoryStore(clock), operators=known)


def asked_below(shield: Shield, paid: Paid, agent: str, times: int = 1) -> Ticket:
    """The ticket of an agent that works for another, some levels below it."""
    with shield.run(agent, "t") as top:
        run = top
        for number in range(times):
            run = run.spawn(f"kid-{number}", "t")
        with pytest.raises(Refused) as refused:
            run.call(paid.pay, amount=5)
    return shield.ticket(str(refused.value.ticket))


def directly(shield: Shield, ticket: Ticket, by: Signer) -> Any:
    """Answer with a key here."""
    return shield.approve(ticket.id, by=by)


def edited(shield: Shield, ticket: Ticket, by: Signer) -> Any:
    """Answer with a key here, and change something."""
    return shield.approve(ticket.id, by=by, edits={"amount": 1})


def carried(shield: Shield, ticket: Ticket, by: Signer) -> Any:
    """Hand in an answer that was signed elsewhere."""
    act = wish_of(ticket).act(by.name, "human_operator", shield.clock() + 60_000, True, "")
    return shield.answer(by.signed(act).bytes)


WAYS = (directly, edited, carried)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("levels", [0, 1, 3])
@pytest.mark.parametrize("name", SPELLED)
def test_an_operator_who_is_the_agent_or_one_above_it_does_not_answer(
    name: str, levels: int, way: Callable[..., Any]
) -> None:
    shield, paid = shielded(KNOWN_ANN, KNOWN_BOB), Paid()
    ticket = asked_below(shield, paid, name, levels)
    with pytest.raises(AnswerRefused, match="somebody else has to answer"):
        way(shield, ticket, ANN)
    assert way(shield, ticket, BOB).state == "approved"


@pytest.mark.parametrize("way", WAYS)
def test_an_agent_of_an_operator_above_it_counts_as_theirs(way: Callable[..., Any]) -> None:
    own, known = operator("ann", agents=("Lead",))
    shield = shielded(known)
    ticket = asked_below(shield, Paid(), "ｌｅａｄ", 2)
    with pytest.raises(AnswerRefused, match="somebody else has to answer"):
        way(shield, ticket, own)


@pytest.mark.parametrize("way", WAYS)
def test_another_name_with_the_same_key_is_the_same_person(way: Callable[..., Any]) -> None:
    twin = msgspec.structs.replace(KNOWN_ANN, name="somebody-else")
    known = msgspec.structs.replace(KNOWN_ANN, agents=("lead",))
    for agent in ("lead", "ann"):
        shield = shielded(known, twin)
        ticket = asked_below(shield, Paid(), agent)
        with pytest.raises(AnswerRefused, match="somebody else has to answer"):
            way(shield, ticket, Signer("somebody-else", ANN.key))


def test_no_half_of_a_quorum_is_theirs_also_where_their_agent_asks_later() -> None:
    own, known = operator("ann", agents=("late",))
    shield, paid = shielded(known, KNOWN_BOB, KNOWN_EVE, risk="critical"), Paid()
    ticket = asked_below(shield, paid, "bot", 0)
    assert shield.approve(ticket.id, by=own).said_yes == ("ann",)
    asked_below(shield, paid, "late", 0)
    after = shield.approve(ticket.id, by=BOB)
    assert (after.state, after.said_yes) == ("open", ("bob",)), (
        "one yes is theirs by now, and counts no more"
    )
    assert shield.approve(ticket.id, by=EVE).state == "approved"


def test_a_yes_given_before_their_agent_asked_starts_nothing_for_it() -> None:
    own, known = operator("ann", agents=("late",))
    shield, paid = shielded(known), Paid()
    ticket = asked_below(shield, paid, "bot", 0)
    shield.approve(ticket.id, by=own)
    asked_below(shield, paid, "late", 0)
    assert paid.amounts == []
