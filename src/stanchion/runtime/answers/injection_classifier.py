"""How likely texts are to command an agent, asked by the guard of that name: the same every
time."""

from __future__ import annotations

from typing import Any

from stanchion.readings.hostile.likeness import chance


def classified(asked: Any) -> dict[str, Any]:
    """The chance that one of several texts tries to command an agent: that of the likeliest."""
    return {"chance": max([chance(text) for text in asked.texts], default=0.0)}
