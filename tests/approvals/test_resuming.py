"""A process may be killed at any trip to its store: whoever goes on has it done exactly once, with
people's help."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from stanchion import Refused, Shield
from stanchion.approvals import State
from stanchion.approvals.ticket import Kind
from stanchion.stores.protocol import Store
from stanchion.stores.sqlite import SqliteStore
from stanchion.testing import FakeClock, shield_for
from stanchion.testing.operators import operator
from tests.approvals.crashing import Dying, Killed
from tests.stores.servers import Place, place

__all__ = ["place"]

ANN, KNOWN_ANN = operator("ann")
BOB, KNOWN_BOB = operator("bob")
HOUR_MS = 3_600_000
PATIENCE = 12
"""How often an agent repeats its call until it is done."""

CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "as asked": ("high", {}),
    "changed": ("high", {"amount": 7}),
    "two people": ("critical", {}),
}


class World:
    """A bank that keeps what it was paid, on one store; every step is a process of its own."""

    def __init__(self, store: Store, clock: FakeClock, risk: str, edits: dict[str, Any]) -> None:
        self._store, self.clock, self.edits = store, clock, edits
        self.policy = {
            "name": "p",
            "tools": {"pay": {"risk": risk, "annotations": ["once"]}},
            "guards": [
                {"use": "tool_denylist", "id": "ask", "tools": ["pay"], "action": "escalate"}
            ],
        }
        self.nonces = map(str, itertools.count())
        self.paid: list[int] = []

    def process(self, dying: Dying | None = None) -> Shield:
        """A new process."""
        store: Any = self._store if dying is None else dying
        people, nonces = [KNOWN_ANN, KNOWN_BOB], self.nonces.__next__
        return shield_for(
            self.policy, clock=self.clock, store=store, operators=people, nonces=nonces
        )

    def pay(self, amount: int) -> dict[str, int]:
        """Pay."""
        self.paid.append(amount)
        return {"receipt": len(self.paid)}

    def ask(self, dying: Dying | None = None) -> Refused | None:
        """The agent asks for its payment, in whichever process the run goes on."""
        run = self.process(dying).run("clerk", "t", id="r")
        try:
            run.call(self.pay, amount=5)
        except Refused as refused:
            return refused
        return None

    def answer(self, ticket: str, dying: Dying | None = None) -> None:
        """People answer a ticket that is open: they say yes to the call, and of an effect what the
        bank says."""
        shield = self.process(dying)
        found = shield.ticket(ticket)
        if found.state is not State.OPEN:
            return
        if found.kind is Kind.EFFECT:
            shield.approve(ticket, by=ANN, edits={} if self.paid else {"happened": False})
            return
        voted = {one.act.operator for one in found.votes}
        for by in (ANN, BOB):
            if by.name not in voted and shield.ticket(ticket).state is State.OPEN:
                shield.approve(ticket, by=by, edits=self.edits)

    def story(self, dying: Dying) -> None:
        """Ask, have it answered, and ask again."""
        refused = self.ask(dying)
        assert refused is not None
        self.answer(str(refused.ticket), dying)
        assert self.ask(dying) is None

    def go_on(self) -> None:
        """Repeat the call until it is done, with what people do in the meantime."""
        for _ in range(PATIENCE):
            refused = self.ask()
            if refused is None or refused.decision.code == "ledger.result_not_kept":
                return
            if refused.ticket:
                self.answer(refused.ticket)
            if refused.decision.code == "ledger.in_progress":
                self.clock.advance(HOUR_MS)
        raise AssertionError("it is never done")


@pytest.fixture(params=["sqlite", "postgres"])
def fresh(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[FakeClock], Store]]:
    """Makes an empty store."""
    made: list[Store] = []
    schema: Place | None = request.getfixturevalue("place") if request.param == "postgres" else None

    def make(clock: FakeClock) -> Store:
        if schema is None:
            made.append(SqliteStore(tmp_path / f"state-{len(made)}.db", clock=clock))
        else:
            made.append(schema.open(clock))
            schema.forget()
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("applied", [False, True])
def test_it_is_done_exactly_once_wherever_the_process_was_killed(
    fresh: Callable[[FakeClock], Store], case: str, applied: bool
) -> None:
    risk, edits = CASES[case]
    for at in range(1, 200):
        clock = FakeClock()
        store = fresh(clock)
        world = World(store, clock, risk, edits)
        dying = Dying(store, at, applied)
        with suppress(Killed):
            world.story(dying)
        assert len(world.paid) <= 1
        world.go_on()
        assert world.paid == [edits.get("amount", 5)], f"killed at trip {at}"
        store.close()
        if not dying.dead:
            assert at > 8, "every trip of asking, answering and starting was cut off"
            return
    raise AssertionError("the story has no end")
