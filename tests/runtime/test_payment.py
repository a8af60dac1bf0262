"""A payment that is retried, resumed and crashed at every step of its life executes once: all
steps, one by one."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from stanchion import Refused, Shield
from stanchion.kernel.state import StoreLost
from stanchion.stores.memory import MemoryStore
from stanchion.testing import FakeClock, shield_for
from tests.operators import KNOWN
from tests.runtime.payments import CAP, HOUR_MS, POLICY, Cut, Killed, Life, brought_to_an_end
from tests.sampling import some

HOWS = ("killed", "interrupted", "lost")


class Story(NamedTuple):
    """What kind of payment it is: named by its caller or not, patched by a guard, failing first
    before it pays."""

    named: str = ""
    patched: bool = False
    fails: int = 0


STORIES = [
    Story(named, patched, fails)
    for named in ("", "invoice-7")
    for patched in (False, True)
    for fails in (0, 1)
]


class Bank:
    """Pays, and says how often it has; its first attempts may fail before anything happens."""

    def __init__(self, fails: int) -> None:
        self.paid: list[int] = []
        self._fails = fails

    def pay(self, amount: int) -> dict[str, int]:
        """Pay."""
        if self._fails:
            self._fails -= 1
            raise ConnectionError("down")
        self.paid.append(amount)
        return {"receipt": len(self.paid)}


class World:
    """One store and one bank; processes come and go."""

    def __init__(self, story: Story) -> None:
        self.story = story
        self.clock = FakeClock()
        self.store = MemoryStore(self.clock)
        self.bank = Bank(story.fails)

    def process(self) -> Shield:
        """A new process on the same store."""
        guards = [CAP] if self.story.patched else []
        return shield_for(
            POLICY, clock=self.clock, store=self.store, guards=guards, operators=[KNOWN]
        )

    def live(self, cut: Cut | None) -> tuple[int, str]:
        """One process pays, cut as told; how many steps it took, and what its caller saw."""
        life = Life(self.process().run("clerk", "bills", id="r"), cut)
        try:
            life.pay(self.bank.pay, 10, self.story.named)
        except (Killed, KeyboardInterrupt, StoreLost, Refused, ConnectionError) as error:
            return life.steps, type(error).__name__
        return life.steps, "paid"

    def end(self) -> str:
        """Resume until something final comes of it."""
        later = lambda: self.clock.advance(HOUR_MS)  # noqa: E731 - said in place
        return brought_to_an_end(
            self.process, self.bank.pay, self.story.named, lambda: len(self.bank.paid), later
        )


def cuts(steps: int) -> Iterator[Cut]:
    """Every way to cut a life of so many steps."""
    for step, after, how in itertools.product(range(steps), (False, True), HOWS):
        yield Cut(step, after, how)


@pytest.mark.parametrize("story", STORIES, ids=str)
def test_a_payment_cut_at_any_step_is_paid_once(story: Story) -> None:
    """Every step, before and after, by every kind of end (a soak takes all of them); then resumed
    to the end."""
    steps, outcome = World(story).live(None)
    assert outcome == "paid"
    seen: dict[str, int] = {}
    chosen = some(
        cuts(steps), 5, str(story)
    )  # six ways of cutting each step: a fifth of all has each of them
    for cut in chosen:
        world = World(story)
        _, outcome = world.live(cut)
        assert len(world.bank.paid) <= 1, cut
        final = world.end()
        assert len(world.bank.paid) == 1, (cut, outcome, final)
        assert final in ("paid", "ledger.result_not_kept"), (cut, outcome, final)
        seen[final] = seen.get(final, 0) + 1
    assert sum(seen.values()) == len(chosen) >= steps
    assert set(seen) == {"paid", "ledger.result_not_kept"}, "both ends are reached by some cut"


@pytest.mark.parametrize("named", ["", "invoice-7"])
def test_a_payment_cut_twice_is_paid_once(named: str) -> None:
    """The process that resumes it is killed as well, at any step of its own."""
    story = Story(named)
    steps, _ = World(story).live(None)
    every = [Cut(step, after, "killed") for step in range(steps) for after in (False, True)]
    for first, second in some(itertools.product(every, repeat=2), 17, named):
        world = World(story)
        world.live(first)
        world.clock.advance(HOUR_MS)
        world.live(second)
        assert len(world.bank.paid) <= 1
        world.clock.advance(HOUR_MS)
        assert world.end() in ("paid", "ledger.result_not_kept")
        assert len(world.bank.paid) == 1, (first, second)


def test_without_the_ledger_it_would_be_paid_twice() -> None:
    """The enumeration finds it: the same lives with a tool that nobody marked."""
    unmarked: dict[str, Any] = {**POLICY, "tools": {"pay": {"risk": "high"}}}
    twice = 0
    for cut in cuts(4):
        clock, bank = FakeClock(), Bank(0)
        store = MemoryStore(clock)
        for each in (cut, None):
            life = Life(shield_for(unmarked, clock=clock, store=store).run("clerk", id="r"), each)
            try:
                life.pay(bank.pay, 10, "")
            except (Killed, KeyboardInterrupt, StoreLost, Refused):
                continue
        twice += len(bank.paid) > 1
    assert twice


def test_processes_that_are_killed_for_real_pay_once(tmp_path: Path) -> None:
    """`kill -9` before and after every step, with state in a file."""
    command = [sys.executable, "-m", "tests.runtime.killing_payments", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["kills"] >= 12
    assert told["paid"] == told["kills"], "once each"
    assert told["unknown"] > 0, "some were killed between the payment and its record"
