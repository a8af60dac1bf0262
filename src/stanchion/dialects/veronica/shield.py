"""The execution shield: its configuration, its types, its hooks and its pipeline, in one place to
import from."""

from __future__ import annotations

from stanchion.dialects.veronica.config import (
    BudgetConfig,
    CircuitBreakerConfig,
    EgressConfig,
    ErrorRateConfig,
    SafeModeConfig,
    SecretGuardConfig,
    ShieldConfig,
)
from stanchion.dialects.veronica.hooks import (
    BudgetBoundaryHook,
    EgressBoundaryHook,
    NoopBudgetBoundaryHook,
    NoopEgressBoundaryHook,
    NoopPreDispatchHook,
    NoopRetryBoundaryHook,
    PreDispatchHook,
    RetryBoundaryHook,
)
from stanchion.dialects.veronica.pipeline import ShieldBlockedError, ShieldPipeline
from stanchion.dialects.veronica.shipped import (
    BudgetWindowHook,
    EgressAllowlistHook,
    SafeModeHook,
    SecretGuardHook,
)
from stanchion.dialects.veronica.words import Decision, ShieldState, ToolCallContext

__all__ = [
    "BudgetBoundaryHook",
    "BudgetConfig",
    "BudgetWindowHook",
    "CircuitBreakerConfig",
    "Decision",
    "EgressAllowlistHook",
    "EgressBoundaryHook",
    "EgressConfig",
    "ErrorRateConfig",
    "NoopBudgetBoundaryHook",
    "NoopEgressBoundaryHook",
    "NoopPreDispatchHook",
    "NoopRetryBoundaryHook",
    "PreDispatchHook",
    "RetryBoundaryHook",
    "SafeModeConfig",
    "SafeModeHook",
    "SecretGuardConfig",
    "SecretGuardHook",
    "ShieldBlockedError",
    "ShieldConfig",
    "ShieldPipeline",
    "ShieldState",
    "ToolCallContext",
]
