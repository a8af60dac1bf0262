"""Whom a ticket asks, and when: the first role that somebody holds, then the next as well, each
told once."""

from __future__ import annotations

import random
from typing import Any

import pytest

from stanchion import Refused, Shield
from stanchion.approvals.errors import AnswerRefused
from stanchion.approvals.operators import Operator
from stanchion.approvals.quorum import turn
from stanchion.kernel.units import JUST_ONE
from stanchion.runtime.calling.reports import check
from stanchion.stores.memory import MemoryStore
from stanchion.telemetry.kinds import Kind, Occurrence
from stanchion.testing import FakeClock, interleave, shield_for
from stanchion.testing.operators import operator
from tests.approvals.asking import Paid, policy
from tests.approvals.test_taken_back import asks

REVIEWER, KNOWN_REVIEWER = operator("rev", "reviewer")
ARCHITECT, KNOWN_ARCHITECT = operator("arc", "architect")
HUMAN, KNOWN_HUMAN = operator("hum")
EVERYBODY = (KNOWN_REVIEWER, KNOWN_ARCHITECT, KNOWN_HUMAN)
THIRD_MS = 600_000


def shielded(
    known: tuple[Operator, ...] = EVERYBODY, **escalation: Any
) -> tuple[Shield, FakeClock, list[Occurrence]]:
    """A shield under which paying waits for those people, its clock, and what is told."""
    clock = FakeClock()
    shield = shield_for(
        policy(**escalation), clock=clock, store=MemoryStore(clock), operators=known
    )
    told: list[Occurrence] = []
    shield.occurrences.subscribe(told.append, each=True)
    return shield, clock, told


def asked_at(shield: Shield, clock: FakeClock, after_ms: int) -> tuple[str, ...]:
    """The roles that the only ticket has been passed to, so long after it was opened."""
    (ticket,) = shield.tickets()
    clock.advance(ticket.opened_at + after_ms - clock())
    (ticket,) = shield.tickets()
    return turn(ticket, shield.authority.known(), clock()).roles


@pytest.mark.parametrize(
    ("known", "steps"),
    [
        (
            EVERYBODY,
            [("reviewer",), ("reviewer", "architect"), ("reviewer", "architect", "human_operator")],
        ),
        ((KNOWN_REVIEWER, KNOWN_HUMAN), [("reviewer",), ("reviewer", "human_operator")]),
        ((KNOWN_HUMAN,), [("human_operator",), ("human_operator",), ("human_operator",)]),
        ((), [("human_operator",), ("human_operator",), ("human_operator",)]),
    ],
)
def test_roles_are_asked_in_their_order_and_those_that_nobody_holds_are_passed_over(
    known: tuple[Operator, ...], steps: list[tuple[str, ...]]
) -> None:
    shield, clock, _ = shielded(known)
    asks(shield, Paid())
    for number, roles in enumerate(steps):
        assert asked_at(shield, clock, number * THIRD_MS) == roles
        if len(roles) < len(steps):
            assert asked_at(shield, clock, (number + 1) * THIRD_MS - 1) == roles


def test_a_role_that_only_the_asking_operator_holds_is_passed_over() -> None:
    _, own = operator("rev", "reviewer", agents=("bot",))
    shield, clock, _ = shielded((own, KNOWN_HUMAN))
    asks(shield, Paid())
    assert asked_at(shield, clock, 0) == ("human_operator",)


def test_the_policy_says_when_the_next_is_asked() -> None:
    shield, clock, _ = shielded(next_after_s=60)
    asks(shield, Paid())
    assert asked_at(shield, clock, 59_999) == ("reviewer",)
    assert asked_at(shield, clock, 60_000) == ("reviewer", "architect")


@pytest.mark.parametrize("who", [REVIEWER, ARCHITECT, HUMAN])
@pytest.mark.parametrize("after_ms", [0, THIRD_MS, 2 * THIRD_MS])
def test_a_higher_authority_may_always_answer_and_whoever_was_asked_keeps_the_right(
    who: Any, after_ms: int
) -> None:
    shield, clock, _ = shielded()
    paid = Paid()
    ticket = asks(shield, paid)
    clock.advance(after_ms)
    shield.approve(ticket, by=who)
    assert asks(shield, paid) == ""
    assert paid.amounts == [5]


def test_half_an_hour_without_an_answer_is_a_no() -> None:
    shield, clock, _ = shielded()
    paid = Paid()
    ticket = asks(shield, paid)
    clock.advance(3 * THIRD_MS)
    with pytest.raises(Refused) as refused, shield.run("bot", "t") as run:
        run.call(paid.pay, amount=5)
    assert refused.value.decision.code == "approval.expired"
    with pytest.raises(AnswerRefused, match="asked for again"):
        shield.approve(ticket, by=HUMAN, generation=2)
    assert paid.amounts == []


def test_each_step_is_told_once_with_its_context_whoever_notices() -> None:
    shield, clock, told = shielded()
    other = shield_for(policy(), clock=clock, store=shield.store, operators=EVERYBODY)
    other.occurrences.subscribe(told.append, each=True)
    ticket = asks(shield, Paid())
    for _ in range(3):
        for one in (shield, other):
            one.tickets()
        asks(other, Paid())
        clock.advance(THIRD_MS)
    kinds = [each.kind for each in told if each.ticket == ticket]
    assert kinds == [Kind.TICKET_OPENED, Kind.TICKET_PASSED, Kind.TICKET_PASSED]
    steps = [each for each in told if each.ticket == ticket]
    for step, role in zip(steps, ("reviewer", "architect", "human_operator"), strict=True):
        assert f"`{role}`" in step.text
        assert "agent `bot`" in step.text
        assert "tool `pay` is on the denylist" in step.text
        assert (step.tool, step.agent, step.run != "") == ("pay", "bot", True)
    facts = [
        fact
        for each in (shield, other)
        for fact in each.journal.facts()
        if fact.what == "ticket.passed"
    ]
    assert [fact.data["asks"] for fact in facts] == ["architect", "human_operator"]


@pytest.mark.parametrize("seed", range(10))
def test_processes_that_notice_at_once_tell_a_step_once(seed: int) -> None:
    draw = random.Random(seed)
    shield, clock, told = shielded()
    with shield.run("bot", "t") as run:
        run.check("pay", {"amount": 5})
    clock.advance(THIRD_MS)
    shields = [
        shield_for(policy(), clock=clock, store=shield.store, operators=EVERYBODY) for _ in range(3)
    ]
    for one in shields:
        one.occurrences.subscribe(told.append, each=True)
    racers = [check(one.run("bot", "t").desk, "pay", {"amount": 5}, JUST_ONE) for one in shields]
    interleave(racers, shield.store, draw.randrange)
    assert [one.kind for one in told].count(Kind.TICKET_PASSED) == 1


def test_whoever_waits_notices_too() -> None:
    clock = FakeClock()
    shield = shield_for(
        policy(wait_s=3, next_after_s=1), clock=clock, store=MemoryStore(clock), operators=EVERYBODY
    )
    told: list[Occurrence] = []
    shield.occurrences.subscribe(told.append, each=True)

    def passes(_: Occurrence) -> None:
        clock.advance(1_000)

    shield.occurrences.subscribe(passes, each=True)
    asks(shield, Paid())
    assert Kind.TICKET_PASSED in [one.kind for one in told]
