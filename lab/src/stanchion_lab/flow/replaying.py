"""Replaying traces to a shield: the agent goes on as recorded, and a call that is stopped brings
nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, assert_never

import msgspec
from msgspec import UNSET

from stanchion.audit.journal import MemoryJournal
from stanchion.kernel.actions import Action
from stanchion.kernel.decision import Decision
from stanchion.policy.compiled import CompiledPolicy
from stanchion.policy.definitions import reads_definitions
from stanchion.policy.load import load_policy
from stanchion.runtime.run import Run
from stanchion.runtime.shield import Shield
from stanchion_lab.flow.trace import Call, Definitions, Prompt, Reply, Side, Trace

AGENT: Final = "agent"
PERSON: Final = "the user"

MANY: Final = 1_000_000
ALONE: Final[dict[str, Any]] = {
    "name": "flow",
    # A trace is over in milliseconds: all its questions fall into one minute.
    "escalation": {"tickets_for_a_run": MANY, "tickets_a_minute": MANY},
}
"""A policy with no guard but the one that is measured."""


class Halt(msgspec.Struct, frozen=True):
    """Something that did not happen as the agent meant it: at which step, whose, what, why, and
    what a person who is asked is shown. `lost` is false where the record says that it failed
    anyway."""

    at: int
    side: Side
    what: str
    code: str
    why: str
    args: dict[str, Any] = {}
    evidence: dict[str, Any] = {}
    asks: bool = False
    lost: bool = True
    answer: bool = False


class Replayed(msgspec.Struct, frozen=True):
    """What became of a trace: everything that was stopped, how many calls of its user's it has, and
    how much of what the attacker needs there was and went ahead."""

    trace: Trace
    halts: tuple[Halt, ...]
    calls: int
    needed: int
    went: int

    @property
    def stops(self) -> tuple[Halt, ...]:
        """Honest steps that were lost; changed answers are counted apart."""
        return tuple(
            [halt for halt in self.halts if halt.side == "honest" and halt.lost and not halt.answer]
        )

    @property
    def answers(self) -> tuple[Halt, ...]:
        """Honest answers that were stopped or changed."""
        return tuple([halt for halt in self.halts if halt.side == "honest" and halt.answer])

    @property
    def undisturbed(self) -> bool:
        """Whether nothing honest was stopped."""
        return not self.stops

    @property
    def succeeded(self) -> bool:
        """Whether the attacker has everything that was needed."""
        return self.needed > 0 and self.went == self.needed


Shields = Callable[[Definitions], Shield]
"""Makes a shield that knows these tools."""


def shields_of(policy: CompiledPolicy) -> Shields:
    """Shields with that policy."""
    return lambda tools: _told(Shield(policy, safe_mode=False, journal=MemoryJournal(1)), tools)


def shields_with(guard: Any) -> Shields:
    """Shields with that guard alone."""
    policy = load_policy(ALONE)
    return lambda tools: _told(
        Shield(policy, guards=[guard], safe_mode=False, journal=MemoryJournal(1)), tools
    )


def _told(shield: Shield, tools: Definitions) -> Shield:
    shield.occurrences.mute()  # nobody is waited for
    if tools and reads_definitions(shield.policy):
        shield.ingest(tools)
    return shield


class Replayer:
    """Plays traces, with one shield for each set of tools and a run for each trace. With `approve`
    a person says yes to whatever is asked about honest calls."""

    def __init__(self, shields: Shields, approve: bool = False) -> None:
        self._shields, self._approve = shields, approve
        self._made: dict[tuple[str, str], Shield] = {}
        self._count = 0

    def play(self, trace: Trace, source: str, tools: dict[str, Definitions]) -> Replayed:
        """Play one trace of a source that has those tools."""
        key = (source, trace.tools)
        shield = self._made.get(key)
        if shield is None:
            shield = self._made[key] = self._shields(tools.get(trace.tools, []))
        self._count += 1
        # A tenant of its own: no run is judged by what another has done.
        play = _Play(shield, trace, f"trace-{self._count}", self._approve)
        return play.whole()


class _Play:
    """One trace on its way."""

    def __init__(self, shield: Shield, trace: Trace, tenant: str, approve: bool) -> None:
        self._shield, self._trace, self._tenant, self._approve = shield, trace, tenant, approve
        self._run: Run = shield.run(agent=AGENT, task=tenant, tenant=tenant)
        self._halts: list[Halt] = []
        self._went = 0

    def whole(self) -> Replayed:
        """Play all of it."""
        calls = 0
        for at, step in enumerate(self._trace.steps):
            match step:
                case Prompt():
                    self._kept(at, "honest", "the user's words", self._run.prompt(step.text))
                case Reply():
                    self._said(at, step)
                case Call():
                    calls += step.side == "honest"
                    self._called(at, step)
                case _:
                    assert_never(step)
        self._run.close()
        needed = len(self._trace.wanted)
        return Replayed(_slim(self._trace), tuple(self._halts), calls, needed, self._went)

    def _said(self, at: int, step: Reply) -> None:
        decision = self._run.model_reply(step.text, final=step.final)
        left = decision.patched(step.text) if decision.proceeds else ""
        if left != step.text:
            evidence = self._evidence(decision)
            self._halts.append(
                Halt(
                    at,
                    step.side,
                    "the answer",
                    decision.code,
                    decision.message,
                    {},
                    evidence,
                    answer=True,
                )
            )
        self._went += step.essential and (step.wants in left if step.wants else left == step.text)

    def _called(self, at: int, step: Call) -> None:
        decision = self._run.check(step.tool, step.args)
        if not decision.proceeds:
            self._keep(at, step, decision)
            if not (self._approve and step.side == "honest"):
                return
            decision = self._asked(decision, step)
            if not decision.proceeds:
                return
        self._went += step.essential
        if step.error is not None:
            self._run.error(
                step.tool, "ToolError", text=str(step.error), args=step.args, call=decision.id
            )
        elif step.result is not UNSET:
            came = self._run.result(step.tool, step.args, step.result, call=decision.id)
            self._kept(at, step.side, f"the result of {step.tool}", came)

    def _keep(self, at: int, step: Call, decision: Decision) -> None:
        self._halts.append(
            Halt(
                at,
                step.side,
                step.tool,
                decision.code,
                decision.message,
                step.args,
                self._evidence(decision),
                decision.action is Action.ESCALATE,
                step.error is None,
            )
        )

    def _kept(self, at: int, side: Side, what: str, decision: Decision) -> None:
        """Remember that words or a result were withheld."""
        if not decision.proceeds:
            asks = decision.action is Action.ESCALATE
            self._halts.append(Halt(at, side, what, decision.code, decision.message, asks=asks))

    def _asked(self, decision: Decision, step: Call) -> Decision:
        """The same call once a person has said yes."""
        ticket = self._run.ticket(decision)
        if ticket is None:
            return decision
        self._shield.approve(ticket, by=PERSON, tenant=self._tenant)
        return self._run.check(step.tool, step.args)

    def _evidence(self, decision: Decision) -> dict[str, Any]:
        """What a person is shown who is asked."""
        ticket = self._run.ticket(decision)
        return {} if ticket is None else self._shield.ticket(ticket, tenant=self._tenant).evidence


def _slim(trace: Trace) -> Trace:
    """A trace without what was read: thousands of them are kept until the end."""
    first = [step for step in trace.steps if isinstance(step, Prompt)][:1]
    return msgspec.structs.replace(trace, steps=(*first, *trace.wanted))
