"""However many tickets wait, one is asked for, listed, found and answered with the same reads and
the same batches."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest

from stanchion import Refused, Shield
from stanchion.approvals.errors import TicketError
from stanchion.approvals.shelf import ON_A_PAGE, all_in
from stanchion.kernel.state import Batch, Reply, StoreLost
from stanchion.stores.memory import MemoryStore
from stanchion.stores.seen import Hold, SeenCell
from stanchion.testing import FakeClock, LostStore, shield_for
from tests.approvals.asking import Paid, policy
from tests.approvals.test_taken_back import asks
from tests.sampling import SOAK

MANY = 10_000 if SOAK else 2_000
FEW = 100


class Counting:
    """A store that counts what is asked of it."""

    place = ""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store
        self.did: Counter[str] = Counter()

    def carry(self, batch: Batch) -> Reply:
        """Carry a batch out."""
        self.did["batches"] += 1
        self.did["cells"] += len(batch.expects) + len(batch.puts) + len(batch.lines)
        return self._store.carry(batch)

    async def acarry(self, batch: Batch) -> Reply:
        """The same for async code."""
        return self.carry(batch)

    def read(self, key: str) -> tuple[int, Any]:
        """A cell."""
        self.did["reads"] += 1
        return self._store.read(key)

    def look(self, prefix: str = "") -> Iterator[SeenCell]:
        """Cells."""
        for seen in self._store.look(prefix):
            self.did["looked at"] += 1
            yield seen

    def holds(self) -> Iterator[Hold]:
        """Holds."""
        return self._store.holds()

    def held(self, tenant: str, hold_id: str) -> Hold | None:
        """A hold."""
        return self._store.held(tenant, hold_id)

    def close(self) -> None:
        """Close it."""
        self._store.close()


def crowded(count: int) -> tuple[Shield, Counting]:
    """A shield on whose store so many tickets wait."""
    clock = FakeClock()
    store = Counting(MemoryStore(clock))
    shield = shield_for(
        policy(tickets_for_a_run=MANY * 2, tickets_a_minute=MANY * 2), clock=clock, store=store
    )
    with shield.run("bot", "t") as run:
        for amount in range(count):
            run.check("pay", {"amount": amount})
    return shield, store


def did(shield: Shield, store: Counting, does: Callable[[Shield], object]) -> Counter[str]:
    """What something asks of the store."""
    store.did.clear()
    does(shield)
    return store.did.copy()


def test_what_is_done_with_one_ticket_does_not_depend_on_how_many_wait() -> None:
    few, many = crowded(FEW), crowded(MANY)
    first = {shield: shield.tickets()[0].id for shield, _ in (few, many)}
    steps: dict[str, Callable[[Shield], object]] = {
        "list": lambda shield: shield.tickets(),
        "count": lambda shield: shield.ticketing().count(),
        "show": lambda shield: shield.ticket(first[shield]),
        "approve": lambda shield: shield.approve(first[shield], by="ann"),
        "grants": lambda shield: shield.grants(),
        "deny": lambda shield: shield.deny(first[shield], by="ann", comment="no"),
        "ask": lambda shield: asks(shield, Paid(), MANY + 1),
        "ask again": lambda shield: asks(shield, Paid(), MANY + 1),
    }
    for name, step in steps.items():
        assert did(*few, step) == did(*many, step), name
    assert did(*many, steps["list"])["reads"] <= 3 * ON_A_PAGE


def test_a_run_and_a_minute_have_limits() -> None:
    clock = FakeClock()
    shield, paid = shield_for(policy(tickets_for_a_run=3, tickets_a_minute=2), clock=clock), Paid()
    with shield.run("bot", "t") as run:

        def ask(amount: int) -> bool:
            with pytest.raises(Refused) as refused:
                run.call(paid.pay, amount=amount)
            return bool(refused.value.ticket)

        assert [ask(1), ask(2), ask(2), ask(3)] == [True, True, True, False]
        clock.advance(60_000)
        assert [ask(3), ask(4)] == [True, False]
        clock.advance(60_000)
        assert [ask(4), ask(1)] == [False, True]
    assert len(shield.tickets()) == 3


@pytest.mark.parametrize("applied", [False, True])
def test_a_crash_between_steps_leaves_tickets_and_their_list_as_one(applied: bool) -> None:
    for number in itertools.count(1):
        clock = FakeClock()
        inner = MemoryStore(clock)
        store = LostStore(inner, applied=applied)
        shield, paid = shield_for(policy(), clock=clock, store=store), Paid()
        asks(shield, paid, 1)
        begun = len(store.batches)
        store.on = {begun + number}
        with suppress(StoreLost, TicketError):
            asks(shield, paid, 2)
            for one in shield.tickets():
                shield.approve(one.id, by="ann", scope="run")
        fresh = shield_for(policy(), clock=clock, store=inner)
        kept = {
            state: sorted(one.id for one in all_in(inner) if one.state == state)
            for state in ("open", "approved")
        }
        assert sorted(one.id for one in fresh.tickets()) == kept["open"], (
            "what holds for a run is a grant"
        )
        assert sorted(grant.ticket for _, grant in fresh.grants()) == kept["approved"]
        if len(store.batches) < begun + number:
            return
