"""Results: what a chain of guardrails has said, and what the agent and whoever looks after it are
told."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from stanchion.approvals.bypass import BypassRequest
from stanchion.dialects.agent33.words import (
    MODE_OF,
    ErrorSeverity,
    GuardrailMode,
    HookType,
    RecoveryAction,
    Verdict,
)
from stanchion.kernel.actions import Action
from stanchion.kernel.chain_result import VERDICT_OF, VERDICTS
from stanchion.kernel.decision import Decision
from stanchion.kernel.findings import ROLLBACK
from stanchion.runtime.deciding.faults import Trouble

VERDICT: Final = {action: Verdict(said) for action, said in VERDICT_OF.items()}
RANK: Final = {Verdict(said): rank for rank, said in enumerate(VERDICTS)}
SEVERITY_OF: Final = {
    "recovery.recoverable": ErrorSeverity.RECOVERABLE,
    "recovery.unsafe": ErrorSeverity.RECOVERABLE,
    "recovery.exhausted": ErrorSeverity.RECOVERABLE,
    "recovery.fatal": ErrorSeverity.FATAL,
    "recovery.unknown": ErrorSeverity.UNKNOWN,
}
RECOVERY_OF: Final = {
    Action.RETRY: RecoveryAction.RETRY,
    Action.ESCALATE: RecoveryAction.ESCALATE,
    Action.QUARANTINE: RecoveryAction.QUARANTINE,
}


class GuardrailResult(msgspec.Struct, frozen=True):
    """What one guardrail said, why, and how long it took where that was measured."""

    guardrail_id: str
    result: Verdict
    message: str
    duration_ms: float | None


class ChainResult:
    """What a chain of guardrails said. It is a view of Stanchion's `decision`, worked out where it
    is asked for."""

    __slots__ = ("about", "args", "decision", "escalation", "hook")

    def __init__(
        self,
        hook: HookType,
        decision: Decision,
        escalation: str | None = None,
        about: str = "",
        args: dict[str, Any] | None = None,
    ) -> None:
        self.hook = hook
        self.decision = decision
        """Stanchion's own answer, with everything that the specification has no word for."""
        self.escalation = escalation
        """The id of what waits for a person; `None` where nobody is asked."""
        self.about, self.args = about, args
        """The tool of an action and its arguments, or who receives a handoff."""

    @property
    def final_verdict(self) -> Verdict:
        """The worst of what the guardrails said."""
        said = [VERDICT[finding.action] for finding in self.decision.findings]
        return max(said, key=RANK.__getitem__, default=Verdict.PASS)

    @property
    def details(self) -> tuple[GuardrailResult, ...]:
        """What each guardrail said that was reached, in the chain's order."""
        said = self.decision.chain_result().details
        return tuple([GuardrailResult(one[0], Verdict(one[1]), one[2], one[3]) for one in said])

    @property
    def skipped(self) -> tuple[str, ...]:
        """The guardrails that a block has skipped."""
        return self.decision.chain_result().skipped

    @property
    def proceeds(self) -> bool:
        """Whether the action goes ahead: it passed, or was warned of."""
        return self.decision.proceeds

    @property
    def message(self) -> str:
        """Why, for the agent; empty where the chain passed."""
        return "" if self._passed else self.decision.message

    @property
    def remediation(self) -> str:
        """What the agent can do about it; empty where the chain passed."""
        return "" if self._passed else self.decision.advice

    @property
    def _passed(self) -> bool:
        return self.proceeds and self.final_verdict is Verdict.PASS

    @property
    def guardrail_mode(self) -> GuardrailMode:
        """How strictly it was judged."""
        return MODE_OF[self.decision.inputs.mode]

    def as_dict(self) -> dict[str, Any]:
        """The result with the fields of the specification, as plain data."""
        details = [msgspec.to_builtins(one) for one in self.details]
        return {"final_verdict": str(self.final_verdict), "details": details}

    def __repr__(self) -> str:
        return (
            f"<ChainResult {self.hook}: "
            f"{self.final_verdict}{f', {self.message}' if self.message else ''}>"
        )


class ErrorResult(ChainResult):
    """What the hook on errors said: how bad the error is, and what becomes of the action that
    failed."""

    __slots__ = ("context",)

    def __init__(self, decision: Decision, escalation: str | None, context: Trouble | None) -> None:
        super().__init__(HookType.ON_ERROR, decision, escalation)
        self.context = context
        """What is known of the failure, for whoever has to find out why."""

    @property
    def severity(self) -> ErrorSeverity:
        """How bad the error is. What the agent itself has to correct, such as a wrong argument, is
        recoverable."""
        said = [SEVERITY_OF[one.code] for one in self.decision.findings if one.code in SEVERITY_OF]
        return said[0] if said else ErrorSeverity.RECOVERABLE

    @property
    def recovery(self) -> RecoveryAction | None:
        """What becomes of the action; `None` where the error is handed on to the agent as it is."""
        if ROLLBACK in self.decision.effects:
            return RecoveryAction.ROLLBACK
        return RECOVERY_OF.get(self.decision.action)


class Escalation(msgspec.Struct, frozen=True):
    """What waits for somebody's judgement: which action of whom, why, who is asked in which order
    and by now, and how many seconds there were to answer, or to review an emergency. Without an
    answer it is blocked. `bypass_request` is what was asked for where it is a bypass; `starts` says
    whether the action can go ahead on a yes."""

    id: str
    guardrail_id: str
    agent_id: str
    task: str
    action: str
    context: Any
    reason: str
    state: str
    priority_order: tuple[str, ...]
    escalation_target: tuple[str, ...]
    timeout: float
    bypass_request: BypassRequest | None = None
    starts: bool = True


class Alert(msgspec.Struct, frozen=True):
    """An alert of the specification: its name, what has happened in words, and which agent or
    guardrail it is about."""

    name: str
    message: str
    agent_id: str = ""
    about: str = ""
