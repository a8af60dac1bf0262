"""The words of PenguiFlow's guardrails: actions, what each of them needs to be carried out, and a rule's decision."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Final, Literal

import msgspec

from stanchion.dialects.errors import DialectError
from stanchion.kernel.findings import ASK, ROLLBACK, TELL
from stanchion.policy.nearest import hint

RESERVED: Final = frozenset({ASK, ROLLBACK, TELL})
"""Effects that mean something to Stanchion and nothing to PenguiFlow: a rule cannot have them."""
MOST_ATTEMPTS: Final = 100


class GuardrailAction(StrEnum):
    """What a rule wants done."""

    ALLOW = "ALLOW"
    REDACT = "REDACT"
    RETRY = "RETRY"
    PAUSE = "PAUSE"
    STOP = "STOP"


class GuardrailSeverity(StrEnum):
    """How bad it is that a rule found something."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"


class RuleCost(StrEnum):
    """How much a rule costs: FAST ones are judged inline, DEEP ones from a queue."""

    FAST = "fast"
    DEEP = "deep"


class RedactionSpec(msgspec.Struct, frozen=True):
    """What is taken out: the characters `start_offset` to `end_offset` of the text at `path`, or the whole value there.

    `text` is the event's text. Other paths lead into arguments and results: `rows.0.name`, or `/rows/0/name`.
    """

    path: str = "text"
    replacement: str = "[REDACTED]"
    entity_type: str | None = None
    start_offset: int | None = None
    end_offset: int | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.path, str) or not self.path:
            raise DialectError(f"RedactionSpec.path is `{self.path}`: write `text`, or the path of a value")
        if (self.start_offset is None) != (self.end_offset is None):
            raise DialectError("RedactionSpec has one offset: give `start_offset` and `end_offset`, or neither")
        if (
            self.start_offset is not None
            and self.end_offset is not None
            and not 0 <= self.start_offset < self.end_offset
        ):
            said = f"{self.start_offset} to {self.end_offset}"
            raise DialectError(f"RedactionSpec has the offsets {said}: give a start that lies before the end")


class RetrySpec(msgspec.Struct, frozen=True):
    """How often a step is tried again, and what the model is told then."""

    max_attempts: int = 2
    corrective_message: str = ""

    def __post_init__(self) -> None:
        if type(self.max_attempts) is not int or not 0 <= self.max_attempts <= MOST_ATTEMPTS:
            limit = f"a whole number from 0 to {MOST_ATTEMPTS}"
            raise DialectError(f"RetrySpec.max_attempts is `{self.max_attempts}`: give {limit}")


class PauseSpec(msgspec.Struct, frozen=True):
    """Who is asked, in which words, for how long, and what waits meanwhile."""

    scope: Literal["run", "step", "tool_call"] = "tool_call"
    approver_roles: tuple[str, ...] = ()
    prompt: str = ""
    timeout_s: float = 300.0

    def __post_init__(self) -> None:
        scopes = ("run", "step", "tool_call")
        if self.scope not in scopes:
            raise DialectError(f"PauseSpec.scope is `{self.scope}`: {hint(str(self.scope), scopes)}")
        if type(self.timeout_s) not in (int, float) or not 0 < self.timeout_s <= 31_536_000:
            raise DialectError(f"PauseSpec.timeout_s is `{self.timeout_s}`: give seconds, more than 0, a year at most")
        roles: object = self.approver_roles
        if isinstance(roles, str):
            raise DialectError(f'PauseSpec.approver_roles is a text: write `("{roles}",)`')


class StopSpec(msgspec.Struct, frozen=True):
    """What a run that ends says: a code for programs, the final answer for the user, the reason for operators."""

    error_code: str = "GUARDRAIL_STOP"
    user_message: str = "This request cannot be completed."
    internal_reason: str = ""


class GuardrailDecision(msgspec.Struct, frozen=True):
    """What a rule says of an event, and what the gateway says of all rules together.

    A rule gives its action, its reason, and the specification of the action. The gateway fills in the rest:
    `decision_id` is the id under which the decision is recorded.
    """

    action: GuardrailAction
    rule_id: str = ""
    reason: str = ""
    decision_id: str = ""
    correlation_id: str | None = None
    severity: GuardrailSeverity = GuardrailSeverity.MEDIUM
    confidence: float | None = None
    was_sync: bool = True
    effects: tuple[str, ...] = ()
    redactions: tuple[RedactionSpec, ...] | None = None
    retry: RetrySpec | None = None
    pause: PauseSpec | None = None
    stop: StopSpec | None = None
    classifier_result: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        if type(self.action) is not GuardrailAction:
            self._named("action", GuardrailAction)
        if type(self.severity) is not GuardrailSeverity:
            self._named("severity", GuardrailSeverity)
        if self.effects:
            self._checked_effects()
        if self.retry is not None or self.pause is not None or self.stop is not None:
            self._checked_specs()
        if self.action is GuardrailAction.REDACT and not self.redactions:
            raise DialectError("a GuardrailDecision that says REDACT has no `redactions`: say what is taken out")

    def _named(self, field: str, kind: type[GuardrailAction] | type[GuardrailSeverity]) -> None:
        """Take a word for the member that it names."""
        given = getattr(self, field)
        try:
            msgspec.structs.force_setattr(self, field, kind(given))
        except ValueError:
            raise DialectError(f"GuardrailDecision.{field} is `{given}`: {hint(str(given), list(kind))}") from None

    def _checked_specs(self) -> None:
        for name, kind in (("retry", RetrySpec), ("pause", PauseSpec), ("stop", StopSpec)):
            given = getattr(self, name)
            if given is not None and type(given) is not kind:
                raise DialectError(f"GuardrailDecision.{name} is `{type(given).__name__}`: give a {kind.__name__}")

    def _checked_effects(self) -> None:
        effects: object = self.effects
        if isinstance(effects, str):
            raise DialectError(f'GuardrailDecision.effects is a text: write `("{effects}",)`')
        wrong = sorted(RESERVED.intersection(self.effects))
        if wrong:
            raise DialectError(f"the effect `{wrong[0]}` is Stanchion's own: give it another name")

    def with_effects(self, *more: str) -> GuardrailDecision:
        """The same decision with further effects, each of them once."""
        return msgspec.structs.replace(self, effects=tuple(dict.fromkeys([*self.effects, *more])))
