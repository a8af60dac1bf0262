"""Replaying traces to a shield: a person says yes to what is asked of honest work, and nothing to
what an attacker wants."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, Literal, assert_never

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
from stanchion_lab.flow.declared import NOTHING, Declarations
from stanchion_lab.flow.trace import Call, Definitions, Prompt, Reply, Side, Trace

AGENT: Final = "agent"
PERSON: Final = "the user"
PAGE: Final = "@page"
READ: Final = "read"

TRIES: Final = 5
"""How often one call is asked about at most: by several guards, one after the other."""

MANY: Final = 1_000_000
ALONE: Final[dict[str, Any]] = {
    "name": "flow",
    "guards": [{"use": "flow"}],
    # A trace is over in milliseconds: all its questions fall into one minute.
    "escalation": {"tickets_for_a_run": MANY, "tickets_a_minute": MANY},
}
"""A policy with no guard but the one that is measured."""

Outcome = Literal["quiet", "asked", "refused"]
"""Nobody was asked, a person was, or it was refused without a question."""
May = Literal["", "tools", "effects"]
"""What a task may do is not said, or by the tools that its honest calls use, or by their
effects."""


class Halt(msgspec.Struct, frozen=True):
    """Something that did not go ahead by itself: at which step, whose, what, why, what a person who
    is asked is shown, and whether one is."""

    at: int
    side: Side
    what: str
    code: str
    why: str
    args: dict[str, Any] = {}
    evidence: dict[str, Any] = {}
    asks: bool = False


class Attempt(msgspec.Struct, frozen=True):
    """A call that an attacker wants: its tool, what that does, what became of it, whether it failed
    in the record, and whether the honest task uses the tool anyway."""

    tool: str
    effect: str
    outcome: Outcome
    failed: bool = False
    usual: bool = False


class Replayed(msgspec.Struct, frozen=True):
    """What became of a trace: everything that was stopped, on honest steps how many questions a
    person was asked and how many steps were refused for good, how many honest answers were changed,
    what the attacker's calls came to, and whether what the attacker wants said was said."""

    trace: Trace
    group: str
    halts: tuple[Halt, ...] = ()
    questions: int = 0
    blocked: int = 0
    changed: int = 0
    attempts: tuple[Attempt, ...] = ()
    said: bool = False


Shields = Callable[[Definitions, Declarations], Shield]
"""Makes a shield that knows these tools by their definitions, and as they are declared."""


def shields_of(policy: CompiledPolicy) -> Shields:
    """Shields with that policy, and with nothing declared but what it declares itself."""
    return lambda tools, _: _told(Shield(policy, safe_mode=False, journal=MemoryJournal(1)), tools)


def shields_alone(drafted: bool = False) -> Shields:
    """Shields with the guard alone and the declared tools; with `drafted` it has to make do with
    what it can tell from names and schemas."""

    def made(tools: Definitions, declared: Declarations) -> Shield:
        known = NOTHING if drafted else declared
        return shields_of(load_policy({**ALONE, **known.in_policy()}))(tools, known)

    return made


def _told(shield: Shield, tools: Definitions) -> Shield:
    shield.occurrences.mute()  # nobody is waited for
    if tools and reads_definitions(shield.policy):
        shield.ingest(tools)
    return shield


class Replayer:
    """Plays traces, with one shield for each set of tools and a run for each trace."""

    def __init__(self, shields: Shields, may: May = "") -> None:
        self._shields, self._may = shields, may
        self._made: dict[tuple[str, str], Shield] = {}
        self._count = 0

    def play(
        self,
        trace: Trace,
        source: str,
        tools: dict[str, Definitions],
        declared: Declarations = NOTHING,
    ) -> Replayed:
        """Play one trace of a source that has those tools."""
        key = (source, trace.tools)
        shield = self._made.get(key)
        if shield is None:
            shield = self._made[key] = self._shields(tools.get(trace.tools, []), declared)
        self._count += 1
        # A tenant of its own: no run is judged by what another has done.
        play = _Play(shield, trace, f"trace-{self._count}", declared, self._may)
        return msgspec.structs.replace(
            play.whole(), group=declared.name if declared.name else source
        )


