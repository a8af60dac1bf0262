"""Egress: what stands against a request that is about to leave."""

from __future__ import annotations

from typing import Any

from stanchion.guards.flow.addresses import carries
from stanchion.guards.flow.answer import Answer, answer, origin
from stanchion.guards.flow.content import disclosed
from stanchion.guards.flow.memory import Memory
from stanchion.guards.flow.segments import HOSTILE
from stanchion.guards.flow.values import Value, values


def leaving(memory: Memory, url: str, payload: Any) -> Answer | None:
    """A request may not go where a hostile text sends it, nor carry away what was read."""
    if not memory.sources:
        return None
    whole = Value("url", url)
    if memory.user.has(whole):
        return None
    places = memory.places(whole)
    for place in places:
        if place.segment.flags & HOSTILE and not place.source.trusted:
            return answer(memory, "dictated", "url", url, place)
    found = None if places else carries(memory, url)
    if found is not None:
        return found
    for name, text in values(payload):
        told = disclosed(memory, Value(name, text))
        if told is not None:
            return {**answer(memory, "discloses", name if name else "payload"), **origin(told, secret=True)}
    return None
