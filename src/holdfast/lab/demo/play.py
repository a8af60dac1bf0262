"""Playing the demo: one shield, one policy, one run for each hazard; then the books are checked."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec

from holdfast.kernel.actions import Action
from holdfast.kernel.decision import Decision
from holdfast.kernel.stages import Stage
from holdfast.lab.demo.agent import Agent, Tap
from holdfast.lab.demo.chain import first_break, with_one_bit_changed
from holdfast.lab.demo.hazard import Hazard, Outcome, Step, Tally
from holdfast.lab.demo.rule import excerpt
from holdfast.lab.demo.tools import Tools
from holdfast.policy.load import load_policy
from holdfast.runtime.shield import Shield

POLICY: Final = Path(__file__).with_name("policy.yaml")
START_MS: Final = 1_767_225_600_000
"""When the demo's clock begins, so that every run of it gives the same records."""


class Books(msgspec.Struct, frozen=True):
    """What the journal says of itself at the end, found by reading its bytes again."""

    records: int
    head: str
    verifies: bool
    tampered: int
    noticed: bool
    """Whether a bit turned over in a copy of record `tampered` was noticed."""


class Demo:
    """A shield under which hazards are played; nothing in it knows what the verdicts should be."""

    def __init__(self, policy: str | Path = POLICY) -> None:
        self.tap = Tap()
        self.tools = Tools()
        clock = itertools.count(START_MS, 7)
        self.shield = Shield(
            load_policy(policy),
            journal=self.tap,
            clock=lambda: next(clock),
            safe_mode=False,
            nonces=lambda: "0",
        )

    def play(self, hazards: Sequence[Hazard]) -> Iterator[Outcome]:
        """Play hazards one by one, each in a run of its own."""
        for number, hazard in enumerate(hazards, 1):
            steps: list[Step] = []
            with self.shield.run("scout", hazard.name, id=hazard.name) as run:
                proof = hazard.script(Agent(self.shield, self.tap, self.tools, run, steps))
            rule = hazard.rule if hazard.rule else next((step.guard for step in reversed(steps) if step.guard), "")
            yield Outcome(
                number,
                len(hazards),
                hazard,
                tuple(steps),
                excerpt(self.shield.policy.file, rule),
                proof,
                self.tally(),
                self.tap.journal.written,
                self.tap.journal.head,
            )

    def tally(self) -> Tally:
        """What has become of every action so far, by the decisions about them."""
        tally = Tally()
        for stage, decision in self.tap.decisions:
            if stage in (Stage.TOOL_CALL, Stage.MODEL_CALL):
                _count(tally, decision)
        return tally

    def books(self) -> Books:
        """Read the journal's bytes again: does the chain hold, and is a forged record noticed?"""
        journal = self.tap.journal
        bodies = [kept.body for kept in journal.kept()]
        forged = len(bodies) // 2
        noticed = first_break(with_one_bit_changed(bodies, forged), journal.head) is not None
        return Books(len(bodies), journal.head, first_break(bodies, journal.head) is None, forged + 1, noticed)


def _count(tally: Tally, decision: Decision) -> None:
    if decision.action in (Action.QUEUE, Action.ESCALATE):
        tally.waiting += 1
    elif not decision.proceeds:
        tally.refused += 1
    elif decision.patches:
        tally.changed += 1
    else:
        tally.went_ahead += 1
