"""What the runtime raises."""

from __future__ import annotations

from typing import Any

from holdfast.kernel.actions import Action
from holdfast.kernel.decision import Decision


class HoldfastError(Exception):
    """Anything Holdfast raises on its own account."""


class Refused(HoldfastError):
    """An action did not go ahead. Its text is what the agent should read; `decision` says the rest.

    Where the whole run is over, `partial` is what it had produced until then.
    """

    def __init__(self, decision: Decision, approvers: tuple[str, ...] = (), partial: tuple[Any, ...] = ()) -> None:
        super().__init__(decision, approvers, partial)
        self.decision = decision
        self.partial = partial
        self.approvers = approvers if decision.action == Action.ESCALATE else ()

    def __str__(self) -> str:
        said = [self.decision.message, self.decision.advice]
        if self.approvers:
            said.append(f"it needs the approval of {' or '.join(self.approvers)}")
        return "; ".join(words for words in said if words)

    @property
    def waits(self) -> bool:
        """Whether a person's approval is what is missing."""
        return self.decision.action == Action.ESCALATE

    @property
    def ended(self) -> bool:
        """Whether the whole run is over."""
        return self.decision.action == Action.HALT


class DeadlineExceeded(HoldfastError, TimeoutError):
    """A tool did not finish in time. An async tool was cancelled; a sync one may still be at work."""


class ToolFailed(HoldfastError):
    """A tool raised, and its error text was redacted; the original error is withheld."""


class NoRun(HoldfastError):
    """A shielded tool was called outside a run."""
