"""AGENT-33's Guardrails & Validation Hooks: guardrail files, five hooks, chain results, bypasses
and their words."""

from stanchion.approvals.bypass import BypassRequest, Urgency
from stanchion.approvals.errors import BypassRefused
from stanchion.dialects.agent33.guardrails import Guardrails
from stanchion.dialects.agent33.hooks import Hooks
from stanchion.dialects.agent33.results import (
    Alert,
    ChainResult,
    ErrorResult,
    Escalation,
    GuardrailResult,
)
from stanchion.dialects.agent33.settings import Agent, Files, OnError, Scope, Task
from stanchion.dialects.agent33.words import (
    Category,
    ErrorSeverity,
    GuardrailMode,
    HookType,
    RecoveryAction,
    RiskLevel,
    Verdict,
)
from stanchion.dialects.errors import DialectError

__all__ = [
    "Agent",
    "Alert",
    "BypassRefused",
    "BypassRequest",
    "Category",
    "ChainResult",
    "DialectError",
    "ErrorResult",
    "ErrorSeverity",
    "Escalation",
    "Files",
    "GuardrailMode",
    "GuardrailResult",
    "Guardrails",
    "HookType",
    "Hooks",
    "OnError",
    "RecoveryAction",
    "RiskLevel",
    "Scope",
    "Task",
    "Urgency",
    "Verdict",
]