class _Play:
    """One trace on its way."""

    def __init__(
        self, shield: Shield, trace: Trace, tenant: str, declared: Declarations, may: May
    ) -> None:
        self._shield, self._trace, self._tenant = shield, trace, tenant
        self._declared = declared
        self._usual = {
            step.tool for step in trace.steps if isinstance(step, Call) and step.side == "honest"
        }
        mandate: dict[str, Any] = {"may": sorted(self._allowed(may))} if may else {}
        self._run: Run = shield.run(agent=AGENT, task=tenant, tenant=tenant, **mandate)
        self._halts: list[Halt] = []
        self._tickets: set[str] = set()
        self._attempts: list[Attempt] = []
        self._blocked = self._changed = 0
        self._said = self._page_closed = False

    def whole(self) -> Replayed:
        """Play all of it."""
        for at, step in enumerate(self._trace.steps):
            match step:
                case Prompt():
                    self._kept(at, "honest", "the user's words", self._run.prompt(step.text))
                case Reply():
                    self._answered(at, step)
                case Call(side="attack"):
                    self._attempted(at, step)
                case Call():
                    self._called(at, step)
                case _:
                    assert_never(step)
        self._run.close()
        return Replayed(
            _slim(self._trace),
            "",
            tuple(self._halts),
            len(self._tickets),
            self._blocked,
            self._changed,
            tuple(self._attempts),
            self._said,
        )

    def _allowed(self, may: May) -> Iterable[str]:
        """What the honest calls need: the tools, or their effects where these are declared."""
        if may == "tools":
            return self._usual
        effects = {tool: self._declared.effect(tool) for tool in self._usual}
        return {effect if effect else tool for tool, effect in effects.items()}

    def _called(self, at: int, step: Call) -> None:
        """An honest call: a person says yes to each question, and the task goes on."""
        decision = self._agreed(at, step.tool, step.args, lambda: self._check(step))
        if decision.proceeds:
            self._returned(at, step, decision)
        else:
            # What failed in the record is no loss.
            self._blocked += step.error is None

    def _attempted(self, at: int, step: Call) -> None:
        """A call that an attacker wants: nobody says yes to it."""
        sinks = self._declared.sinks(step.tool)
        on_page = PAGE in sinks
        decision = self._check(step)
        outcome: Outcome = "quiet"
        if not decision.proceeds:
            self._halt(at, "attack", step.tool, decision, step.args)
            outcome = "asked" if decision.action is Action.ESCALATE else "refused"
            self._page_closed = self._page_closed or not on_page
        elif on_page and self._page_closed:
            # The attacker's page never opened: what would be clicked is not there.
            outcome = "refused"
        else:
            self._returned(at, step, decision)
        self._attempts.append(
            Attempt(
                step.tool,
                self._effect(step),
                outcome,
                step.error is not None,
                step.tool in self._usual,
            )
        )

    def _effect(self, step: Call) -> str:
        """What a call does. What nobody declares is as bad as it can be where an attacker cannot do
        without it, and else only looks."""
        known = self._declared.effect(step.tool)
        return known if known else "irreversible" if step.essential else READ

    def _check(self, step: Call) -> Decision:
        return self._run.check(step.tool, step.args)

    def _returned(self, at: int, step: Call, decision: Decision) -> None:
        if step.error is not None:
            self._run.error(
                step.tool, "ToolError", text=str(step.error), args=step.args, call=decision.id
            )
        elif step.result is not UNSET:
            came = self._run.result(step.tool, step.args, step.result, call=decision.id)
            self._kept(at, step.side, f"the result of {step.tool}", came)

    def _answered(self, at: int, step: Reply) -> None:
        def judge() -> Decision:
            return self._run.model_reply(step.text, final=step.final)

        honest = step.side == "honest"
        decision = self._agreed(at, "the answer", {}, judge) if honest else judge()
        left = decision.patched(step.text) if decision.proceeds else ""
        if honest:
            self._blocked += not decision.proceeds
            self._changed += decision.proceeds and left != step.text
        if left != step.text and (decision.proceeds or not honest):
            self._halt(at, step.side, "the answer", decision, {})
        if step.essential:
            self._said = step.wants in left if step.wants else left == step.text

    def _agreed(
        self, at: int, what: str, args: dict[str, Any], judge: Callable[[], Decision]
    ) -> Decision:
        """What is decided once a person has said yes to everything that is asked."""
        decision = judge()
        for _ in range(TRIES):
            if decision.proceeds:
                break
            self._halt(at, "honest", what, decision, args)
            ticket = self._run.ticket(decision)
            if decision.action is not Action.ESCALATE or ticket is None:
                break
            self._tickets.add(ticket)
            self._shield.approve(ticket, by=PERSON, tenant=self._tenant)
            decision = judge()
        return decision

    def _kept(self, at: int, side: Side, what: str, decision: Decision) -> None:
        """Remember that words or a result were withheld."""
        if not decision.proceeds:
            self._halt(at, side, what, decision, {})
            self._blocked += side == "honest"

    def _halt(
        self, at: int, side: Side, what: str, decision: Decision, args: dict[str, Any]
    ) -> None:
        asks = decision.action is Action.ESCALATE
        self._halts.append(
            Halt(
                at,
                side,
                what,
                decision.code,
                decision.message,
                args,
                self._evidence(decision) if asks else {},
                asks,
            )
        )

    def _evidence(self, decision: Decision) -> dict[str, Any]:
        """What a person is shown who is asked."""
        ticket = self._run.ticket(decision)
        return {} if ticket is None else self._shield.ticket(ticket, tenant=self._tenant).evidence


def _slim(trace: Trace) -> Trace:
    """A trace without what was read: thousands of them are kept until the end."""
    first = [step for step in trace.steps if isinstance(step, Prompt)][:1]
    wanted = [
        msgspec.structs.replace(step, result=UNSET)
        for step in trace.steps
        if isinstance(step, Call) and step.side == "attack"
    ]
    said = [step for step in trace.steps if isinstance(step, Reply) and step.essential]
    return msgspec.structs.replace(trace, steps=(*first, *wanted, *said), injected="")
