"""Sequences: held equal to plain code over the whole history, and bounded whatever the history
is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import msgspec
from hypothesis import given, strategies as st

from stanchion.kernel.events import Event, Failure, RunInfo, ToolCall, ToolResult
from stanchion.policy.sequences import Sequence, SequenceStep as Step
from stanchion.readings import read
from tests.properties.examples import sample

RUN = RunInfo("r1", agent="a", task="t")
TOOLS = ("x", "y", "z")
VALUES = ("1", "2", "3")


@dataclass
class Model:
    """What a sequence says, by looking through everything that has happened."""

    guard: Sequence
    happened: list[tuple[str, str, Any, Any, int, int]] = field(default_factory=list)
    """Kind, tool, argument, result, time and number of steps until then."""
    steps: int = 0

    def fits(self, step: Step, usual: str, one: tuple[str, str, Any, Any, int, int]) -> bool:
        kind, tool = one[:2]
        outcome = step.outcome if step.outcome is not None else usual
        return tool in step.tools and (
            kind == outcome or (outcome == "any" and kind in ("success", "failure"))
        )

    def recent(self, one: tuple[str, str, Any, Any, int, int], now: int) -> bool:
        if self.guard.within_s is not None:
            return now - one[4] <= self.guard.within_s * 1_000
        return self.guard.within_steps is None or self.steps + 1 - one[5] <= self.guard.within_steps

    def refuses(self, tool: str, value: str, now: int) -> bool:
        guard = self.guard
        if tool not in guard.judged.tools:
            return False
        if guard.after is not None:
            armed = None
            for one in self.happened:
                if guard.unless is not None and self.fits(guard.unless, "success", one):
                    armed = None
                if self.fits(guard.after, "started", one):
                    armed = one
            return armed is not None and self.recent(armed, now)
        if guard.need is not None:
            met = None
            for one in self.happened:
                if self.fits(guard.need, "success", one):
                    met = one
                if guard.since is not None and self.fits(guard.since, "started", one):
                    met = None
            return met is None or not self.recent(met, now)
        if guard.count is not None:
            counted = [
                one
                for one in self.happened
                if self.fits(guard.count, "started", one) and self.recent(one, now)
            ]
            if guard.distinct is not None:
                seen = {one[2] for one in counted}
                return value not in seen and len(seen) >= (guard.at_most or 0)
            return len(counted) >= (guard.at_most or 0)
        assert guard.seen_in is not None
        given_ = [one[3]["v"] for one in self.happened if self.fits(guard.seen_in, "success", one)]
        return value not in given_

    def add(self, kind: str, tool: str, value: str, result: Any, now: int) -> None:
        self.steps += kind == "started"
        self.happened.append((kind, tool, value, result, now, self.steps))


def step(**fields: Any) -> st.SearchStrategy[Step]:
    tools = st.lists(st.sampled_from(TOOLS), min_size=1, max_size=2, unique=True).map(tuple)
    return st.builds(Step, tool=tools, **fields)


outcomes = st.sampled_from([None, "started", "success", "failure", "any"])
within: st.SearchStrategy[dict[str, Any]] = st.one_of(
    st.just({}),
    st.integers(1, 4).map(lambda n: {"within_steps": n}),
    st.integers(1, 5).map(lambda n: {"within_s": float(n)}),
)
maybe = st.none() | step(outcome=outcomes)
guards = st.one_of(
    st.builds(
        lambda more, **given_: Sequence(**given_, **more),
        within, after=step(outcome=outcomes), refuse=step(), unless=maybe,
    ),
    st.builds(
        lambda more, **given_: Sequence(**given_, **more),
        within, before=step(), need=step(outcome=outcomes), since=maybe,
    ),
    st.builds(
        lambda more, **given_: Sequence(**given_, **more),
        within, count=step(), at_most=st.integers(0, 3),
        distinct=st.sampled_from([None, "event.args.v"]),
    ),
    st.builds(Sequence, only=step(), argument=st.just("v"), seen_in=step(), field=st.just("v")),
)  # fmt: skip
happenings = st.lists(
    st.tuples(
        st.sampled_from(["call", "call", "success", "failure"]),
        st.sampled_from(TOOLS),
        st.sampled_from(VALUES),
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
    guard: Sequence, history: list[tuple[str, str, str, int]]
) -> None:
    model, kept, now = Model(guard), Kept(guard), 1_000
    for at, (kind, tool, value, later) in enumerate(history):
        now += later
        here: dict[str, Any] = {
            "id": f"e{at}",
            "at": 0,
            "run": RUN,
            "tool": tool,
            "args": {"v": value},
        }
        if kind == "call":
            goes = kept.judge(ToolCall(**here), now)
            assert goes is not model.refuses(tool, value, now)
            if goes:
                model.add("started", tool, value, None, now)
        elif kind == "success":
            assert kept.judge(ToolResult(**here, result={"v": value}), now)
            model.add("success", tool, value, {"v": value}, now)
        else:
            assert kept.judge(Failure(**here, error="OSError"), now)
            model.add("failure", tool, value, None, now)


def test_what_is_kept_does_not_grow_with_the_run() -> None:
    guards_ = [
        Sequence(after=Step(tool="x"), refuse=Step(tool="y"), within_steps=5),
        Sequence(count=Step(tool="x"), at_most=3, distinct="event.args.v", action="warn"),
        Sequence(only=Step(tool="y"), argument="v", seen_in=Step(tool="x"), keep=16),
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
    assert Sequence(after=Step(tool="x"), refuse=Step(tool="y"), within_steps=2).concerns is None
