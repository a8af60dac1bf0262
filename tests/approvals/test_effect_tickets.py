"""An effect that began and never ended is a ticket: opened once, answered by settling it, and the
other way round."""

from __future__ import annotations

from typing import Any

import pytest

from stanchion import Refused, Run, Shield
from stanchion.approvals import State, Ticket, TicketClosed, TicketError
from stanchion.approvals.errors import AnswerRefused
from stanchion.approvals.ticket import Kind
from stanchion.runtime.operating.settle_effects import EffectError, settle_effect
from stanchion.telemetry.kinds import Kind as Told, Occurrence
from stanchion.testing.operators import operator
from tests.runtime.test_ledger import Bank, World

ANN, KNOWN = operator("ann")
EVE, KNOWN_EVE = operator("eve", "reviewer")
DEFINITE = RuntimeError("the line went dead")


def begun(world: World) -> tuple[Bank, Ticket]:
    """An effect whose outcome nobody knows, and the ticket that the next call opens about it."""
    bank = Bank(after=DEFINITE)
    with pytest.raises(RuntimeError):
        world.run().call(bank.pay, 10)
    bank.after = None
    shield = world.process()
    with pytest.raises(Refused) as refused:
        shield.run("clerk", id="r").call(bank.pay, 10)
    assert refused.value.decision.code == "ledger.outcome_unknown"
    return bank, shield.ticket(str(refused.value.ticket))


def world() -> World:
    """A store, and processes that know Ann and Eve."""
    return World(operators=[KNOWN, KNOWN_EVE])


def paid(run: Run, bank: Bank) -> Any:
    """Ask for the same payment."""
    return run.call(bank.pay, 10)


def test_whoever_finds_it_opens_a_ticket_and_one_only() -> None:
    here = world()
    bank, ticket = begun(here)
    assert (ticket.kind, ticket.state, ticket.tool, ticket.content) == (
        Kind.EFFECT,
        State.OPEN,
        "pay",
        {"happened": True},
    )
    assert ticket.beside["run"] == "r"
    told: list[Occurrence] = []
    for _ in range(3):
        shield = here.process()
        shield.occurrences.subscribe(told.append, each=True)
        with pytest.raises(Refused) as refused:
            paid(shield.run("clerk", id="r"), bank)
        assert refused.value.ticket == ticket.id
    assert [one for one in told if one.kind is Told.TICKET_OPENED] == []
    assert [one.id for one in here.process().tickets()] == [ticket.id]


def test_a_yes_says_that_it_happened() -> None:
    here = world()
    bank, ticket = begun(here)
    shield = here.process()
    assert shield.approve(ticket.id, by=ANN).state is State.USED
    with pytest.raises(Refused) as refused:
        paid(here.run(), bank)
    assert refused.value.decision.code == "ledger.result_not_kept"
    assert bank.paid == [10]
    assert shield.tickets() == []
    (fact,) = [one for one in shield.journal.facts() if one.what.startswith("effect.")]
    assert (fact.what, fact.by, fact.data["ticket"]) == ("effect.happened", "ann", ticket.id)


def test_a_yes_with_an_edit_says_that_it_did_not() -> None:
    here = world()
    bank, ticket = begun(here)
    here.process().approve(ticket.id, by=ANN, edits={"happened": False})
    assert paid(here.run(), bank) == {"receipt": 2}
    assert bank.paid == [10, 10]


def test_settling_it_answers_the_ticket() -> None:
    here = world()
    _, ticket = begun(here)
    shield = here.process()
    settle_effect(shield, ticket.beside["effect"], True, by=ANN)
    after = shield.ticket(ticket.id)
    assert (after.state, after.answered_by, after.used_by) == (
        State.USED,
        "ann",
        ticket.beside["effect"],
    )
    with pytest.raises(TicketClosed):
        shield.approve(ticket.id, by=ANN)


def test_a_no_leaves_it_unknown_and_asks_nobody_again_for_a_while() -> None:
    here = world()
    bank, ticket = begun(here)
    shield = here.process()
    shield.deny(ticket.id, by="anybody", comment="I do not know either")
    with pytest.raises(Refused) as refused:
        paid(here.run(), bank)
    assert refused.value.decision.code == "ledger.outcome_unknown"
    assert shield.tickets() == []
    settle_effect(shield, ticket.beside["effect"], True, by=ANN)


@pytest.mark.parametrize(
    ("by", "more", "error", "words"),
    [
        ("anybody", {}, AnswerRefused, "operators have keys here"),
        (EVE, {}, AnswerRefused, "asks for `human_operator`"),
        (ANN, {"scope": "time"}, TicketError, "nothing starts on a ticket about a effect"),
        (ANN, {"edits": {"happened": "perhaps"}}, TicketError, "`happened` is `true` or `false`"),
        (ANN, {"edits": {"effect": "x"}}, TicketError, "no argument `effect`"),
    ],
)
def test_who_may_not_settle_it_may_not_answer(by: Any, more: Any, error: Any, words: str) -> None:
    here = world()
    bank, ticket = begun(here)
    shield = here.process()
    with pytest.raises(error, match=words):
        shield.approve(ticket.id, by=by, **more)
    assert shield.ticket(ticket.id).state is State.OPEN
    with pytest.raises(Refused):
        paid(here.run(), bank)
    assert bank.paid == [10]


def test_a_ticket_whose_effect_was_settled_by_its_own_call_has_nothing_to_settle() -> None:
    here = world()
    _, ticket = begun(here)
    shield: Shield = here.process()
    settle_effect(shield, ticket.beside["effect"], True, by=ANN)
    with pytest.raises(EffectError, match="nothing to settle"):
        settle_effect(shield, ticket.beside["effect"], False, by=ANN)


def test_it_is_asked_again_when_nobody_answered_and_it_is_found_again() -> None:
    here = world()
    bank, ticket = begun(here)
    here.clock.advance(1_800_000)
    for code in ("ledger.outcome_unknown", "ledger.outcome_unknown"):
        with pytest.raises(Refused) as refused:
            paid(here.run(), bank)
        assert refused.value.decision.code == code
    again = here.process().ticket(ticket.id)
    assert (again.state, again.generation) == (State.OPEN, 2)
