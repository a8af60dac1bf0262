"""Approvals and the ledger see values without a JSON form, and arguments that change while a call
waits."""

from __future__ import annotations

from fractions import Fraction
from ipaddress import ip_address
from typing import Any

import numpy as np
import pytest

from stanchion import Refused, Shield
from stanchion.stores.memory import MemoryStore
from stanchion.testing import FakeClock, shield_for
from tests.approvals.asking import Meanwhile


class Money(float):
    """A number of somebody's own."""


PAIRS: dict[str, tuple[Any, Any]] = {
    "integers of a library": (np.int64(10), np.int64(1_000_000)),
    "floats of a library": (np.float32(10), np.float32(11)),
    "own floats": (Money(10), Money(11)),
    "addresses": (ip_address("10.0.0.1"), ip_address("10.0.0.2")),
    "complex numbers": (1 + 2j, 1 + 3j),
    "fractions": (Fraction(1, 3), Fraction(1, 4)),
    "sets": ({1, 2}, {1, 3}),
}
ASKS = {
    "name": "p",
    "guards": [
        {"use": "rule", "id": "ask", "when": "event.stage == 'tool_call'", "action": "escalate"}
    ],
}


class Bank:
    """Pays, and remembers what it paid."""

    def __init__(self) -> None:
        self.paid: list[Any] = []

    def pay(self, to: str, amount: Any) -> str:
        self.paid.append(amount)
        return f"receipt {len(self.paid)}"


def refused_ticket(run: Any, pay: Any, amount: Any) -> str:
    with pytest.raises(Refused) as refused:
        run.call(pay, to="ACME", amount=amount)
    return str(refused.value.ticket)


@pytest.mark.parametrize(("first", "other"), PAIRS.values(), ids=PAIRS)
def test_an_approval_is_for_one_amount(first: Any, other: Any) -> None:
    shield, bank = Shield.load(ASKS), Bank()
    with shield.run("ann") as run:
        shield.approve(refused_ticket(run, bank.pay, first), by="bob")
        with pytest.raises(Refused):
            run.call(bank.pay, to="ACME", amount=other)
        assert bank.paid == []
        run.call(bank.pay, to="ACME", amount=first)
        assert bank.paid == [first]


@pytest.mark.parametrize(("first", "other"), PAIRS.values(), ids=PAIRS)
def test_a_receipt_is_for_one_amount(first: Any, other: Any) -> None:
    policy = {"name": "p", "tools": {"pay": {"annotations": ["once"]}}}
    shield, bank = Shield.load(policy), Bank()
    for amount in (first, other):
        with shield.run("ann", id="one") as run:
            run.call(bank.pay, to="ACME", amount=amount)
    assert bank.paid == [first, other]


def test_what_has_no_form_is_neither_approved_nor_done_once() -> None:
    shield, bank = Shield.load({**ASKS, "unread": "allow"}), Bank()
    with shield.run("ann") as run, pytest.raises(Refused) as refused:
        run.call(bank.pay, to="ACME", amount=object())
    assert refused.value.decision.code == "kernel.no_form"
    assert refused.value.ticket is None
    once = Shield.load(
        {"name": "p", "unread": "allow", "tools": {"pay": {"annotations": ["once"]}}}
    )
    with once.run("ann") as run, pytest.raises(Refused) as refused:
        run.call(bank.pay, to="ACME", amount=object())
    assert refused.value.decision.code == "kernel.no_form"
    assert bank.paid == []


def test_what_is_changed_while_it_waits_does_not_run() -> None:
    clock, bank, order = FakeClock(), Bank(), {"sum": 10}

    def changes_and_approves(ticket: str) -> None:
        order["sum"] = 1_000_000
        shield.approve(ticket, by="bob")

    policy = {**ASKS, "escalation": {"wait_s": 30}}
    shield = shield_for(
        policy, clock=clock, store=Meanwhile(MemoryStore(clock), changes_and_approves)
    )
    with shield.run("ann") as run:
        run.call(bank.pay, to="ACME", amount=order)
    assert bank.paid == [{"sum": 10}]
