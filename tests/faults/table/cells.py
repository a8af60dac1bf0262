"""A cell of the table: which fault, at which stage, under which pack; and what came of it."""

from __future__ import annotations

from typing import Final, Literal

import msgspec

STAGES: Final = (
    "tool_call",
    "tool_result",
    "error",
    "model_call",
    "model_chunk",
    "model_reply",
    "prompt",
    "egress",
    "charge",
    "handoff",
)
RUN_BY_US: Final = frozenset(
    {"tool_call", "tool_result", "error", "model_call", "model_chunk", "model_reply"}
)
"""Stages of actions that the library itself starts, so that it has to say what came of them."""
AFTER: Final = frozenset({"tool_result", "error", "model_chunk", "model_reply"})
"""Stages at which the action has happened already."""
PACKS: Final = ("default", "strict", "coding-agent", "database", "finance", "mcp", "shadow-start")
WATCHES: Final = "shadow-start"
"""The pack that only watches, and refuses nothing."""

RESTART: Final = "after a restart"
ACCEPTED: Final = "when an operator accepts the store"

Recorded = Literal["yes", "later", "no"]


class Cell(msgspec.Struct, frozen=True, order=True):
    """One cell."""

    fault: str
    stage: str
    pack: str

    @property
    def name(self) -> str:
        """What a test calls it."""
        return f"{self.fault} / {self.stage} / {self.pack}"


class Outcome(msgspec.Struct, frozen=True, omit_defaults=True):
    """What came of it.

    `proceeded` is what its caller found. `ran` says whether the action really happened, and
    `admitted` whether a refusal that came afterwards says so. `recorded` is about the event of the
    stage, `outcome` about what came of the action. `recovered` says when the next ordinary call
    goes ahead, once the fault is over.
    """

    proceeded: str
    ran: bool
    recorded: Recorded
    recovered: str
    outcome: Recorded | None = None
    admitted: bool = True
    code: str = ""
