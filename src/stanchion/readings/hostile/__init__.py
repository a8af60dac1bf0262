"""Signs that a text speaks to the agent that reads it: hostile phrases, disguises."""

from __future__ import annotations

from stanchion.readings.hostile.normal import blank, folded, normal

__all__ = ["blank", "folded", "normal"]
