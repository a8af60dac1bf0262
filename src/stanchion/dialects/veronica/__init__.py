"""VERONICA's execution shield and runtime core, in its own words: names, configuration and defaults
are those of its document, and Stanchion judges, counts, keeps states and records."""

from __future__ import annotations

from stanchion.dialects.errors import DialectError
from stanchion.dialects.veronica.core import (
    AgentStepGuard,
    BudgetEnforcer,
    CircuitBreaker,
    CircuitState,
    RetryContainer,
)
from stanchion.dialects.veronica.integration import VeronicaIntegration
from stanchion.dialects.veronica.partial import PartialBufferOverflow, PartialResultBuffer
from stanchion.dialects.veronica.shield import (
    BudgetBoundaryHook,
    BudgetConfig,
    BudgetWindowHook,
    CircuitBreakerConfig,
    Decision,
    EgressAllowlistHook,
    EgressBoundaryHook,
    EgressConfig,
    ErrorRateConfig,
    NoopBudgetBoundaryHook,
    NoopEgressBoundaryHook,
    NoopPreDispatchHook,
    NoopRetryBoundaryHook,
    PreDispatchHook,
    RetryBoundaryHook,
    SafeModeConfig,
    SafeModeHook,
    SecretGuardConfig,
    SecretGuardHook,
    ShieldBlockedError,
    ShieldConfig,
    ShieldPipeline,
    ShieldState,
    ToolCallContext,
)

__all__ = [
    "AgentStepGuard",
    "BudgetBoundaryHook",
    "BudgetConfig",
    "BudgetEnforcer",
    "BudgetWindowHook",
    "CircuitBreaker",
    "CircuitBreakerConfig",
    "CircuitState",
    "Decision",
    "DialectError",
    "EgressAllowlistHook",
    "EgressBoundaryHook",
    "EgressConfig",
    "ErrorRateConfig",
    "NoopBudgetBoundaryHook",
    "NoopEgressBoundaryHook",
    "NoopPreDispatchHook",
    "NoopRetryBoundaryHook",
    "PartialBufferOverflow",
    "PartialResultBuffer",
    "PreDispatchHook",
    "RetryBoundaryHook",
    "RetryContainer",
    "SafeModeConfig",
    "SafeModeHook",
    "SecretGuardConfig",
    "SecretGuardHook",
    "ShieldBlockedError",
    "ShieldConfig",
    "ShieldPipeline",
    "ShieldState",
    "ToolCallContext",
    "VeronicaIntegration",
]
