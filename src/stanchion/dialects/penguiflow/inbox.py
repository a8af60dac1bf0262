"""The inbox of DEEP rules. The questions themselves wait in Stanchion's own queue, bounded for each
rule and run."""

from __future__ import annotations

from typing import Any

from stanchion.dialects.errors import DialectError
from stanchion.dialects.penguiflow.rules import RuleRegistry


class AsyncRuleEvaluator:
    """Says which DEEP rules are asked about an event: all that judge it, whatever the event
    says."""

    def __init__(self, registry: RuleRegistry) -> None:
        if not isinstance(registry, RuleRegistry):
            raise DialectError(
                f"AsyncRuleEvaluator was given a `{type(registry).__name__}`: give it the "
                f"RuleRegistry"
            )
        self.registry = registry

    def rules(self, event_type: str) -> list[Any]:
        """The DEEP rules that are asked about such an event."""
        return self.registry.get_async_rules(event_type)


class InMemoryGuardInbox:
    """Has DEEP rules asked in this process. What they answer too late enters the run's next
    event."""

    def __init__(self, evaluator: AsyncRuleEvaluator) -> None:
        if not isinstance(evaluator, AsyncRuleEvaluator):
            raise DialectError(
                f"InMemoryGuardInbox was given a `{type(evaluator).__name__}`: give it "
                f"AsyncRuleEvaluator(registry)"
            )
        self.evaluator = evaluator


def checked_inbox(given: Any, registry: RuleRegistry) -> InMemoryGuardInbox:
    """The inbox of a gateway, which asks the rules of its registry; made where none was given."""
    if given is None:
        return InMemoryGuardInbox(AsyncRuleEvaluator(registry))
    if not isinstance(given, InMemoryGuardInbox):
        raise DialectError(
            f"`guard_inbox` is a `{type(given).__name__}`: give an InMemoryGuardInbox, or leave it "
            f"out"
        )
    if given.evaluator.registry is not registry:
        raise DialectError(
            "`guard_inbox` asks the rules of another RuleRegistry: give it "
            "AsyncRuleEvaluator(registry)"
        )
    return given
