"""Whatever breaks, and wherever in an agent's life, it reads nothing that it could help itself with."""

from collections.abc import Collection

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stanchion.testing import FakeClock
from tests.told.agent import Agent, BreakingJournal, BreakingStore
from tests.told.life import CODES, Names, World, kept_from, live
from tests.told.shapes import shapes_in


def lived(
    names: Names, lost: Collection[int] = (), applied: bool = False, unwritten: Collection[int] = ()
) -> tuple[Agent, World]:
    """An agent that has lived, and its world."""
    clock = FakeClock()
    world = World(BreakingStore(clock, lost, applied), BreakingJournal(unwritten), clock)
    return live(world, names), world


def told(agent: Agent, names: Names) -> list[str]:
    """What the agent should not have read, each with the text."""
    kept = kept_from(agent, names)
    return [f"{what} in {text[:300]!r}" for text in agent.read for what in shapes_in(text, names=kept)]


def test_a_whole_life_tells_nothing() -> None:
    agent, _ = lived(Names())
    assert told(agent, Names()) == []
    assert len(set(agent.tickets)) >= 4, "people were asked"
    assert {"approval.denied", "approval.expired", "ledger.outcome_unknown", "kernel.halted"} <= agent.codes


@pytest.mark.parametrize("applied", [False, True])
def test_a_store_that_is_lost_at_any_step_tells_nothing(applied: bool) -> None:
    _, whole = lived(Names())
    for number in range(1, whole.store.count + 1):
        agent, _ = lived(Names(), (number,), applied)
        assert told(agent, Names()) == [], f"batch {number} was lost"


def test_a_store_that_stays_lost_tells_nothing() -> None:
    _, whole = lived(Names())
    for number in range(1, whole.store.count + 1, 7):
        agent, _ = lived(Names(), range(number, 100_000))
        assert told(agent, Names()) == [], f"the store was lost from batch {number} on"
        assert "kernel.store_lost" in agent.codes


def test_a_trail_that_cannot_be_written_at_any_step_tells_nothing() -> None:
    _, whole = lived(Names())
    for number in range(1, whole.journal.count + 1):
        agent, _ = lived(Names(), unwritten=(number,))
        assert told(agent, Names()) == [], f"record {number} was not written"
    agent, _ = lived(Names(), unwritten=range(1, 100_000))
    assert "kernel.audit_lost" in agent.codes
    assert told(agent, Names()) == []


NAME = st.text("abcdefghijklmnopqrstuvwxyzäßЖ0123456789:.-_/` {}", min_size=8, max_size=20)


@settings(max_examples=25, deadline=None)
@given(agent=NAME, tenant=NAME, task=NAME, run=NAME, lost=st.integers(1, 200))
def test_names_of_any_kind_change_nothing(agent: str, tenant: str, task: str, run: str, lost: int) -> None:
    names = Names(f"agent-{agent}", f"tenant+{tenant}", f"task {task}", f"run+{run}")
    one, _ = lived(names, (lost,))
    assert told(one, names) == []


def test_what_its_life_provokes_is_what_it_says() -> None:
    agent, _ = lived(Names())
    broken = lived(Names(), range(40, 100_000))[0].codes | lived(Names(), unwritten=range(1, 9))[0].codes
    elsewhere = {"approval.waiting", "approval.used", "kernel.taken", "kernel.store_forgot"}
    assert CODES - agent.codes - broken == elsewhere - agent.codes - broken
