"""How much may be open at once: of the questions and assumptions of the second law, and of the
actions of the first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

WIP: Final = 2
LIMITS: Final[Mapping[str, int]] = {
    "mistral:latest": 1,
    "deepseek-r1:14b": 3,
    "granite3.1-moe:3b": 3,
}
"""How many things a model can have under way, where that was measured."""


def limit_of(model: str) -> int:
    """How many things a model may have under way."""
    return LIMITS.get(model, WIP)
