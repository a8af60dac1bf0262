"""The policy files among the blocks of AGENT-33's specification, by what they are."""

from pathlib import Path
from typing import Final

from tests.dialects.listed import FOLDER

LINES: Final = {
    "budget_guardrails": 221,
    "builtin_scope_boundary": 418,
    "builtin_time_budget": 402,
    "builtin_token_budget": 386,
    "builtin_tool_allowlist": 431,
    "compliance_guardrails": 194,
    "custom_guardrail": 477,
    "pre_execution_chain": 295,
    "quality_guardrails": 167,
    "risk_integration": 565,
    "safety_guardrails": 140,
    "scope_guardrails": 250,
}
SPEC: Final[dict[str, Path]] = {
    name: FOLDER / "agent33" / f"{line:03d}.txt" for name, line in LINES.items()
}
