"""What the runtime carries along with a decision: it rides on the decision's batch, and a record
needs none of it."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Any, ClassVar

import msgspec

from stanchion.kernel.actions import Action
from stanchion.kernel.chain import Plans
from stanchion.kernel.decision import Decision
from stanchion.kernel.engine import decide
from stanchion.kernel.events import Moment, ToolCall
from stanchion.kernel.findings import Finding
from stanchion.kernel.guard import Kind
from stanchion.kernel.lookups import Answered, Ask, Lookup
from stanchion.kernel.replay import replay
from stanchion.kernel.state import Batch, Expect, Put, Records, Reply, When
from stanchion.stores.memory import MemoryStore
from stanchion.testing import FakeClock
from tests.kernel.test_stakes import RUN, Chain, Says

NAME = "{default}carried"


class Remembers(msgspec.Struct, frozen=True):
    """Refuses what the memory has something against."""

    kind: ClassVar[Kind] = Kind.ASKING
    deep: ClassVar[bool] = False
    recalls: ClassVar[bool] = True

    def ask(self, reading: Any, /) -> Lookup:
        """Ask for the last thing that is known."""
        return Lookup("", reading.event.tool, 0)

    def judge(self, _reading: Any, value: Any, /) -> Finding | None:
        """Refuse by that."""
        return None if value is None else Finding(Action.BLOCK, "test.remembered", (value,))


class Memo:
    """Carries one text, which the memory answers with."""

    def __init__(self, writes: str) -> None:
        self.version, self.text = 0, None
        self.writes = writes
        self.told: list[tuple[Finding, ...]] = []
        self.done = 0

    def expects(self) -> list[Expect]:
        """The text as it is known."""
        return [(NAME, self.version, self.version + 1)]

    def puts(self, findings: tuple[Finding, ...], /) -> tuple[Put, ...]:
        """Another text, if it goes ahead."""
        self.told.append(findings)
        return ((NAME, self.writes, When.PROCEED, 0, 0),)

    def moved(self, reply: Reply, /) -> AbstractSet[str]:
        """Know the text as it is."""
        own = [fresh for fresh in reply.fresh if fresh.key == NAME]
        for fresh in own:
            self.version, self.text = fresh.number, fresh.value
        return {fresh.key for fresh in own}

    def kept(self, reply: Reply, /) -> None:
        """It is carried out."""
        self.done += 1


class World:
    """A store, and a driver that counts trips and asks the memo."""

    def __init__(self, *guards: Any) -> None:
        self.policy = Chain(*guards)
        self.store = MemoryStore(FakeClock())
        self.records: Records = {}
        self.plans = Plans(self.policy, RUN)
        self.trips = 0

    def decide(self, name: str, memo: Memo | None) -> Decision:
        """Drive a decision to its end, and make it again from its inputs alone."""
        moment = Moment((ToolCall(id=name, at=1, run=RUN, tool="pay"),), carried=memo)
        deciding = decide(self.plans, moment, self.records)
        made = self._drive(deciding, memo)
        plain = msgspec.structs.replace(moment, carried=None)
        assert msgspec.json.encode(
            replay(self.policy, RUN, plain, made.inputs)
        ) == msgspec.json.encode(made)
        return made

    def _drive(self, deciding: Any, memo: Memo | None) -> Decision:
        try:
            need = deciding.send(None)
            while True:
                if isinstance(need, Ask):
                    need = deciding.send((Answered(None if memo is None else memo.text),))
                else:
                    assert isinstance(need, Batch)
                    self.trips += 1
                    need = deciding.send(self.store.carry(need))
        except StopIteration as stop:
            made: Decision = stop.value
            return made


def test_it_is_written_with_the_decision_and_is_none_of_its_records() -> None:
    world, memo = World(Remembers()), Memo("one")
    made = world.decide("a", memo)
    assert (made.proceeds, made.wrote, memo.done) == (True, (), 1)
    assert NAME not in [name for name, _, _ in made.inputs.records]
    assert world.store.read(NAME) == (1, "one")
    assert NAME not in world.records


def test_what_others_wrote_is_asked_for_again_within_the_decision() -> None:
    world = World(Remembers())
    assert world.decide("a", Memo("one")).proceeds
    late = Memo("two")
    made = world.decide("b", late)
    assert (made.code, made.findings[0].args, made.inputs.stale) == ("test.remembered", ("one",), 1)
    assert world.store.read(NAME) == (1, "one"), "what is refused writes nothing"
    assert NAME not in world.records, "the cache of records is not for what is carried"
    assert late.done == 1


def test_a_chain_that_needs_no_store_makes_the_trip_for_it() -> None:
    world = World(Says(Action.ALLOW))
    world.decide("a", None)
    before = world.trips
    world.decide("b", None)
    assert world.trips == before
    memo = Memo("one")
    world.decide("c", memo)
    assert world.trips == before + 1
    assert [[finding.code for finding in said] for said in memo.told] == [["test.said"]]
