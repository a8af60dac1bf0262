"""Answers: what the memory says against a call, as plain data that a record keeps and a decision is replayed from."""

from __future__ import annotations

from typing import Any, Final

from stanchion.guards.flow.memory import Memory
from stanchion.guards.flow.segments import COMMAND, HOSTILE
from stanchion.guards.flow.source import Sighting

SHOWN: Final = 240
"""How much of a text a person is shown."""
CONSIDERED: Final = 5
"""How many requests a person is shown."""

Answer = dict[str, Any]
"""What was found: the rule, the parameter, its value, where that comes from, and what the user had asked for."""


def answer(
    memory: Memory, rule: str, name: str = "", value: str = "", place: Sighting | None = None, note: str = ""
) -> Answer:
    """What is said against a call by one rule."""
    said: Answer = {"rule": rule}
    if name:
        said["parameter"] = name[:SHOWN]
    if value:
        said["value"] = value[:SHOWN]
    if note:
        said["note"] = note[:SHOWN]
    if place is not None:
        said |= origin(place)
    asked = [request.said for request in memory.user.requests[:CONSIDERED]]
    if asked:
        said["asked"] = asked
    if memory.full:
        said["full"] = True
    return said


def origin(place: Sighting, secret: bool = False) -> Answer:
    """Where a value comes from: the tool, the number of its result, the field, and the sentence it stands in."""
    found: Answer = {"tool": place.source.tool, "result": place.source.number}
    if place.leaf.field:
        found["field"] = place.leaf.field[:SHOWN]
    if not secret:
        found["untrusted"] = place.segment.text[:SHOWN]
    if place.segment.flags & HOSTILE:
        found["wants"] = "it speaks to the agent"
    elif place.segment.flags & COMMAND:
        found["wants"] = "it asks for something to be done"
    return found
