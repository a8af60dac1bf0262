"""Hazards and what comes of them: the data that a script gives and a screen shows."""

from __future__ import annotations

from collections.abc import Callable
from itertools import zip_longest
from typing import Any

from msgspec import Struct

from stanchion.approvals.operators import Operator


class Proof(Struct, frozen=True):
    """What really happened outside the shield, in words, and whether that is as it should be."""

    words: str
    holds: bool


class Hazard(Struct, frozen=True):
    """One thing an agent walks into: add one to `hazards.yaml` and it is played, shown and checked.

    `expects` has one entry for each step that is judged: the verdict, and the finding's code where
    there is one. `rule` names the part of the policy to show (`agents.scout`, `tools.crawl`);
    without it that is the guard which determined the last verdict. `env` is the environment of the
    policy in which it is played, where there is one. With `operators` it is played under a shield
    of its own, which knows them.
    """

    name: str
    title: str
    story: str
    expects: tuple[str, ...]
    script: Callable[[Any], Proof]
    rule: str = ""
    env: str = ""
    operators: tuple[Operator, ...] = ()


class Also(Struct, frozen=True):
    """What a guard has said besides, or of a step that ended otherwise."""

    guard: str
    code: str
    why: str


class Shadowed(Struct, frozen=True):
    """What a guard in shadow mode would have said."""

    guard: str
    verdict: str
    code: str
    why: str


class HazardStep(Struct, frozen=True):
    """Somebody did something. `verdict` is empty where nobody judges it, such as an operator's own
    act."""

    who: str
    did: str
    verdict: str = ""
    code: str = ""
    guard: str = ""
    why: str = ""
    advice: str = ""
    shadow: tuple[Shadowed, ...] = ()
    proceeds: bool = True
    ran: bool = True
    tool: str = ""
    also: tuple[Also, ...] = ()

    @property
    def brief(self) -> str:
        """The step's answer as `expects` writes it."""
        return f"{self.verdict} {self.code}".rstrip()

    @property
    def leaked(self) -> bool:
        """Whether a refused tool ran after all, or one that goes ahead did not."""
        return self.tool != "" and self.ran != self.proceeds


class DemoTally(Struct):
    """What has become of the agent's actions so far."""

    went_ahead: int = 0
    changed: int = 0
    refused: int = 0
    waiting: int = 0

    @property
    def actions(self) -> int:
        """All of them."""
        return self.went_ahead + self.changed + self.refused + self.waiting


class HazardOutcome(Struct, frozen=True):
    """A hazard that was played: every step, the rule that judged it, the proof, and the journal's
    head after it."""

    number: int
    of: int
    hazard: Hazard
    steps: tuple[HazardStep, ...]
    rule: str
    proof: Proof
    tally: DemoTally
    records: int
    head: str

    @property
    def faults(self) -> tuple[str, ...]:
        """What was not as expected, in words; empty where the hazard was handled."""
        judged = [step for step in self.steps if step.verdict]
        wanted = self.hazard.expects
        found = [
            f"`{step.tool}` {'ran' if step.ran else 'did not run'} despite {step.brief}"
            for step in judged
            if step.leaked
        ]
        for at, (want, step) in enumerate(zip_longest(wanted, judged), 1):
            got = "nothing" if step is None else step.brief
            if want != got:
                found.append(
                    f"step {at}: expected {'no more steps' if want is None else want}, got {got}"
                )
                break
        return tuple(found if self.proof.holds else [*found, f"in fact {self.proof.words}"])
