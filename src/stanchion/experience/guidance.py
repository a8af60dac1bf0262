"""Guidance: all that whoever was refused can do about it, as one object for code and as one text
for an agent."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final, Literal

import msgspec

from stanchion.experience.quoting import marked, what_differs
from stanchion.experience.similarity import Similar
from stanchion.kernel.actions import Action
from stanchion.kernel.decision import Decision
from stanchion.kernel.findings import Finding, Isolate, Retry

# Trying again: whether an action that was refused is worth another try, and when.

Again = Literal["no", "changed", "approved", "later", "now"]
"""`no`: never in this run. `changed`: only as another call, this one is refused again. `approved`:
when a person has said yes. `later`: the same call can pass after a time. `now`: the same call can
pass at once."""

LATER: Final = frozenset(
    {
        "breaker.model_open",
        "breaker.model_probing",
        "breaker.open",
        "breaker.probing",
        "budget.turn",
        "budget.window_full",
        "egress.unresolved",
        "kernel.audit_lost",
        "kernel.broker_busy",
        "kernel.broker_lost",
        "kernel.contention",
        "kernel.crowded",
        "kernel.lookup_expired",
        "kernel.lookup_failed",
        "kernel.quarantined",
        "kernel.store_lost",
        "ledger.in_progress",
        "locks.conflict",
        "locks.deadlock",
        "locks.held",
        "locks.waits",
        "queue.full",
        "queue.waits",
        "recovery.recoverable",
        "safe_mode.tool_refused",
    }
)
"""Codes of what passes by itself: time, somebody else's work, or something that is down."""

NOW: Final = frozenset(
    {"approval.expired", "approval.used", "http.unpinned", "kernel.lapsed", "kernel.taken"}
)
"""Codes of what is judged anew the next time."""

OVER: Final = frozenset(
    {
        "budget.exceeded",
        "kernel.cancelled",
        "kernel.deadline",
        "kernel.ended",
        "kernel.exhausted",
        "steps.exceeded",
        "time.exceeded",
    }
)
"""Codes of what no other call changes either: the run is over, or what it may use is used up."""

PEOPLE: Final = frozenset({"approval.waiting", "kernel.approval", "kernel.paused"})
"""Codes of what a person has to say yes to, whatever the action is."""

IN_WORDS: Final[dict[Again, str]] = {
    "no": "do not try it again",
    "changed": "the same again is refused again",
    "approved": "the same can go ahead once a person has answered",
    "later": "the same can go ahead later",
    "now": "the same can be tried again now",
}
"""Whether to try again, in words for an agent."""

MOMENT: Final = {"breaker.open": 2, "locks.conflict": 2, "locks.held": 2, "locks.waits": 2}
"""Which argument of a code says until when."""


def again_of(decision: Decision) -> Again:
    """Whether to try again. What has happened is not tried again, whatever the reason was."""
    code = decision.code
    if decision.action == Action.RETRY:
        return "changed"
    if decision.happened or decision.action == Action.HALT or code in OVER:
        return "no"
    if decision.action == Action.ESCALATE or code in PEOPLE:
        return "approved"
    if code in LATER or decision.action in (Action.QUEUE, Action.QUARANTINE):
        return "later"
    return "now" if code in NOW else "changed"


def at_ms_of(decision: Decision) -> int | None:
    """When trying again can help, where the decision says so."""
    found, now = decision.determining, decision.inputs.now
    if found is None:
        return None
    if found.code in MOMENT:
        return _moment(found, MOMENT[found.code])
    match found.terms:
        case Isolate() if now:
            return now + found.terms.for_ms
        case Retry() if now and found.terms.base_ms:
            return now + found.terms.base_ms
    return None


def again_text(again: Again, at_ms: int | None) -> str:
    """Whether to try again and from when on, in words for an agent."""
    if at_ms is None or again != "later":
        return IN_WORDS[again]
    return (
        f"{IN_WORDS[again]}, from {datetime.fromtimestamp(at_ms / 1000, UTC):%Y-%m-%d %H:%M:%SZ} on"
    )


def _moment(found: Finding, at: int) -> int | None:
    try:
        said = datetime.strptime(str(found.args[at]), "%Y-%m-%d %H:%M:%SZ").replace(tzinfo=UTC)
    except (IndexError, ValueError):
        return None  # what was erased from a record says nothing
    return int(said.timestamp() * 1000)


class CallBeside(msgspec.Struct, frozen=True):
    """What is known beside a decision: the tools that the policy names as alternatives, and the
    nearest call of the tool that worked."""

    alternatives: tuple[str, ...] = ()
    similar: Similar | None = None

    def __bool__(self) -> bool:
        return bool(self.alternatives) or self.similar is not None

    @property
    def text(self) -> str:
        """The same in words for an agent; empty where nothing helps."""
        said = []
        if self.alternatives:
            said.append(
                f"the policy names an alternative: "
                f"{', '.join([marked(tool) for tool in self.alternatives])}"
            )
        differs = what_differs(self.similar)
        said += [f"beside a call that worked: {differs}"] if differs else []
        return "; ".join(said)


NOTHING: Final = CallBeside()

USUAL: Final[dict[Again, str]] = {
    "no": "report what is done so far",
    "changed": "do it in another way, or ask the user",
    "approved": "do something else in the meantime",
    "later": "do something else in the meantime",
}
"""What to do instead where whoever refused has not said it."""


class Guidance(msgspec.Struct, frozen=True):
    """What was wrong, what to do instead, whether to try again and from when on (`at_ms`, where it
    is known), and what is known to work. It is made from a decision and is no part of it."""

    wrong: str
    instead: str
    again: Again
    at_ms: int | None = None
    beside: CallBeside = NOTHING

    @property
    def text(self) -> str:
        """All of it in words for an agent."""
        again = again_text(self.again, self.at_ms) if self.wrong else ""
        return "; ".join(
            [said for said in (self.wrong, self.instead, again, self.beside.text) if said]
        )


def guidance_of(decision: Decision, beside: CallBeside = NOTHING) -> Guidance:
    """The guidance for a decision that refuses. What has happened has no alternative."""
    again = again_of(decision)
    helps = beside if again in ("changed", "later") else NOTHING
    advice = decision.advice
    instead = USUAL.get(again, "") if decision.message and not advice else advice
    return Guidance(decision.message, instead, again, at_ms_of(decision), helps)
