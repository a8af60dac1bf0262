"""PenguiFlow's guardrails: its gateway, rules, decisions and policy packs, carried out by
Stanchion.

The gateway's rules become guards of a shield, a pack becomes its policy, and every decision is
Stanchion's own.
"""

from __future__ import annotations

from stanchion.dialects.errors import DialectError
from stanchion.dialects.penguiflow.events import (
    ContextSnapshotBuilder,
    ContextSnapshotV1,
    GuardrailContext,
    GuardrailEvent,
    ToolRiskInfo,
    ToolRiskTier,
    TrustBoundary,
)
from stanchion.dialects.penguiflow.gateway import (
    GuardrailGateway,
    apply_policy_config,
)
from stanchion.dialects.penguiflow.packs import (
    GatewayConfig,
    GuardrailPolicyPack,
    load_policy_pack,
)
from stanchion.dialects.penguiflow.redactions import apply_redactions, apply_redactions_to_text
from stanchion.dialects.penguiflow.rules import (
    AsyncRuleEvaluator,
    DefaultRiskRouter,
    GuardrailRule,
    InjectionPatternRule,
    InMemoryGuardInbox,
    RiskRoutingDecision,
    RuleRegistry,
    SecretRedactionRule,
    ToolAllowlistRule,
)
from stanchion.dialects.penguiflow.words import (
    GuardrailAction,
    GuardrailDecision,
    GuardrailSeverity,
    PauseSpec,
    RedactionSpec,
    RetrySpec,
    RuleCost,
    StopSpec,
)

__all__ = [
    "AsyncRuleEvaluator",
    "ContextSnapshotBuilder",
    "ContextSnapshotV1",
    "DefaultRiskRouter",
    "DialectError",
    "GatewayConfig",
    "GuardrailAction",
    "GuardrailContext",
    "GuardrailDecision",
    "GuardrailEvent",
    "GuardrailGateway",
    "GuardrailPolicyPack",
    "GuardrailRule",
    "GuardrailSeverity",
    "InMemoryGuardInbox",
    "InjectionPatternRule",
    "PauseSpec",
    "RedactionSpec",
    "RetrySpec",
    "RiskRoutingDecision",
    "RuleCost",
    "RuleRegistry",
    "SecretRedactionRule",
    "StopSpec",
    "ToolAllowlistRule",
    "ToolRiskInfo",
    "ToolRiskTier",
    "TrustBoundary",
    "apply_policy_config",
    "apply_redactions",
    "apply_redactions_to_text",
    "load_policy_pack",
]
