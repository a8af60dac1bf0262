"""Whatever breaks, and wherever in an agent's life, it reads nothing that it could help itself
with."""

from collections.abc import Collection

import pytest
from hypothesis import given, settings, strategies as st

from stanchion.testing import FakeClock
from tests.runtime.told.agent import Agent, BreakingJournal, BreakingStore
from tests.runtime.told.life import CHAPTERS, CODES, Names, World, kept_from, live
from tests.runtime.told.shapes import shapes_in
from tests.sampling import some

NAMES = Names()
EACH = pytest.mark.parametrize("chapter", CHAPTERS)
NAME = st.text("abcdefghijklmnopqrstuvwxyzäßЖ0123456789:.-_/` {}", min_size=8, max_size=20)


def lived(
    chapter: str,
    lost: Collection[int] = (),
    applied: bool = False,
    unwritten: Collection[int] = (),
    names: Names = NAMES,
) -> tuple[Agent, World]:
    """An agent that has lived a chapter, and its world."""
    clock = FakeClock()
    world = World(BreakingStore(clock, lost, applied), BreakingJournal(unwritten), clock)
    return live(world, names, chapter), world


def told(agent: Agent, names: Names = NAMES) -> list[str]:
    """What the agent should not have read, each with the text."""
    kept = kept_from(agent, names)
    return [
        f"{what} in {text[:300]!r}" for text in agent.read for what in shapes_in(text, names=kept)
    ]


@EACH
def test_a_life_tells_nothing(chapter: str) -> None:
    agent, _ = lived(chapter)
    assert agent.read
    assert told(agent) == []


@EACH
@pytest.mark.parametrize("applied", [False, True])
def test_a_store_that_is_lost_at_any_step_tells_nothing(chapter: str, applied: bool) -> None:
    _, whole = lived(chapter)
    for number in some(range(1, whole.store.count + 1), 8, f"{chapter} {applied}"):
        agent, _ = lived(chapter, (number,), applied)
        assert told(agent) == [], f"batch {number} was lost"


@EACH
def test_a_store_that_stays_lost_tells_nothing(chapter: str) -> None:
    _, whole = lived(chapter)
    for number in some(range(1, whole.store.count + 1), 20, chapter):
        agent, _ = lived(chapter, range(number, 100_000))
        assert told(agent) == [], f"the store was lost from batch {number} on"


@EACH
def test_a_trail_that_cannot_be_written_at_any_step_tells_nothing(chapter: str) -> None:
    _, whole = lived(chapter)
    for number in some(range(1, whole.journal.count + 1), 8, chapter):
        agent, _ = lived(chapter, unwritten=(number,))
        assert told(agent) == [], f"record {number} was not written"
    agent, _ = lived(chapter, unwritten=range(1, 100_000))
    assert told(agent) == []
    assert "kernel.audit_lost" in agent.codes


@settings(max_examples=40, deadline=None)
@given(
    chapter=st.sampled_from(list(CHAPTERS)),
    agent=NAME,
    tenant=NAME,
    task=NAME,
    run=NAME,
    lost=st.integers(1, 40),
)
def test_names_of_any_kind_change_nothing(
    chapter: str, agent: str, tenant: str, task: str, run: str, lost: int
) -> None:
    names = Names(f"agent-{agent}", f"tenant+{tenant}", f"task {task}", f"run+{run}")
    one, _ = lived(chapter, (lost,), names=names)
    assert told(one, names) == []


def test_its_life_provokes_what_it_claims() -> None:
    lives = [lived(chapter)[0] for chapter in CHAPTERS]
    lives += [lived("asks", range(9, 100_000))[0], lived("asks", unwritten=range(1, 9))[0]]
    codes = {code for agent in lives for code in agent.codes}
    assert CODES - codes == set()
