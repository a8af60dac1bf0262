"""However people and agents take turns, a call starts only on yes-answers that stand for it, and
for nothing else."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from hypothesis import given, settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from stanchion import Refused, Shield
from stanchion.approvals.answerers import Signer
from stanchion.approvals.errors import TicketError
from stanchion.approvals.ticket import Ticket
from stanchion.stores.memory import MemoryStore
from stanchion.testing import FakeClock, shield_for
from stanchion.testing.operators import operator
from tests.properties.examples import SOAK

ANN, KNOWN_ANN = operator("ann")
BOB, KNOWN_BOB = operator("bob", "reviewer", agents=("lead",))
EVE, KNOWN_EVE = operator("eve", "architect")
PEOPLE: dict[str, Signer] = {"ann": ANN, "bob": BOB, "eve": EVE}
OWN = {"ann": {"ann"}, "bob": {"bob", "lead"}, "eve": {"eve"}}
"""Whose requests nobody answers: their own, and those of agents that work for them."""
TAKES = {"pay": 1, "wire": 2}
AGENTS = ("bot", "lead", "ann")
EDITS: tuple[dict[str, int], ...] = ({}, {"amount": 7}, {"amount": 8})
POLICY: dict[str, Any] = {
    "name": "p",
    "tools": {"wire": {"risk": "critical"}},
    "guards": [
        {"use": "tool_denylist", "id": "ask", "tools": ["pay", "wire"], "action": "escalate"}
    ],
    "escalation": {"tickets_for_a_run": 10_000, "tickets_a_minute": 10_000},
}


class Yes(NamedTuple):
    """Somebody's yes to one request, as the test remembers it."""

    by: str
    generation: int
    edits: str
    until: int
    askers: tuple[str, ...]


class Inbox(RuleBasedStateMachine):
    """Two tools, two amounts, three agents, three people, several processes on one store; and what
    a yes is good for, remembered here and not there."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = FakeClock()
        self.store = MemoryStore(self.clock)
        self.shield = self.process()
        self.asked: dict[tuple[str, int], str] = {}
        self.yes: dict[str, list[Yes]] = {}
        self.ran: list[tuple[str, int]] = []

    def process(self) -> Shield:
        """A process of its own: it remembers nothing of the one before."""
        return shield_for(
            POLICY,
            clock=self.clock,
            store=self.store,
            operators=[KNOWN_ANN, KNOWN_BOB, KNOWN_EVE],
            prepare=False,
        )

    def pay(self, amount: int) -> int:
        """Pay somebody."""
        self.ran.append(("pay", amount))
        return amount

    def wire(self, amount: int) -> int:
        """Pay somebody far away."""
        self.ran.append(("wire", amount))
        return amount

    @rule(
        tool=st.sampled_from(["pay", "wire"]),
        amount=st.sampled_from([1, 2]),
        agent=st.sampled_from(AGENTS),
    )
    def ask(self, tool: str, amount: int, agent: str) -> None:
        """An agent asks for a call, or repeats it: it starts where as many have said yes to it as
        it takes."""
        before = len(self.ran)
        with self.shield.run(agent, "t") as run:
            try:
                run.call(getattr(self, tool), amount=amount)
            except Refused as refused:
                if refused.ticket:
                    self.asked[tool, amount] = str(refused.ticket)
        if len(self.ran) == before:
            return
        assert len(self.ran) == before + 1
        standing = self._standing(tool, amount, agent)
        assert len({one.by for one in standing}) >= TAKES[tool], (tool, amount, agent, standing)
        (edits,) = {one.edits for one in standing}
        assert self.ran[-1] == (tool, json.loads(edits).get("amount", amount))
        self.yes[self.asked[tool, amount]] = []

    def _standing(self, tool: str, amount: int, agent: str) -> list[Yes]:
        now = self.clock()
        known = self.yes.get(self.asked.get((tool, amount), ""), [])
        newest = max((one.generation for one in known), default=0)
        return [
            one
            for one in known
            if one.generation == newest
            and now < one.until
            and agent in one.askers
            and not OWN[one.by] & {*one.askers, agent}
        ]

    @rule(
        which=st.integers(0, 9),
        who=st.sampled_from(sorted(PEOPLE)),
        edits=st.sampled_from(EDITS),
        for_s=st.sampled_from([60, 900]),
    )
    def approve(self, which: int, who: str, edits: dict[str, Any], for_s: float) -> None:
        """Somebody says yes, as it was asked for or with another amount."""
        ticket = self._one(which)
        if ticket is None:
            return
        try:
            after = self.shield.approve(ticket.id, by=PEOPLE[who], edits=edits, for_s=for_s)
        except TicketError:
            return
        until = self.clock() + int(for_s * 1000)
        said = Yes(who, after.generation, json.dumps(edits), until, after.askers)
        self.yes.setdefault(ticket.id, []).append(said)

    @rule(which=st.integers(0, 9), who=st.sampled_from(["ann", "somebody"]))
    def deny(self, which: int, who: str) -> None:
        """Somebody says no, or takes a yes back."""
        ticket = self._one(which)
        if ticket is None:
            return
        try:
            self.shield.deny(ticket.id, by=who, comment="not this")
        except TicketError:
            return
        self.yes[ticket.id] = []

    def _one(self, which: int) -> Ticket | None:
        known = self.shield.tickets(state="all")
        return known[which % len(known)] if known else None

    @rule(ms=st.sampled_from([1, 59_999, 60_000, 600_000, 900_000, 1_800_000]))
    def wait(self, ms: int) -> None:
        """Time passes."""
        self.clock.advance(ms)

    @rule()
    def restart(self) -> None:
        """Another process takes over."""
        self.shield = self.process()

    @invariant()
    def nothing_is_listed_that_is_over(self) -> None:
        """What is listed waits, or is approved."""
        assert {one.state for one in self.shield.tickets()} <= {"open", "approved"}


TestInbox = Inbox.TestCase
TestInbox.settings = settings(
    deadline=None, max_examples=500 if SOAK else 40, stateful_step_count=40
)

VALUES = st.one_of(st.integers(0, 3), st.sampled_from(["a", "b"]), st.booleans(), st.none())
CALLS = st.fixed_dictionaries({"amount": VALUES, "to": VALUES})


def guarded(guard: str) -> dict[str, Any]:
    """A policy under which a guard of that name asks."""
    return {
        "name": "p",
        "guards": [{"use": "tool_denylist", "id": guard, "tools": ["pay"], "action": "escalate"}],
    }


@given(
    CALLS,
    CALLS,
    st.sampled_from([{}, {"amount": 9}, {"to": "c"}]),
    st.sampled_from(["ask", "other"]),
)
@settings(deadline=None, max_examples=300 if SOAK else 60)
def test_a_yes_fits_the_call_that_was_asked_for_and_no_other(
    asked: dict[str, Any], other: dict[str, Any], edits: dict[str, Any], guard: str
) -> None:
    clock = FakeClock()
    store = MemoryStore(clock)
    shield = shield_for(guarded("ask"), clock=clock, store=store, operators=[KNOWN_ANN])
    with shield.run("bot", "t") as run:
        ticket = run.ticket(run.check("pay", asked))
    shield.approve(str(ticket), by=ANN, edits=edits)
    same = json.dumps(asked, sort_keys=True) == json.dumps(other, sort_keys=True) and guard == "ask"
    with shield_for(guarded(guard), clock=clock, store=store, operators=[KNOWN_ANN]).run(
        "bot", "t"
    ) as run:
        decision = run.check("pay", other)
        assert decision.proceeds is same
        if same:
            assert decision.patched(other) == {**asked, **edits}
