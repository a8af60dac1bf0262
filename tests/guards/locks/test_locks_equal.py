"""Locks equal a small model, whatever is done in which order, by several processes on one store."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, Phase, settings, strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from stanchion import Shield
from stanchion.guards.locks.table import table_of
from stanchion.runtime.run import Run
from stanchion.testing import FakeClock
from tests.guards.locks.driven import KINDS, TABLE, Call, policy, stores
from tests.guards.locks.model import ABOVE, FILES, Model, Wants
from tests.sampling import SOAK

RUNS = st.sampled_from(sorted(ABOVE))
NAMES = st.sampled_from(sorted(FILES))
PLAIN = st.lists(st.sampled_from(["a", "b", "d/x", "d/y"]), min_size=1, max_size=2, unique=True)


MOST = 6
"""How many calls are on their way at once."""
STEPS = st.sampled_from([1, 2, 6, 6])
"""How far one goes: six steps are enough to be judged, whatever comes between."""


BESIDES = st.sampled_from(["finish", "unlock", "unlock", "hand off", "wait", "wait", "wait long"])


class Going:
    """A call on its way, and what the model has said of it last."""

    def __init__(self, name: str, run: str, wants: Wants, call: Call) -> None:
        self.name, self.run, self.wants, self.call, self.expected = name, run, wants, call, ""


class Locking(RuleBasedStateMachine):
    """Calls are begun, stepped and finished; the model is told of each batch when the store has
    carried it out."""

    kind: ClassVar[str] = "memory"

    @initialize()
    def open(self) -> None:
        self.exits = ExitStack()
        folder = self.exits.enter_context(tempfile.TemporaryDirectory())
        self.clock, self.model, self.number = FakeClock(), Model(), 0
        make = self.exits.enter_context(stores(self.kind, self.clock, Path(folder)))
        self.shields = [
            Shield.load(policy(lock_reads=True), store=make(), clock=self.clock) for _ in range(3)
        ]
        self.runs: dict[str, Run] = {}
        for shield, name in zip(self.shields, ("ann", "bob", "eve"), strict=True):
            self.runs[name] = shield.run(name, id=name)
        self.runs["kid"] = self.runs["ann"].spawn("kid", id="kid")
        self.going: list[Going] = []
        self.dead: list[Going] = []
        self.done: list[Call] = []

    def teardown(self) -> None:
        """Close everything."""
        for shield in {
            id(shield.store): shield for shield in getattr(self, "shields", [])
        }.values():
            shield.close()
        if hasattr(self, "exits"):
            self.exits.close()

    @rule(run=RUNS, paths=PLAIN, steps=STEPS)
    def write(self, run: str, paths: list[str], steps: int) -> None:
        self._begin(
            run, tuple([(path, True) for path in paths]), "write_files", {"paths": paths}, steps
        )

    @rule(run=RUNS, name=NAMES, shared=st.booleans(), steps=STEPS)
    def lock(self, run: str, name: str, shared: bool, steps: int) -> None:
        args = {"path": name, "lock_type": "shared" if shared else "exclusive"}
        self._begin(run, ((name, not shared),), "lock_file", args, steps)

    def _begin(self, run: str, wants: Wants, tool: str, args: dict[str, Any], steps: int) -> None:
        self.number += 1
        self.going.append(Going(f"c{self.number}", run, wants, Call(self.runs[run], tool, args)))
        self._step(self.going[-1], steps)
        if len(self.going) > MOST:  # the oldest never comes back, and nobody hears of that
            self.dead.append(self.going.pop(0))

    @precondition(lambda self: self.going)
    @rule(at=st.integers(0, MOST - 1), steps=STEPS)
    def step(self, at: int, steps: int) -> None:
        """One call goes some steps ahead."""
        self._step(self.going[at % len(self.going)], steps)

    def _step(self, one: Going, steps: int) -> None:
        """What the store carries out on the way, the model does."""
        for _ in range(steps):
            if one.call.step():
                one.expected = self.model.call(one.name, one.run, one.wants, self.clock())
            if one.call.went:
                assert one.call.went.removeprefix("locks.") == one.expected, (
                    one.name,
                    one.run,
                    one.wants,
                )
            if one.call.decision is not None:
                self.done += [one.call] if one.call.decision.proceeds else []
                self.going.remove(one)
                return

    @rule(
        what=st.sampled_from(
            ["finish", "unlock", "unlock", "hand off", "wait", "wait", "wait long"]
        ),
        run=RUNS,
        name=NAMES,
    )
    def besides(self, what: str, run: str, name: str) -> None:
        """Something else happens. Time goes by in steps that are no shorter than what a batch may
        be late by: what it writes down is the store's own time."""
        match what:
            case "finish" if self.done:
                self._finish(self.done.pop())
            case "unlock":
                assert self.runs[run].check("unlock_file", {"path": name}).proceeds
                self.model.release(run, self.clock(), name)
            case "hand off":
                self.runs[run].handoff_done("somebody")
                self.model.release(run, self.clock())
            case "wait":
                self.clock.advance(1_000)
            case "wait long":
                self.clock.advance(31_000)

    def _finish(self, call: Call) -> None:
        assert call.decision is not None
        call.run.result(call.tool, call.args, "done", call=call.decision.id)
        self.model.pass_to(self.clock())
        self.model.active(call.run.id, self.clock())

    @invariant()
    def same(self) -> None:
        """The table is the model's, as far as it has not ended."""
        if not hasattr(self, "model"):
            return
        now = self.clock()
        self.model.pass_to(now)
        table = table_of(self.shields[0].store.read(TABLE)[1]).at(now)
        assert sorted(
            [(one.name, one.exclusive, one.run, one.until) for one in table.held]
        ) == sorted(self.model.held)
        assert [(one.run, one.until) for one in table.waiting] == [
            (one.run, one.until) for one in self.model.line
        ]


@pytest.mark.parametrize("kind", KINDS)
def test_locks_equal_a_small_model(kind: str) -> None:
    machine = type(f"Locking{kind.title()}", (Locking,), {"kind": kind})
    many = {"memory": 40, "sqlite": 5, "postgres": 5, "redis": 5}[kind] * (50 if SOAK else 1)
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=many,
            stateful_step_count=30,
            deadline=None,
            phases=(
                Phase.reuse,
                Phase.generate,
            ),  # to make a case smaller takes minutes, and its steps say enough
            suppress_health_check=list(HealthCheck),
        ),
    )
