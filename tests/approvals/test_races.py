"""Several processes and one approval: exactly one of them starts, however their steps fall, on
every store."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stanchion import Action, Decision, Shield
from stanchion.approvals import State, Ticket, TicketClosed
from stanchion.kernel.units import JUST_ONE
from stanchion.runtime.calling.reports import check
from stanchion.stores.memory import MemoryStore
from stanchion.stores.protocol import Store
from stanchion.stores.redis import RedisStore
from stanchion.testing import FakeClock, interleave, shield_for
from tests.approvals.asking import policy
from tests.operators import ANN, BOB, KNOWN, KNOWN_BOB
from tests.stores import redis_server
from tests.stores.servers import Place, place
from tests.stores.several import TakingTurns, two

server = redis_server.server
__all__ = ["place", "server"]

RACERS = 3
ROUNDS = 12


@pytest.fixture(params=["memory", "sqlite", "postgres", "redis"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """A store; where it can be shared, two of them on one file or server that take turns."""
    clock = FakeClock()
    made: Store
    match request.param:
        case "memory":
            made = MemoryStore(clock)
        case "sqlite":
            made = TakingTurns(two(tmp_path / "state.db", clock))
        case "postgres":
            schema: Place = request.getfixturevalue("place")
            made = TakingTurns([schema.open(clock), schema.open(clock)])
        case _:
            url = request.getfixturevalue("server").url
            made = TakingTurns([RedisStore(url, clock=clock), RedisStore(url, clock=clock)])
    yield made
    made.close()


def process(store: Store) -> Shield:
    """A process of its own."""
    return shield_for(policy(), store=store, operators=[KNOWN, KNOWN_BOB])


def asked(store: Store, amount: int) -> Any:
    """A process of its own that asks to pay: its decision, step by step."""
    return check(process(store).run("bot").desk, "pay", {"amount": amount}, JUST_ONE)


def ticket_of(store: Store, amount: int) -> Ticket:
    """The ticket about that payment."""
    (found,) = [
        one for one in process(store).tickets(state="all") if one.content == {"amount": amount}
    ]
    return found


def race(store: Store, amount: int, draw: random.Random) -> tuple[Decision, ...]:
    """Let several processes ask for the same, their steps in an order that is drawn."""
    racers = [asked(store, amount) for _ in range(RACERS)]
    return interleave(racers, store, draw.randrange).decisions


def test_one_of_those_who_race_for_an_approval_starts(store: Store) -> None:
    shield = process(store)
    for amount in range(ROUNDS):
        draw = random.Random(amount)
        opened = race(store, amount, draw)
        assert {decision.action for decision in opened} == {Action.ESCALATE}
        ticket = ticket_of(store, amount)
        assert ticket.generation == 1, "they all wait for one ticket"
        shield.approve(ticket.id, by=ANN)
        decisions = race(store, amount, draw)
        started = [decision.id for decision in decisions if decision.proceeds]
        others = {decision.code for decision in decisions if not decision.proceeds}
        assert len(started) == 1
        assert others <= {"kernel.taken", "tool.denied"}, (
            "lost the race, or came so late that it was asked anew"
        )
        after = ticket_of(store, amount)
        assert (after.state, after.used_by, after.generation) in (
            (State.USED, started[0], 1),
            (State.OPEN, "", 2),
        )


def test_one_of_two_answers_counts(store: Store) -> None:
    shields = [process(store) for _ in range(2)]
    interleave([asked(store, 1)], store, lambda _: 0)
    ticket = ticket_of(store, 1)
    assert [shield.ticket(ticket.id).state for shield in shields] == [State.OPEN, State.OPEN]
    shields[0].deny(ticket.id, by=ANN, comment="not now")
    with pytest.raises(TicketClosed, match="already denied, by `ann`"):
        shields[1].approve(ticket.id, by=BOB)
    (decision,) = interleave([asked(store, 1)], store, lambda _: 0).decisions
    assert (decision.action, decision.code) == (Action.BLOCK, "approval.denied")


def test_an_approval_outlives_the_process_that_waited_for_it(store: Store) -> None:
    interleave([asked(store, 1)], store, lambda _: 0)
    ticket = ticket_of(store, 1)
    process(store).approve(ticket.id, by=ANN)
    crashed = asked(store, 1)
    given: Any = None
    while True:
        need = crashed.send(given)
        if any(put[0] == ticket.key for put in getattr(need, "puts", ())):
            break
        given = store.carry(need)
    crashed.close()
    assert ticket_of(store, 1).state is State.APPROVED
    (decision,) = interleave([asked(store, 1)], store, lambda _: 0).decisions
    assert decision.proceeds
    assert ticket_of(store, 1).used_by == decision.id
