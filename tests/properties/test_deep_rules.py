"""Deep rules and scheduling: the same answers give the same decisions and records, whichever comes first and wherever
it is worked out; and a decision is made again from its record alone."""

from __future__ import annotations

import asyncio
import threading
from functools import partial
from typing import Any, Final

from hypothesis import given, settings, strategies as st

from stanchion import Action, Finding, Shield
from stanchion.kernel.replay import replay
from stanchion.testing import shield_for
from tests.runtime.test_pool import until

ANSWERS: Final[list[Any]] = [
    None,
    "no",
    Finding(Action.WARN, "own.warned", ("a",)),
    Finding(Action.ESCALATE, "own.asks"),
    Finding(Action.ALLOW, "own.noted"),
    RuntimeError("boom"),
    7,
]
RISKS: Final = ("low", "medium", "critical")
RULES: Final = ("one", "two")
POLICY: Final[dict[str, Any]] = {
    "name": "deep",
    "tools": {risk: {"risk": risk} for risk in RISKS},
    "deep": {"medium_wait_ms": 1, "critical_wait_ms": 60_000, "rest_after": 1_000},
}
"""What is asked at low and medium risk is always late, and what is asked at critical risk never is."""


class Told:
    """A rule that gives the answers that it is told to, each when it is let go."""

    deep = True
    deadline_ms = 60_000

    def __init__(self, name: str, script: list[tuple[str, Any]]) -> None:
        self.id = name
        self.answers = [answer for _, answer in script]
        self.gates = [threading.Event() for _ in script]
        self.done = 0

    def judge(self, event: Any) -> Any:
        at = event.args["at"]
        assert self.gates[at].wait(30)
        answer = self.answers[at]
        if isinstance(answer, Exception):
            raise answer
        return answer


class Story:
    """One run by a script: for each call its risk, and what both rules say of it. `first` is the rule that answers
    first, `awaits` whether the host is async, `threads` how many each rule has."""

    def __init__(self, script: list[tuple[str, tuple[Any, Any]]], first: int, awaits: bool, threads: int) -> None:
        self.script, self.first, self.awaits, self.threads = script, first, awaits, threads
        self.rules = [Told(name, [(risk, both[n]) for risk, both in script]) for n, name in enumerate(RULES)]
        self.order = [self.rules[first], self.rules[1 - first]]

    def told(self) -> tuple[list[bytes], list[Any]]:
        """The records of the run, and what was judged."""
        with shield_for(POLICY, guards=self.rules, answer_threads=self.threads) as shield:
            kept: list[Any] = []
            write = shield.journal.write

            def noting(moment: Any, decision: Any, *rest: Any) -> int:
                kept.append((moment, decision))
                return write(moment, decision, *rest)  # type: ignore[no-any-return] # a journal's mark

            shield.journal.write = noting
            run = shield.run("a")
            for at, (risk, _) in enumerate(self.script):
                self.step(shield, run, at, risk)
            run.model_reply("the end")
            texts = [record.text for record in shield.journal.kept()]
            return texts, [(run.desk.plans.policy, run.desk.info, *one) for one in kept]

    def step(self, shield: Shield, run: Any, at: int, risk: str) -> None:
        """One call; what is late is answered before the next one, in the order of this story."""
        if risk == "critical":
            threading.Thread(target=self.release, args=(shield, at)).start()
        if self.awaits:
            asyncio.run(run.acheck(risk, {"at": at}))
        else:
            run.check(risk, {"at": at})
        if risk != "critical":
            self.release(shield, at)

    def release(self, shield: Shield, at: int) -> None:
        """Let both rules answer about a call, one behind the other."""
        for rule in self.order:
            before = answered(shield, rule.id)
            rule.gates[at].set()
            asked = shield.answers.counted().get((rule.id, "asked"), 0)
            until(partial(_is_over, shield, rule.id, before, asked))


def _is_over(shield: Shield, rule: str, before: int, asked: int) -> bool:
    return answered(shield, rule) > before or asked <= before


def answered(shield: Shield, rule: str) -> int:
    """How many questions to a rule are over."""
    counted = shield.answers.counted()
    return sum(counted.get((rule, outcome), 0) for outcome in ("answered", "failed"))


SCRIPTS: Final = st.lists(
    st.tuples(st.sampled_from(RISKS), st.tuples(st.sampled_from(ANSWERS), st.sampled_from(ANSWERS))),
    min_size=1,
    max_size=4,
)


@settings(max_examples=25, deadline=None)
@given(script=SCRIPTS, awaits=st.booleans(), threads=st.integers(1, 3))
def test_scheduling_changes_neither_decisions_nor_records(
    script: list[tuple[str, tuple[Any, Any]]], awaits: bool, threads: int
) -> None:
    plain, judged = Story(script, 0, False, 2).told()
    other, _ = Story(script, 1, awaits, threads).told()
    assert other == plain
    for policy, info, moment, decision in judged:
        assert replay(policy, info, moment, decision.inputs) == decision
