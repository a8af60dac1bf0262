"""Choices: what the options of the guard may say, and what follows from them."""

from __future__ import annotations

from typing import Final, Literal

from stanchion.kernel.actions import Action, Risk

Level = Literal["guarded", "no_ddl", "read_only"]

FOUND: Final = (
    "destructive", "privilege", "admin", "function", "unbounded", "table", "unclear", "ddl",
    "stacked", "write",
)  # fmt: skip
"""What can be found, the weightiest first: of two things with the same action the first one is
said."""

_ALWAYS: Final = frozenset(
    {"destructive", "privilege", "admin", "function", "unbounded", "table", "stacked"}
)

REFUSED: Final[dict[Level, frozenset[str]]] = {
    "guarded": _ALWAYS,
    "no_ddl": _ALWAYS | {"ddl"},
    "read_only": frozenset(FOUND),
}
"""What each level refuses. What is unclear goes by the tool's risk where it is not in here."""

BY_RISK: Final = {
    Risk.LOW: Action.WARN,
    Risk.MEDIUM: Action.ESCALATE,
    Risk.HIGH: Action.BLOCK,
    Risk.CRITICAL: Action.BLOCK,
}
"""What becomes of what cannot be understood, by the harm that the tool can do."""
