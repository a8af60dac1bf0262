"""What an action rests on beside guards: records at stake, a person's yes, and guards that watch
what was counted."""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec
import pytest

from stanchion.kernel.actions import Action, Category
from stanchion.kernel.autonomy import Share
from stanchion.kernel.chain import Plans
from stanchion.kernel.decision import Decision
from stanchion.kernel.engine import decide
from stanchion.kernel.events import Failure, Moment, RunInfo, ToolCall
from stanchion.kernel.findings import Finding
from stanchion.kernel.guard import Kind, Placed, Ruling
from stanchion.kernel.lineup import Lineups
from stanchion.kernel.replay import replay
from stanchion.kernel.stages import Stage
from stanchion.kernel.state import Batch, Line, Records, Stake, When
from stanchion.readings import Reading, read
from stanchion.stores.memory import MemoryStore
from stanchion.testing import FakeClock

RUN = RunInfo("r", "a")
KEY = "{default}stake:x"


class Says(msgspec.Struct, frozen=True):
    """Always says the same."""

    action: Action
    kind: ClassVar[Kind] = Kind.PURE

    def judge(self, _reading: Any, /) -> Finding:
        """Say it."""
        return Finding(self.action, "test.said")


class Counts(msgspec.Struct, frozen=True):
    """Counts failures by whose fault they are, and tells what it saw."""

    kind: ClassVar[Kind] = Kind.METER

    def lines(self, event: Any, /) -> tuple[Line, ...]:
        """One line for each kind of fault."""
        return (Line("{default}faults:" + getattr(event, "fault", ""), when=When.JUDGED),)

    def word(
        self, event: Any, action: Action, values: tuple[int, ...], said: tuple[int, ...], /
    ) -> Finding:
        """Nothing to say."""
        return Finding(action, "test.counted")

    def watch(self, event: Any, values: tuple[int, ...], /) -> Finding | None:
        """Tell from the second on."""
        return Finding(Action.BLOCK, "test.watched", values) if values[0] else None


class Notes(msgspec.Struct, frozen=True):
    """Keeps how often a stage was seen, written at calls only when they start and at results in any
    case."""

    refuse: bool = False
    kind: ClassVar[Kind] = Kind.RECORD
    writes: ClassVar[Any] = {Stage.TOOL_CALL: When.PROCEED, Stage.ERROR: When.JUDGED}

    def key(self, event: Any, /) -> str:
        """One record for all."""
        return "{default}notes"

    def judge(self, _reading: Any, value: Any, now: int, /) -> Ruling:
        """One more."""
        return Ruling(Finding(Action.BLOCK, "test.no") if self.refuse else None, (value or 0) + 1)


class Chain:
    """A policy of some guards, the same at every stage."""

    hash = "p"
    shadow = False
    warnings = 3
    count_marks = False

    def __init__(self, *guards: Any) -> None:
        self.lineups = Lineups()
        self._placed = tuple(
            Placed(f"g{at}", guard, at, Category.SAFETY) for at, guard in enumerate(guards)
        )

    def guards(self, stage: Stage, tool: str, run: RunInfo, mode: str) -> tuple[Placed, ...]:
        return self._placed

    def shares(self, run: RunInfo) -> tuple[Share, ...]:
        return ()

    def read(self, event: Any, /) -> Reading[Any]:
        """What an event says."""
        return read(event)


class World:
    """A store, and decisions about moments of one run."""

    def __init__(self, *guards: Any) -> None:
        self.policy = Chain(*guards)
        self.clock = FakeClock()
        self.store = MemoryStore(self.clock)
        self.records: Records = {}
        self.trips = 0

    def decide(self, moment: Moment) -> Decision:
        """Drive a decision to its end, and make it again from what it was made from."""
        deciding = decide(Plans(self.policy, RUN), moment, self.records)
        made = self._drive(deciding)
        assert msgspec.json.encode(
            replay(self.policy, RUN, moment, made.inputs)
        ) == msgspec.json.encode(made)
        return made

    def _drive(self, deciding: Any) -> Decision:
        try:
            need = deciding.send(None)
            while True:
                self.trips += 1
                need = deciding.send(self.store.carry(need))
        except StopIteration as stop:
            made: Decision = stop.value
            return made


def call(
    name: str, stakes: tuple[Stake, ...] = (), granted: str = "", lifts: tuple[str, ...] = ()
) -> Moment:
    return Moment(
        (ToolCall(id=name, at=1, run=RUN, tool="pay"),), stakes=stakes, granted=granted, lifts=lifts
    )


