"""Equal requests that come at once are one ticket, and none is lost from the list, on every
store."""

from __future__ import annotations

import threading

from stanchion.approvals.shelf import all_in
from stanchion.stores.protocol import Store
from stanchion.testing import shield_for
from tests.approvals.asking import Paid, policy
from tests.approvals.test_races import place, server, store
from tests.approvals.test_taken_back import asks

__all__ = ["place", "server", "store"]

AGENTS = 4
AMOUNTS = 6


def test_agents_in_parallel_share_tickets_and_lose_none(store: Store) -> None:
    gate = threading.Barrier(AGENTS)
    found: list[set[str]] = []

    def agent(number: int) -> None:
        shield, paid = shield_for(policy(), store=store), Paid()
        gate.wait()
        asked: set[str] = set()
        while len(asked) < AMOUNTS:
            asked |= {
                ticket
                for amount in range(AMOUNTS)
                if (ticket := asks(shield, paid, amount, f"bot-{number}")) != "None"
            }
        found.append(asked)
        assert paid.amounts == []

    threads = [threading.Thread(target=agent, args=(number,)) for number in range(AGENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == AGENTS
    assert len(set.union(*found)) == AMOUNTS
    kept = list(all_in(store))
    assert sorted(ticket.id for ticket in kept) == sorted(found[0])
    assert {ticket.generation for ticket in kept} == {1}
    assert {frozenset(ticket.askers) for ticket in kept} == {
        frozenset(f"bot-{number}" for number in range(AGENTS))
    }
    listed = [one.id for one in shield_for(policy(), store=store).tickets()]
    assert sorted(listed) == sorted(found[0])
