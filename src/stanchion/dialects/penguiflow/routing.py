"""Risk routing: how long an event waits for DEEP rules, and what their silence means, by the risk
of its tool."""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from stanchion.dialects.errors import DialectError
from stanchion.dialects.penguiflow.events import ContextSnapshotV1, GuardrailEvent, ToolRiskTier

LONGEST_MS: Final = 60_000
"""How long a call waits for a rule at the most."""
OnTimeout = Literal["allow", "pause", "stop"]


class RiskRoutingDecision(msgspec.Struct, frozen=True):
    """How long an event waits, and what happens without an answer. Every DEEP rule is asked:
    nothing takes one out."""

    async_wait_ms: float = 0.0
    on_timeout: OnTimeout = "allow"


class DefaultRiskRouter:
    """Routes by the risk of the tool: a critical call is stopped without an answer, one of high
    risk waits for a person, others go ahead."""

    def __init__(
        self,
        high_risk_wait_ms: float = 200.0,
        medium_risk_wait_ms: float = 100.0,
        critical_fail_closed: bool = True,
    ) -> None:
        self.changes = 0
        """How often the times were given: a gateway puts them in force when they change."""
        self.set_waits(high_risk_wait_ms, medium_risk_wait_ms)
        if critical_fail_closed is not True:
            raise DialectError("`critical_fail_closed` cannot be switched off: leave it out")

    def set_waits(self, high_risk_wait_ms: float, medium_risk_wait_ms: float) -> None:
        """Say how long calls of high and critical risk wait, and those of medium risk, in
        milliseconds."""
        for name, value in (
            ("high_risk_wait_ms", high_risk_wait_ms),
            ("medium_risk_wait_ms", medium_risk_wait_ms),
        ):
            if type(value) not in (int, float) or not 0 <= value <= LONGEST_MS:
                raise DialectError(
                    f"`{name}` is `{value}`: give milliseconds from 0 to {LONGEST_MS:,}"
                )
        self.high_risk_wait_ms, self.medium_risk_wait_ms = high_risk_wait_ms, medium_risk_wait_ms
        self.changes += 1

    def route(
        self, event: GuardrailEvent, context_snapshot: ContextSnapshotV1
    ) -> RiskRoutingDecision:
        """How long this event waits; what is no call of a tool is of medium risk."""
        tool = context_snapshot.current_tool
        risk = ToolRiskTier.MEDIUM if tool is None else tool.risk_tier
        match risk:
            case ToolRiskTier.CRITICAL:
                return RiskRoutingDecision(self.high_risk_wait_ms, "stop")
            case ToolRiskTier.HIGH:
                return RiskRoutingDecision(self.high_risk_wait_ms, "pause")
            case ToolRiskTier.MEDIUM:
                return RiskRoutingDecision(self.medium_risk_wait_ms)
            case ToolRiskTier.LOW:
                return RiskRoutingDecision()
