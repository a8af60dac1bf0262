"""Sequences: held equal to plain code over the whole history, and bounded whatever the history
is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import msgspec
from hypothesis import given, strategies as st

from stanchion.kernel.events import Event, Failure, RunInfo, ToolCall, ToolResult
from stanchion.policy.sequences import Sequence, Step
from stanchion.readings import read
from tests.properties.examples import sample

RUN = RunInfo("r1", agent="a", task="t")
TOOLS = ("x", "y", "z")


@dataclass
class Model:
    """What a sequence says, by looking through everything that has happened."""

    guard: Sequence
    happened: list[tuple[str, str, int]] = field(default_factory=list)
    """Kind, tool and time."""

    def fits(self, step: Step, usual: str, one: tuple[str, str, int]) -> bool:
        kind, tool = one[:2]
        outcome = step.outcome if step.outcome is not None else usual
        return tool in step.tools and (
            kind == outcome or (outcome == "any" and kind in ("success", "failure"))
        )

    def recent(self, one: tuple[str, str, int], now: int) -> bool:
        return self.guard.within_s is None or now - one[2] <= self.guard.within_s * 1_000

    def refuses(self, tool: str, now: int) -> bool:
        guard = self.guard
        if tool not in guard.judged.tools:
            return False
        if guard.after is not None:
            return any(
                self.fits(guard.after, "started", one) and self.recent(one, now)
                for one in self.happened
            )
        if guard.need is not None:
            return not any(
                self.fits(guard.need, "success", one) and self.recent(one, now)
                for one in self.happened
            )
        assert guard.count is not None
        assert guard.at_most is not None
        counted = [
            one
            for one in self.happened
            if self.fits(guard.count, "started", one) and self.recent(one, now)
        ]
        return len(counted) >= guard.at_most

    def add(self, kind: str, tool: str, now: int) -> None:
        self.happened.append((kind, tool, now))


def step(**fields: Any) -> st.SearchStrategy[Step]:
    tools = st.lists(st.sampled_from(TOOLS), min_size=1, max_size=2, unique=True).map(tuple)
    return st.builds(Step, tool=tools, **fields)


outcomes = st.sampled_from([None, "started", "success", "failure", "any"])
within = st.none() | st.integers(1, 5).map(float)
guards = st.one_of(
    st.builds(Sequence, within_s=within, after=step(outcome=outcomes), refuse=step()),
    st.builds(Sequence, within_s=within, before=step(), need=step(outcome=outcomes)),
    st.builds(Sequence, within_s=within, count=step(outcome=outcomes), at_most=st.integers(0, 3)),
)
happenings = st.lists(
    st.tuples(
        st.sampled_from(["call", "call", "success", "failure"]),
        st.sampled_from(TOOLS),
        st.integers(0, 2_000),
    ),
    max_size=25,
)


class Kept:
    """A record as a store keeps it."""

    def __init__(self, guard: Sequence) -> None:
        self.guard = guard
        self.value: Any = None

    def judge(self, event: Event, now: int) -> bool:
        """Whether the guard lets it go ahead; what it wants kept is kept as the store would keep
        it."""
        if event.stage not in self.guard.default_stages:
            return True
        ruling = self.guard.judge(read(event), self.value, now)
        if ruling is None:
            return True
        assert ruling.since <= now < ruling.until
        if ruling.put is not None:
            self.value = msgspec.json.decode(msgspec.json.encode(ruling.put))
        return ruling.finding is None


@sample(75)
@given(guards, happenings)
def test_a_sequence_says_what_a_look_through_the_history_says(
    guard: Sequence, history: list[tuple[str, str, int]]
) -> None:
    model, kept, now = Model(guard), Kept(guard), 1_000
    for at, (kind, tool, later) in enumerate(history):
        now += later
        here: dict[str, Any] = {"id": f"e{at}", "at": 0, "run": RUN, "tool": tool, "args": {}}
        if kind == "call":
            goes = kept.judge(ToolCall(**here), now)
            assert goes is not model.refuses(tool, now)
            if goes:
                model.add("started", tool, now)
        elif kind == "success":
            assert kept.judge(ToolResult(**here, result="fine"), now)
            model.add("success", tool, now)
        else:
            assert kept.judge(Failure(**here, error="OSError"), now)
            model.add("failure", tool, now)


def test_what_is_kept_does_not_grow_with_the_run() -> None:
    guards_ = [
        Sequence(after=Step(tool="x"), refuse=Step(tool="y")),
        Sequence(count=Step(tool="x"), at_most=3, within_s=60, action="warn"),
    ]
    for guard in guards_:
        kept = Kept(guard)
        for at in range(500):
            here: dict[str, Any] = {
                "id": f"e{at}",
                "at": 0,
                "run": RUN,
                "tool": "x",
                "args": {"v": str(at)},
            }
            kept.judge(ToolCall(**here), 1_000)
            kept.judge(ToolResult(**here, result={"v": str(at)}), 1_000)
        assert len(msgspec.json.encode(kept.value)) < 400


def test_tools_that_no_step_names_are_none_of_its_concern() -> None:
    assert Sequence(after=Step(tool="x"), refuse=Step(tool=("y", "z*"))).concerns == (
        "x",
        "y",
        "z*",
    )
    assert Sequence(after=Step(tool="x"), refuse=Step()).concerns is None
