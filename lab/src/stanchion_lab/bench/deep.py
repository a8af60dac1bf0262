"""What a deep rule costs a call of low risk, which does not wait for it: one that answers, hangs,
crashes, floods."""

from __future__ import annotations

import threading
from typing import Any

from stanchion.kernel.actions import Action
from stanchion.kernel.findings import Finding
from stanchion.runtime.shield import Shield
from stanchion.runtime.standing.places import MEMORY
from stanchion_lab.bench.chain import EXTRA, checked, policy
from stanchion_lab.bench.measure import compare
from stanchion_lab.bench.table import Effort, Section, rows_of

NOTE = (
    "the whole chain at low risk, beside a deep rule that hangs, crashes, floods, answers "
    "rubbish, or passes"
)
HOW = ("hangs", "crashes", "floods with rubbish", "floods with notes", "rubbish", "passes")
MUCH = 100_000
WITHOUT = "without a deep rule"


class Rule:
    """A deep rule that behaves in one way."""

    id = "deep-rule"
    deep = True

    def __init__(self, how: str, over: threading.Event) -> None:
        self._how, self._over = how, over

    def judge(self, _event: Any) -> Any:
        """Do what this rule does."""
        if self._how == "hangs":
            self._over.wait()
        if self._how == "crashes":
            raise RuntimeError
        if self._how == "floods with rubbish":
            return ["x"] * MUCH
        if self._how == "floods with notes":
            return Finding(Action.ALLOW, "bench.noted", ("x" * MUCH, *["x"] * MUCH))
        return 7 if self._how == "rubbish" else None


def deep(effort: Effort) -> Section:
    """A call of low risk with each rule, against the same chain without one."""
    over = threading.Event()
    shields = {
        WITHOUT: _shield(),
        **{how: _shield(Rule(how, over)) for how in HOW},
    }
    try:
        calls = {name: checked(shield.run("a1", "t1", id="r1")) for name, shield in shields.items()}
        return Section(
            "deep rules beside low risk",
            NOTE,
            rows_of(compare(calls, effort.rounds, effort.calls), WITHOUT),
        )
    finally:
        over.set()
        for shield in shields.values():
            shield.close()


def _shield(*rules: Rule) -> Shield:
    said = {**policy(), "tools": {"write_file": {"risk": "low"}}}
    return Shield.load(said, guards=[*EXTRA, *rules], store=MEMORY, journal=MEMORY)
