"""A session remembers the last calls of each tool that worked, and no more of them than it may."""

from __future__ import annotations

from stanchion.experience.session import MOST_CALLS, MOST_TOOLS, Session
from stanchion.experience.tally import CANDIDATES


def test_calls_that_worked_are_remembered_once_each_and_the_last_first() -> None:
    session = Session()
    for number in (1, 2, 1, 1, 3):
        session.met("pay", True, args={"n": number})
    session.met("pay", False, "no", {"n": 4})
    session.met("pay", True)
    assert session.of("pay").good == ({"n": 3}, {"n": 1}, {"n": 2})


def test_a_session_remembers_a_bounded_number_of_calls() -> None:
    session = Session()
    tools = [f"t{number}" for number in range(MOST_TOOLS + 10)]
    for tool in tools:
        for number in range(CANDIDATES + 1):
            session.met(tool, True, args={"n": number})
    kept = {tool: session.of(tool).good for tool in tools}
    assert sum(map(len, kept.values())) <= MOST_CALLS
    assert [len(kept[tool]) for tool in (tools[0], tools[10], tools[-1])] == [0, 1, CANDIDATES]
    assert kept[tools[10]] == ({"n": CANDIDATES},), "the last call of each tool stays"
