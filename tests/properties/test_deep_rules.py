"""Deep rules and scheduling: the same answers give the same decisions and records, whichever comes
first and wherever it is worked out; and a decision is made again from its record alone."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec
import pytest
from hypothesis import example, given, settings, strategies as st

from stanchion.kernel.replay import replay
from tests.properties.deep_story import ANSWERS, RISKS, Call, Played, Reply, Schedule, Story
from tests.properties.examples import sample

REPLIES: Final = st.builds(Reply, st.integers(0, len(ANSWERS) - 1), st.integers(0, 2))
SCRIPTS: Final = st.lists(
    st.builds(Call, st.sampled_from(RISKS), st.tuples(REPLIES, REPLIES)),
    min_size=1,
    max_size=4,
)
SCHEDULES: Final = st.builds(
    Schedule,
    ranks=st.permutations(range(8)).map(tuple),
    host=st.sampled_from(["here", "threads", "loop"]),
    awaits=st.tuples(st.booleans(), st.booleans()),
    more_threads=st.integers(0, 2),
)


class Elsewhere:
    """A process that plays stories, with an order of hashes of its own."""

    def __init__(self, seed: int) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.properties.deep_story"],
            cwd=Path(__file__).parents[2],
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._told, self._said = self._process.stdin, self._process.stdout

    def begin(self, script: list[Call], schedule: Schedule) -> None:
        """Have it play a story, without waiting for it."""
        self._told.write(msgspec.json.encode((script, schedule)) + b"\n")
        self._told.flush()

    def played(self) -> Played:
        """What the story came to."""
        return msgspec.json.decode(self._said.readline(), type=Played)

    def close(self) -> None:
        """End it, and wait for its end."""
        self._told.close()
        self._process.wait(60)
        self._said.close()


@pytest.fixture(scope="module")
def others() -> Iterator[list[Elsewhere]]:
    """Two more processes."""
    made = [Elsewhere(seed) for seed in (1, 2)]
    yield made
    for one in made:
        one.close()


TWO_LATE: Final = [
    Call("low", (Reply(4, 1), Reply(3, 1))),
    Call("medium", (Reply(5, 0), Reply(3, 0))),
]
"""Four answers arrive before one event."""


@settings(sample(25, 0.02), deadline=None)
@given(script=SCRIPTS, here=SCHEDULES, there=st.tuples(SCHEDULES, SCHEDULES))
@example(
    script=TWO_LATE,
    here=Schedule((3, 2, 1, 0)),
    there=(Schedule((2, 0, 3, 1), "loop"), Schedule((1, 3, 0, 2))),
)
def test_scheduling_changes_neither_decisions_nor_records(
    script: list[Call], here: Schedule, there: tuple[Schedule, Schedule], others: list[Elsewhere]
) -> None:
    """Played once plainly, once on another schedule, and in two more processes at the same time on
    theirs."""
    for process, schedule in zip(others, there, strict=True):
        process.begin(script, schedule)
    plain = Story(script, Schedule())
    expected = plain.played()
    found = [Story(script, here).played(), *[process.played() for process in others]]
    assert found == [expected] * 3
    for policy, info, moment, decision in plain.judged:
        assert replay(policy, info, moment, decision.inputs) == decision


def test_four_answers_before_one_event_are_all_in_its_decision() -> None:
    """The property is about something: late answers do arrive together, and change what is
    decided."""
    story = Story(TWO_LATE, Schedule())
    story.played()
    *_, last = [decision for *_, decision in story.judged]
    assert sorted(finding.guard for finding in last.findings) == ["one", "one", "two", "two"]
