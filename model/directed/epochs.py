"""A store that lost what it held: everything but reads stops, until an operator says to go on."""

from __future__ import annotations

import copy
from collections.abc import Generator
from typing import Any

import msgspec

from model.directed.scene import Scene, same
from stanchion.kernel.actions import Action, Risk
from stanchion.kernel.epoch import MARKS, Epoch
from stanchion.kernel.epoch_change import begin, learn, mark
from stanchion.kernel.gates import standing_key
from stanchion.kernel.state import EPOCH, Batch, Reply
from stanchion.stores.memory import MemoryStore

SHIELD = standing_key("default")


class Known(Scene):
    """A scene whose process knows the store's epoch, and asks the store every time."""

    def __init__(self, drawn: int = 7) -> None:
        super().__init__(max_age_ms=-1)
        self.do(learn(self.records, "learn", drawn))

    def do(self, flow: Generator[Batch, Reply, Any]) -> Any:
        """Carry out what a flow asks for."""
        try:
            need = next(flow)
            while True:
                need = flow.send(self.store.carry(need))
        except StopIteration as done:
            return done.value

    def wipe(self) -> None:
        """Leave a store that knows nothing."""
        self.store = MemoryStore(self.clock)

    def copied(self) -> MemoryStore:
        """The store as it is now, for later."""
        taken = MemoryStore(self.clock)
        taken._state = copy.deepcopy(self.store._state)
        taken._state.bound.clear()
        return taken

    def code(self, risk: Risk = Risk.MEDIUM, traits: tuple[str, ...] = ()) -> tuple[Action, str]:
        """What becomes of a call of a tool with those traits."""
        decision = self.judge(msgspec.structs.replace(self.call(risk=risk), traits=traits))
        return decision.action, decision.code


REFUSED = (Action.BLOCK, "kernel.store_forgot")


def case_a_new_store_gets_an_epoch_and_goes_on() -> None:
    """Nobody has to say anything, and whoever comes next learns it."""
    scene = Known()
    same((scene.code(), scene.store.read(EPOCH)[0]), ((Action.ALLOW, ""), 7 * MARKS + 1))
    scene.records.clear()
    scene.do(learn(scene.records, "again", 9))
    same((scene.records[EPOCH][0], scene.code()), (7 * MARKS + 1, (Action.ALLOW, "")))


def case_a_wiped_store_stops_everything_but_reads() -> None:
    """Reads of tools that only read, below high risk."""
    scene = Known()
    scene.wipe()
    same(scene.code(), REFUSED)
    same(scene.code(traits=("read",)), (Action.ALLOW, "kernel.store_forgot"))
    same(scene.code(Risk.HIGH, ("read",)), REFUSED)
    same(scene.code(traits=("irreversible",)), REFUSED)
    same(scene.code(), REFUSED)


def case_a_known_halt_outlives_the_store() -> None:
    """Even reads stay halted."""
    scene = Known()
    scene.put(SHIELD, {"own": {"state": "halt", "why": "drill"}})
    same(scene.code(), (Action.HALT, "kernel.halted"))
    scene.wipe()
    same(scene.code(traits=("read",)), (Action.HALT, "kernel.halted"))


def case_an_epoch_that_somebody_else_made_is_another() -> None:
    """A new process cannot know; one that knew the store before can."""
    scene = Known()
    scene.wipe()
    scene.clock.advance(1)
    scene.do(learn({}, "newcomer", 9))
    same(scene.code(), REFUSED)


def case_an_older_copy_is_noticed_by_its_mark() -> None:
    """Also by a process that learned the mark from another one."""
    scene = Known()
    backup = scene.copied()
    other: dict[str, tuple[int, Any]] = dict(scene.records)
    same(scene.do(mark(scene.records, "mark-1")), True)
    same((scene.do(mark(other, "mark-2")), other[EPOCH][0]), (True, 7 * MARKS + 2))
    same(scene.code(), (Action.ALLOW, ""))
    scene.store = backup
    same(scene.code(), REFUSED)
    same((scene.do(mark(other, "mark-3")), other[EPOCH][0]), (False, 7 * MARKS + 2))


def case_a_state_that_goes_backwards_is_a_loss() -> None:
    """The copy is younger than the last mark, and older than the halt."""
    scene = Known()
    scene.put(SHIELD, {"marks": {"tool:b": {"state": "halt"}}})
    backup = scene.copied()
    scene.put(SHIELD, {"marks": {"tool:c": {"state": "halt"}}})
    same(scene.code(), (Action.ALLOW, ""))
    scene.store = backup
    same(scene.code(), REFUSED)


def case_an_operator_says_go_on() -> None:
    """Every process goes on with what the store has now; what it knew before counts no more."""
    scene = Known()
    scene.put(SHIELD, {"marks": {"tool:b": {"state": "halt"}}})
    same(scene.code(), (Action.ALLOW, ""))
    scene.wipe()
    same(scene.code(), REFUSED)
    scene.clock.advance(1)
    own: dict[str, tuple[int, Any]] = {}
    epoch = scene.do(begin(own, "operator", 9, Epoch(0, "accepted", "ann")))
    same((epoch.at, own[EPOCH][0]), (scene.clock(), 9 * MARKS + 1))
    same(scene.code(), (Action.ALLOW, ""))
    same(scene.judge(scene.call(tool="b")).action, Action.ALLOW)


def case_what_an_operator_said_before_counts_no_more() -> None:
    """A copy from an epoch that was accepted earlier than the one that is known."""
    scene = Known()
    scene.clock.advance(1)
    scene.do(begin(scene.records, "first", 8, Epoch(0, "accepted")))
    backup = scene.copied()
    scene.clock.advance(1)
    scene.do(begin(scene.records, "second", 9, Epoch(0, "restored")))
    same(scene.code(), (Action.ALLOW, ""))
    scene.store = backup
    same(scene.code(), REFUSED)
    scene.do(begin(scene.records, "third", 9, Epoch(0, "restored")))
    same((scene.records[EPOCH][0], scene.code()), (10 * MARKS + 1, (Action.ALLOW, "")))
