"""Saying: what stands against a run's last words, where a text that was read put them into the agent's mouth."""

from __future__ import annotations

from typing import Final

from stanchion.guards.flow.answer import Answer, answer
from stanchion.guards.flow.memory import Memory
from stanchion.guards.flow.origins import entrusted
from stanchion.guards.flow.segments import HOSTILE, PLAIN
from stanchion.guards.flow.source import Sighting
from stanchion.guards.flow.values import Value, shapes
from stanchion.kernel.regex import regex
from stanchion.readings.hostile.effects import SAY

SENTENCES: Final = regex(r"[^\s.!?](?:[^.!?\n]|[.!?](?=\S))*[.!?]*")
RUN: Final = 5
"""So many words in a row that stand in a sentence are its words."""
FEW: Final = 3
"""A sentence of fewer words says nothing."""
MOST: Final = 400
SPANS: Final = 50


def said(memory: Memory, text: str) -> Answer | None:
    """The sentences of an answer that a text wants to be said, with where that was read."""
    if not memory.sources or not (memory.wanted().hostile or memory.wanted().effects & SAY):
        return None
    spans: list[list[int]] = []
    first: Sighting | None = None
    for count, found in enumerate(SENTENCES.finditer(text)):
        if count >= MOST or len(spans) >= SPANS:
            break
        place = _dictated(memory, found.group())
        if place is not None:
            spans.append([*found.span()])
            first = place if first is None else first
    return {**answer(memory, "answer", place=first), "spans": spans} if spans else None


def _dictated(memory: Memory, sentence: str) -> Sighting | None:
    """Where a sentence was dictated: all places of an address in it, or of several words in a row, want it said."""
    for shape in shapes(sentence):
        place = _put_there(memory, Value("", shape))
        if place is not None:
            return place
    words = Value("", sentence).normal.split()
    size = min(RUN, len(words))
    for at in range(len(words) - size + 1 if size >= FEW else 0):
        part = Value("", " ".join(words[at : at + size]).strip(".,:;!?'\"()"))
        place = _put_there(memory, part) if len(part.words) >= FEW and memory.wanted().having(part) else None
        if place is not None:
            return place
    return None


def _put_there(memory: Memory, part: Value) -> Sighting | None:
    if memory.user.has(part):
        return None
    places = memory.places(part)
    return places[0] if places and all(_wants(memory, place) for place in places) else None


def _wants(memory: Memory, place: Sighting) -> bool:
    flags, effects = place.segment.flags, place.segment.effects
    if place.source.trusted:
        return False
    return bool(flags & HOSTILE) or (bool(effects & SAY) and not flags & PLAIN and not entrusted(memory, place))
