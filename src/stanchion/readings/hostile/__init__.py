"""Signs that a text speaks to the agent that reads it: hostile phrases, disguises."""

from __future__ import annotations

from stanchion.readings.hostile.hostile import hostile, may_be_hostile
from stanchion.readings.hostile.normal import blank, folded, normal

__all__ = ["blank", "folded", "hostile", "may_be_hostile", "normal"]
