"""The names of attributes: those of OpenTelemetry's conventions for generative AI, and Stanchion's
own beside them."""

from __future__ import annotations

from typing import Final

OPERATION: Final = "gen_ai.operation.name"
AGENT: Final = "gen_ai.agent.name"
TOOL: Final = "gen_ai.tool.name"
TOOL_CALL: Final = "gen_ai.tool.call.id"
MODEL: Final = "gen_ai.request.model"
ERROR: Final = "error.type"

INVOKE_AGENT: Final = "invoke_agent"
EXECUTE_TOOL: Final = "execute_tool"
CHAT: Final = "chat"

RUN: Final = "stanchion.run.id"
TASK: Final = "stanchion.task"
TENANT: Final = "stanchion.tenant"
PARENT: Final = "stanchion.run.parent.id"
DECISION: Final = "stanchion.decision.id"
ACTION: Final = "stanchion.action"
CODE: Final = "stanchion.code"
CODES: Final = "stanchion.codes"
GUARD: Final = "stanchion.guard"
STAGE: Final = "stanchion.stage"
POLICY: Final = "stanchion.policy.hash"
OUTCOME: Final = "stanchion.outcome.action"
"""What was decided about what a call gave back."""
ENDED: Final = "stanchion.run.end"
UNKNOWN: Final = "stanchion.outcome.unknown"
"""Set on a call of which nobody has said what came of it."""

DECIDED: Final = "stanchion.decision"
"""The name of the event that a decision is on a span."""

OPERATION_BOUNDS: Final = [
    0.01,
    0.02,
    0.04,
    0.08,
    0.16,
    0.32,
    0.64,
    1.28,
    2.56,
    5.12,
    10.24,
    20.48,
    40.96,
    81.92,
]
AGENT_BOUNDS: Final = [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 102.4, 204.8, 409.6]