def failure(name: str, fault: str) -> Moment:
    return Moment((Failure(id=name, at=1, run=RUN, tool="pay", error="E", fault=fault),))


def test_a_stake_is_taken_by_the_first_and_refused_to_the_second() -> None:
    world = World()
    first = world.decide(call("c1", (Stake(KEY, 0, {"by": "c1"}),)))
    assert first.action == Action.ALLOW
    assert world.store.read(KEY) == (1, {"by": "c1"})
    world.records.clear()
    trips = world.trips
    second = world.decide(call("c2", (Stake(KEY, 0, {"by": "c2"}),)))
    assert (second.action, second.code) == (Action.BLOCK, "kernel.taken")
    assert world.trips == trips + 1, "it is not judged again"
    assert world.store.read(KEY) == (1, {"by": "c1"})
    assert world.records[KEY] == (1, {"by": "c1"}), "who asks sees what has become of it"


def test_a_stake_is_good_until_its_time_by_the_clock_of_the_store() -> None:
    world = World()
    end = world.store.carry(Batch("now")).now + 1_000
    world.clock.advance(999)
    assert world.decide(call("c1", (Stake(KEY, 0, 1, until=end),))).action == Action.ALLOW
    world.clock.advance(1)
    late = world.decide(call("c2", (Stake(KEY, 1, 2, until=end),)))
    assert (late.action, late.code) == (Action.BLOCK, "kernel.taken")
    assert world.store.read(KEY) == (1, 1)


@pytest.mark.parametrize("action", [Action.BLOCK, Action.ESCALATE, Action.QUEUE, Action.DEGRADE])
def test_what_does_not_start_takes_no_stake(action: Action) -> None:
    world = World(Says(action))
    assert world.decide(call("c1", (Stake(KEY, 0, 1),))).action == action
    assert world.store.read(KEY) == (0, None)
    assert KEY not in world.records


def test_what_is_staked_in_any_case_is_written_whatever_is_decided() -> None:
    world = World(Says(Action.BLOCK))
    assert world.decide(call("c1", (Stake(KEY, 0, 1, When.JUDGED),))).action == Action.BLOCK
    assert world.store.read(KEY) == (1, 1)
    assert world.records[KEY] == (1, 1)


def test_something_else_that_moved_is_judged_again() -> None:
    world = World(Notes())
    world.decide(call("c0"))
    world.records.clear()
    assert world.decide(call("c1", (Stake(KEY, 0, 1),))).action == Action.ALLOW
    assert world.store.read(KEY) == (1, 1)
    assert world.store.read("{default}notes") == (2, 2)


def test_a_person_s_yes_lets_what_waits_go_ahead_and_nothing_severer() -> None:
    assert World(Says(Action.ESCALATE)).decide(call("c1")).action == Action.ESCALATE
    granted = World(Says(Action.ESCALATE)).decide(call("c1", granted="t1", lifts=("g0",)))
    assert granted.action == Action.ALLOW
    assert [(f.action, f.said) for f in granted.findings] == [(Action.ALLOW, Action.ESCALATE)]
    assert (
        World(Says(Action.BLOCK)).decide(call("c1", granted="t1", lifts=("g0",))).action
        == Action.BLOCK
    )
    two = World(Says(Action.ESCALATE), Says(Action.ESCALATE))
    other = two.decide(call("c1", granted="t1", lifts=("g0",)))
    assert (other.action, [(f.guard, f.action) for f in other.findings]) == (
        Action.ESCALATE,
        [("g0", Action.ALLOW), ("g1", Action.ESCALATE)],
    )
    assert two.decide(call("c2", granted="t1", lifts=("g0", "g1"))).action == Action.ALLOW
    blocked = World(Says(Action.ESCALATE), Says(Action.BLOCK)).decide(
        call("c1", granted="t1", lifts=("g0",))
    )
    assert blocked.action == Action.BLOCK


def test_a_record_is_written_as_its_stage_says() -> None:
    world = World(Notes(refuse=True))
    world.decide(call("c1"))
    assert world.store.read("{default}notes") == (0, None)
    world.decide(failure("e1", "system"))
    assert world.store.read("{default}notes") == (1, 1)


