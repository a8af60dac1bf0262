"""A yes that changes the arguments: what goes ahead is what was signed, judged again, and both are
in the trail."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from stanchion import Action, Refused, Shield
from stanchion.approvals import State, TicketError
from stanchion.approvals.answerers import Signer
from stanchion.approvals.errors import AnswerRefused
from stanchion.stores.memory import MemoryStore
from stanchion.testing import FakeClock, shield_for
from stanchion.testing.operators import operator
from tests.approvals.asking import Paid, policy
from tests.approvals.test_taken_back import asks, put
from tests.rules import rule

ANN, KNOWN = operator("ann")
BOB, KNOWN_BOB = operator("bob")


def shielded(*more: dict[str, Any], known: Any = (KNOWN,), **fields: Any) -> tuple[Shield, Paid]:
    """A shield under which paying waits for Ann, with more guards."""
    clock = FakeClock()
    said = policy()
    said = {**said, "guards": [*said["guards"], *more], **fields}
    return shield_for(said, clock=clock, store=MemoryStore(clock), operators=known), Paid()


def test_the_call_goes_ahead_as_it_was_changed_and_the_agent_is_told() -> None:
    shield, paid = shielded()
    with shield.run("bot", "t") as run:
        with pytest.raises(Refused) as refused:
            run.call(paid.pay, amount=500, to="ACME")
        ticket = shield.approve(str(refused.value.ticket), by=ANN, edits={"amount": 5})
        assert ticket.edits == {"amount": 5}
        assert run.call(paid.pay, amount=500, to="ACME") == 5
        assert any(
            'a person changed this call before it went ahead, to {"amount":5}' in one
            for one in run.notices()
        )
    assert paid.amounts == [5]
    assert shield.ticket(ticket.id).state is State.USED
    written = [kept.read() for kept in shield.journal.kept()]
    calls = [(one.content["amount"], one.granted) for one in written if one.stage == "tool_call"]
    assert calls[0] == (500, "")
    assert calls[-1] == (5, ticket.id)
    (approved,) = [one for one in shield.journal.facts() if one.what == "ticket.approved"]
    assert approved.data["scope"] == 'once {"amount":5}'


def test_a_host_gets_the_whole_new_call() -> None:
    shield, _ = shielded()
    with shield.run("bot", "t") as run:
        ticket = run.ticket(run.check("pay", {"amount": 500, "to": "ACME"}))
        shield.approve(str(ticket), by=ANN, edits={"amount": 5})
        decision = run.check("pay", {"amount": 500, "to": "ACME"})
    assert decision.proceeds
    assert decision.action is Action.REDACT
    assert decision.patched({"amount": 500, "to": "ACME"}) == {"amount": 5, "to": "ACME"}
    assert "approval.edited" in [one.code for one in decision.findings]


def test_a_host_that_cannot_change_a_call_does_not_get_to_run_it_as_it_was() -> None:
    shield, _ = shielded()
    with shield.run("bot", "t", can=["block"]) as run:
        ticket = run.ticket(run.check("pay", {"amount": 500}))
        assert ticket is None, "a host that cannot wait asks nobody"
    with shield.run("bot", "t", can=["escalate"]) as run:
        ticket = run.ticket(run.check("pay", {"amount": 500}))
        shield.approve(str(ticket), by=ANN, edits={"amount": 5})
        decision = run.check("pay", {"amount": 500})
    assert (decision.action, decision.code) == (Action.BLOCK, "approval.edit_unfit")
    assert shield.ticket(str(ticket)).state is State.APPROVED


def test_it_fits_no_other_call_and_is_used_once() -> None:
    shield, paid = shielded()
    ticket = asks(shield, paid, 500)
    shield.approve(ticket, by=ANN, edits={"amount": 5})
    for amount in (5, 499):
        assert asks(shield, paid, amount) not in ("", ticket)
    assert asks(shield, paid, 500) == ""
    assert asks(shield, paid, 500) == ticket
    assert paid.amounts == [5]


def test_every_guard_judges_the_changed_call() -> None:
    no = rule("no-small", "tool_call", when="event.args.amount < 10", action="block")
    shield, paid = shielded(no)
    ticket = asks(shield, paid, 500)
    shield.approve(ticket, by=ANN, edits={"amount": 5})
    with pytest.raises(Refused) as refused, shield.run("bot", "t") as run:
        run.call(paid.pay, amount=500)
    assert refused.value.decision.determining is not None
    assert refused.value.decision.determining.guard == "no-small"
    assert shield.ticket(ticket).state is State.APPROVED, "what did not start has used nothing up"
    assert paid.amounts == []


def test_another_question_about_the_changed_call_is_not_answered_by_it() -> None:
    asks_too = {
        "use": "rule",
        "id": "small",
        "when": "event.args.amount < 10",
        "action": "escalate",
    }
    shield, paid = shielded({**asks_too, "stages": ["tool_call"]})
    ticket = asks(shield, paid, 500)
    shield.approve(ticket, by=ANN, edits={"amount": 5})
    with pytest.raises(Refused) as refused, shield.run("bot", "t") as run:
        run.call(paid.pay, amount=500)
    assert refused.value.decision.code == "approval.edit_asks"
    assert paid.amounts == []


def test_a_changed_call_that_nobody_asks_about_uses_the_yes_up_as_well() -> None:
    big = rule("big", "tool_call", when="event.args.amount > 10", action="escalate")
    clock = FakeClock()
    shield = shield_for(
        {**policy(), "guards": [big]}, clock=clock, store=MemoryStore(clock), operators=[KNOWN]
    )
    paid = Paid()
    ticket = asks(shield, paid, 500)
    shield.approve(ticket, by=ANN, edits={"amount": 5})
    assert asks(shield, paid, 500) == ""
    assert paid.amounts == [5]
    assert shield.ticket(ticket).state is State.USED


@pytest.mark.parametrize(
    ("edits", "more", "words"),
    [
        ({"sum": 5}, {}, "the call has no argument `sum`: change one or more of"),
        ({"amount": 500}, {}, "the edits change nothing"),
        ({"amount": 5}, {"scope": "run"}, "a changed call can only be approved once"),
        ({"amount": object()}, {}, "only be changed to plain data"),
        ({"amount": "x" * 70_000}, {}, "too long to be shown in full"),
    ],
)
def test_what_cannot_be_changed_is_one_clear_line(
    edits: dict[str, Any], more: dict[str, Any], words: str
) -> None:
    shield, paid = shielded()
    ticket = asks(shield, paid, 500)
    with pytest.raises(TicketError, match=words) as error:
        shield.approve(ticket, by=ANN, edits=edits, **more)
    assert "\n" not in str(error.value)
    assert shield.ticket(ticket).state is State.OPEN


def test_a_secret_is_no_edit() -> None:
    shield, paid = shielded()
    with shield.run("bot", "t") as run, pytest.raises(Refused) as refused:
        run.call(paid.pay, amount=500, password="hunter2")
    with pytest.raises(TicketError, match="contain a secret"):
        shield.approve(str(refused.value.ticket), by=ANN, edits={"password": "hunter3"})


def test_a_result_has_nothing_to_change() -> None:
    asks_after = {
        "use": "rule",
        "id": "after",
        "when": "event.result == 'secret plan'",
        "action": "escalate",
    }
    clock = FakeClock()
    said = {**policy(), "guards": [{**asks_after, "stages": ["tool_result"]}]}
    shield = shield_for(said, clock=clock, store=MemoryStore(clock), operators=[KNOWN])
    with shield.run("bot", "t") as run:
        decision = run.result("read", {"path": "x"}, "secret plan")
        ticket = run.ticket(decision)
    with pytest.raises(TicketError, match="has no arguments to change"):
        shield.approve(str(ticket), by=ANN, edits={"text": "other"})


def test_edits_that_somebody_wrote_into_the_store_are_not_what_was_signed() -> None:
    shield, paid = shielded()
    ticket = asks(shield, paid, 500)
    approved = shield.approve(ticket, by=ANN, edits={"amount": 5})
    assert approved.answer is not None
    act = msgspec.structs.replace(approved.answer.act, scope='once {"amount":400}')
    forged = msgspec.structs.replace(
        approved, answer=msgspec.structs.replace(approved.answer, act=act)
    )
    put(shield.store, approved.key, msgspec.to_builtins(forged))
    shield.records.clear()
    assert asks(shield, paid, 500) == ticket
    assert paid.amounts == []


def test_several_people_have_to_say_yes_to_the_same_change() -> None:
    shield, paid = shielded(known=(KNOWN, KNOWN_BOB), tools={"pay": {"risk": "critical"}})
    ticket = asks(shield, paid, 500)
    shield.approve(ticket, by=ANN, edits={"amount": 5})
    for edits in ({"amount": 6}, None):
        with pytest.raises(AnswerRefused, match="say yes to the same"):
            shield.approve(ticket, by=BOB, edits=edits)
    shield.approve(ticket, by=BOB, edits={"amount": 5})
    assert asks(shield, paid, 500) == ""
    assert paid.amounts == [5]


def test_an_answer_signed_elsewhere_can_change_it_as_well() -> None:
    shield, paid = shielded()
    ticket = shield.ticket(asks(shield, paid, 500))
    wish = shield.ticketing().wish(ticket, edits={"amount": 5})
    shield.answer(signed(ANN, wish, shield.clock()))
    assert asks(shield, paid, 500) == ""
    assert paid.amounts == [5]


def signed(by: Signer, wish: Any, now: int) -> bytes:
    """Somebody's yes, as it is carried."""
    return by.signed(wish.act(by.name, "human_operator", now + 60_000, True, "")).bytes
