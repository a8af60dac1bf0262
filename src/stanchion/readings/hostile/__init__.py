"""Signs that a text wants something of the agent that reads it: commands, hostile phrases, disguises."""

from __future__ import annotations

from stanchion.readings.hostile.commands import GRAMMAR, Grammar
from stanchion.readings.hostile.hostile import hostile, may_be_hostile
from stanchion.readings.hostile.normal import blank, folded, normal

__all__ = ["GRAMMAR", "Grammar", "blank", "folded", "hostile", "may_be_hostile", "normal"]
