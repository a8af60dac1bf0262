"""What the runtime raises."""

from __future__ import annotations

from typing import Any

from holdfast.kernel.actions import Action
from holdfast.kernel.decision import Decision
from holdfast.kernel.words import advice_of, message_of


class HoldfastError(Exception):
    """Anything Holdfast raises on its own account."""


class Refused(HoldfastError):
    """An action did not go ahead. Its text is what the agent should read; `decision` says the rest.

    Where the whole run is over, or its steps, budget or time are used up, `partial` is what it had produced until then.
    Where a person has to answer, or has refused it, `ticket` is the id of what they were asked.
    """

    def __init__(
        self,
        decision: Decision,
        approvers: tuple[str, ...] = (),
        partial: tuple[Any, ...] = (),
        ticket: str | None = None,
    ) -> None:
        super().__init__(decision, approvers, partial, ticket)
        self.decision = decision
        self.ticket = ticket
        self.partial = partial
        self.approvers = approvers if decision.action == Action.ESCALATE else ()

    def __str__(self) -> str:
        said = [self.decision.message, self.decision.advice]
        if self.waits and self.ticket is not None:
            from holdfast.approvals.words import WAITING

            said += [message_of(WAITING, (self.ticket, self.ticket)), advice_of(WAITING, ())]
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


class StateError(HoldfastError):
    """A state of the shield cannot be changed like that."""
