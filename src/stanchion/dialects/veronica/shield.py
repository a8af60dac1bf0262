"""The execution shield: its configuration, its types, its hooks and its pipeline, in one place to
import from."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from stanchion.dialects.veronica.config import (
    BudgetConfig,
    CircuitBreakerConfig,
    EgressConfig,
    ErrorRateConfig,
    SafeModeConfig,
    SecretGuardConfig,
    ShieldConfig,
)
from stanchion.dialects.veronica.pipeline import ShieldBlockedError, ShieldPipeline
from stanchion.dialects.veronica.shipped import (
    BudgetWindowHook,
    EgressAllowlistHook,
    SafeModeHook,
    SecretGuardHook,
)
from stanchion.dialects.veronica.words import Decision, ShieldState, ToolCallContext

# The four boundaries as protocols: any object with the method is a hook. `None` means that it has
# no opinion.


@runtime_checkable
class PreDispatchHook(Protocol):
    """Asked before every call of a model or a tool."""

    def before_llm_call(self, ctx: ToolCallContext) -> Decision | None: ...


@runtime_checkable
class EgressBoundaryHook(Protocol):
    """Asked before an HTTP request leaves."""

    def before_egress(self, ctx: ToolCallContext, url: str, method: str) -> Decision | None: ...


@runtime_checkable
class RetryBoundaryHook(Protocol):
    """Asked when a call has raised an exception."""

    def on_error(self, ctx: ToolCallContext, err: BaseException) -> Decision | None: ...


@runtime_checkable
class BudgetBoundaryHook(Protocol):
    """Asked before a cost is recorded."""

    def before_charge(self, ctx: ToolCallContext, cost_usd: float) -> Decision | None: ...


class NoopPreDispatchHook:
    """Has no opinion on any call."""

    def before_llm_call(self, ctx: ToolCallContext) -> Decision | None:
        """No opinion."""
        return None


class NoopEgressBoundaryHook:
    """Has no opinion on any request."""

    def before_egress(self, ctx: ToolCallContext, url: str, method: str) -> Decision | None:
        """No opinion."""
        return None


class NoopRetryBoundaryHook:
    """Has no opinion on any error."""

    def on_error(self, ctx: ToolCallContext, err: BaseException) -> Decision | None:
        """No opinion."""
        return None


class NoopBudgetBoundaryHook:
    """Has no opinion on any charge."""

    def before_charge(self, ctx: ToolCallContext, cost_usd: float) -> Decision | None:
        """No opinion."""
        return None


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
