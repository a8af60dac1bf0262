"""What is known of a claim, as one word."""

from __future__ import annotations

from enum import Enum


class CheckVerdict(Enum):
    """What is known of a claim."""

    PROVABLE = "provable"
    REFUTABLE = "refutable"
    UNDECIDABLE = "undecidable"
    ILL_TYPED = "ill-typed"