def test_failures_are_counted_by_fault_and_watched() -> None:
    world = World(Counts())
    assert world.decide(failure("e1", "system")).findings == ()
    assert world.decide(failure("e2", "user")).findings == (), "another counter"
    third = world.decide(failure("e3", "system"))
    assert third.action == Action.ALLOW, "what a watcher says never refuses: it has happened"
    assert [(f.guard, f.code, f.args) for f in third.findings] == [("g0", "test.watched", (1,))]


def test_an_action_can_rest_on_a_record_that_stays_as_it_is() -> None:
    world = World()
    assert world.decide(call("c1", (Stake(KEY, 0, "written"),))).action == Action.ALLOW
    looks = Stake(KEY, 1, None, When.LOOK)
    assert [world.decide(call(name, (looks,))).action for name in ("c2", "c3")] == [
        Action.ALLOW,
        Action.ALLOW,
    ]
    assert world.store.read(KEY) == (1, "written")
    world.store.carry(Batch("other", puts=((KEY, "changed", When.JUDGED, 0, 0),)))
    assert world.decide(call("c4", (looks,))).code == "kernel.taken"
    late = Stake(KEY, 2, None, When.LOOK, until=world.clock())
    assert world.decide(call("c5", (late,))).code == "kernel.taken"


class Breaks(msgspec.Struct, frozen=True):
    """Cannot judge."""

    kind: ClassVar[Kind] = Kind.PURE

    def judge(self, _reading: Any, /) -> Finding:
        """Break."""
        raise ValueError("broken")


class Limits(msgspec.Struct, frozen=True):
    """Refuses the second call."""

    kind: ClassVar[Kind] = Kind.METER

    def lines(self, _event: Any, /) -> tuple[Line, ...]:
        """One line, with a limit of one."""
        return (Line("{default}calls", ((1, Action.BLOCK),), when=When.PROCEED),)

    def word(
        self, event: Any, action: Action, values: tuple[int, ...], said: tuple[int, ...], /
    ) -> Finding:
        """Say so."""
        return Finding(action, "test.limit")


def past(name: str, *bypasses: str) -> Moment:
    return Moment((ToolCall(id=name, at=1, run=RUN, tool="pay"),), granted="t1", bypasses=bypasses)


@pytest.mark.parametrize(
    ("said", "carried_out"),
    [
        (Action.WARN, Action.WARN),
        (Action.ESCALATE, Action.ALLOW),
        (Action.BLOCK, Action.ALLOW),
        (Action.QUARANTINE, Action.QUARANTINE),
        (Action.HALT, Action.HALT),
    ],
)
def test_an_action_goes_past_what_a_guard_refuses_and_past_nothing_severer(
    said: Action, carried_out: Action
) -> None:
    made = World(Says(said)).decide(past("c1", "g0"))
    assert (made.action, [one.guard for one in made.findings]) == (carried_out, ["g0"])


def test_the_guards_behind_the_one_that_is_gone_past_judge() -> None:
    two = World(Says(Action.BLOCK), Says(Action.BLOCK))
    assert [one.guard for one in two.decide(call("c1")).findings] == ["g0"], (
        "the first one skips the second"
    )
    made = two.decide(past("c2", "g0"))
    assert [(one.guard, one.action) for one in made.findings] == [
        ("g0", Action.ALLOW),
        ("g1", Action.BLOCK),
    ]
    assert two.decide(past("c3", "g1")).action == Action.BLOCK, (
        "a bypass of one guard is none of another"
    )
    assert two.decide(past("c4", "g0", "g1")).action == Action.ALLOW


def test_the_parts_of_a_guard_are_gone_past_with_it() -> None:
    world = World(Says(Action.BLOCK), Says(Action.BLOCK))
    one, two = world.policy._placed
    world.policy._placed = (one, msgspec.structs.replace(two, part_of="g0"))
    assert world.decide(past("c1", "g0")).action == Action.ALLOW
    assert world.decide(past("c2", "g1")).action == Action.BLOCK, "a part alone is no guardrail"


def test_a_guard_that_breaks_refuses_although_it_may_be_gone_past() -> None:
    made = World(Breaks()).decide(past("c1", "g0"))
    assert (made.action, made.code) == (Action.BLOCK, "kernel.guard_error")


def test_a_counter_that_is_gone_past_counts_on() -> None:
    world = World(Limits())
    assert world.decide(call("c1")).action == Action.ALLOW
    assert world.decide(call("c2")).action == Action.BLOCK
    assert world.decide(past("c3", "g0")).action == Action.ALLOW
    assert world.store.read("{default}calls")[0] == 2
    assert world.decide(call("c4")).action == Action.BLOCK, "the next one is refused again"
