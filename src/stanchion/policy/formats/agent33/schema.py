"""The structs that are the schema of an AGENT-33 guardrail file."""

from __future__ import annotations

from typing import Final, Literal

from stanchion.policy.sections import FileSection

Hook = Literal["pre_execution", "post_execution", "pre_handoff", "post_handoff", "on_error"]
CategoryName = Literal["safety", "quality", "compliance", "budget", "scope"]

CATEGORIES: Final = ("safety", "compliance", "budget", "scope", "quality")
"""In the order in which ties between priorities are broken."""
ACTIONS: Final = ("block", "warn", "escalate", "log")
"""What a failed check may lead to."""


class GuardrailScope(FileSection, frozen=True):
    """Whom a guardrail concerns; `*` is everybody."""

    agents: tuple[str, ...] | str = "*"
    tasks: tuple[str, ...] | str = "*"
    tools: tuple[str, ...] | str = "*"


class GuardrailCondition(FileSection, frozen=True):
    """When a guardrail applies."""

    expression: str = "true"
    applies_to: GuardrailScope = GuardrailScope()


class Validation(FileSection, frozen=True):
    """What a guardrail checks, and what follows where the check fails; if absent, what the risk
    level says."""

    check: str
    action_on_fail: str | None = None
    threshold: float | str | None = None


class Thresholds(FileSection, frozen=True):
    """Shares of a budget at which a built-in guardrail speaks."""

    warn: str | None = None
    escalate: str | None = None
    block: str | None = None


class GuardrailBypass(FileSection, frozen=True):
    """Whether somebody may let an action past a guardrail, and who."""

    allowed: bool
    requires_approval: str = ""
    audit_required: Literal[True] = True


class Guardrail(FileSection, frozen=True):
    """A guardrail written out in full."""

    id: str
    name: str
    type: Hook
    category: CategoryName
    validation: Validation
    priority: int | None = None
    description: str = ""
    enabled: bool = True
    condition: GuardrailCondition = GuardrailCondition()
    bypass: GuardrailBypass = GuardrailBypass(allowed=False)


class ShortGuardrail(FileSection, frozen=True):
    """A guardrail in the short form of the lists of a category."""

    id: str
    name: str
    check: str
    action_on_fail: str | None = None
    type: Hook | None = None
    priority: int | None = None
    threshold: float | str | None = None
    description: str = ""
    enabled: bool = True
    condition: GuardrailCondition = GuardrailCondition()
    bypass: GuardrailBypass = GuardrailBypass(allowed=False)


class BuiltIn(FileSection, frozen=True):
    """A guardrail that is always active."""

    id: str
    check: str
    action_on_fail: str
    type: Hook | None = None
    priority: int | None = None
    name: str = ""
    thresholds: Thresholds = Thresholds()
    enabled: bool = True


class RiskLevelMeaning(FileSection, frozen=True):
    """What a risk level means: which guardrails are active, and what follows where one says
    nothing."""

    active_guardrails: tuple[str, ...]
    action_on_fail_default: str
    additional: str | None = None


class RiskLevelMapping(FileSection, frozen=True):
    """The risk levels, each with its meaning."""

    low: RiskLevelMeaning | None = None
    medium: RiskLevelMeaning | None = None
    high: RiskLevelMeaning | None = None
    critical: RiskLevelMeaning | None = None


class RiskIntegration(FileSection, frozen=True):
    """What guardrails have to do with risk."""

    risk_level_mapping: RiskLevelMapping


class ChainLink(FileSection, frozen=True):
    """A guardrail's place in a chain."""

    guardrail: str


class GuardrailFile(FileSection, frozen=True):
    """One guardrail file."""

    guardrail: Guardrail | None = None
    guardrails: tuple[Guardrail, ...] = ()
    custom_guardrail: Guardrail | None = None
    custom_guardrails: tuple[Guardrail, ...] = ()
    safety_guardrails: tuple[ShortGuardrail, ...] = ()
    quality_guardrails: tuple[ShortGuardrail, ...] = ()
    compliance_guardrails: tuple[ShortGuardrail, ...] = ()
    budget_guardrails: tuple[ShortGuardrail, ...] = ()
    scope_guardrails: tuple[ShortGuardrail, ...] = ()
    builtin_token_budget: BuiltIn | None = None
    builtin_time_budget: BuiltIn | None = None
    builtin_scope_boundary: BuiltIn | None = None
    builtin_tool_allowlist: BuiltIn | None = None
    pre_execution_chain: tuple[ChainLink, ...] = ()
    post_execution_chain: tuple[ChainLink, ...] = ()
    pre_handoff_chain: tuple[ChainLink, ...] = ()
    post_handoff_chain: tuple[ChainLink, ...] = ()
    on_error_chain: tuple[ChainLink, ...] = ()
    risk_integration: RiskIntegration | None = None


KEYS: Final = GuardrailFile.__struct_fields__
"""What stands on top of a guardrail file, and by which one is known."""
