"""Content: text that is written or sent may not carry what a text dictated, nor what is told to nobody."""

from __future__ import annotations

from typing import Final

from stanchion.guards.flow.answer import Answer, answer, origin
from stanchion.guards.flow.memory import Memory
from stanchion.guards.flow.origins import dictates
from stanchion.guards.flow.segments import HOSTILE, SENSITIVE
from stanchion.guards.flow.source import Sighting
from stanchion.guards.flow.tools import Tool
from stanchion.guards.flow.values import DIGIT, LONG_NUMBER, Value, shapes
from stanchion.kernel.regex import regex
from stanchion.readings.hostile.effects import PAY, SEND, SHARE

REVEALS: Final = SEND | SHARE | PAY
SHORT: Final = 60
"""Up to how many characters a content is one thing; longer ones are looked at sentence by sentence."""
SENTENCES: Final = regex(r"(?<=[.!?])\s+|\n+")
MOST: Final = 40
TELLING: Final = 5
"""How long a word with digits is, at least, to be something that is kept secret."""


def content(memory: Memory, tool: Tool, license: str, value: Value) -> Answer | None:
    """What stands against a text that a call writes or sends."""
    first = DIGIT.search(value.text)
    numbers = first is not None and (memory.wanted().sensitive or LONG_NUMBER.search(value.text, first.start()))
    if numbers or "@" in value.text or "://" in value.text or "www." in value.text:
        found = _carried(memory, tool, license, value)
        if found is not None:
            return found
    return _repeated(memory, tool, license, value)


def _carried(memory: Memory, tool: Tool, license: str, value: Value) -> Answer | None:
    """An address or a number in a text that a text dictated, or that is told to nobody."""
    user = memory.user
    if user.says(value) or memory.deeds.approved(tool.name, value):
        return None
    for shape in shapes(value.text):
        part = Value(value.name, shape)
        if user.has(part):
            continue
        for place in memory.places(part):
            if dictates(memory, tool, license, place):
                return answer(memory, "dictated", value.name, shape, place)
    told = disclosed(memory, value) if tool.effects & REVEALS else None
    if told is None:
        return None
    return {**answer(memory, "discloses", value.name), **origin(told, secret=True)}


def disclosed(memory: Memory, value: Value) -> Sighting | None:
    """Something sensitive in a text that no word of the user's names."""
    if not memory.wanted().sensitive:
        return None
    for word in dict.fromkeys([each for each in value.words if len(each) >= TELLING and not each.isalpha()]):
        if not DIGIT.search(word):
            continue
        part = Value(value.name, word)
        if memory.user.has(part):
            continue
        for place in memory.places(part)[:8]:
            if place.segment.flags & SENSITIVE:
                label = Value("", f"{place.leaf.field} {place.segment.text.partition(':')[0]}".replace("_", " "))
                if memory.user.words.isdisjoint(label.words):
                    return place
    return None


def _repeated(memory: Memory, tool: Tool, license: str, value: Value) -> Answer | None:
    """A sentence that a hostile text has as well; a short text also where it stands in a command to do this."""
    wanted = memory.wanted()
    short = len(value.text) <= SHORT
    if short:
        if " " not in value.normal:
            return None
        parts = [value] if wanted.hostile or wanted.effects & tool.effects else []
    else:
        parts = [Value(value.name, part) for part in SENTENCES.split(value.text)[:MOST]] if wanted.hostile else []
    for part in parts:
        places = wanted.having(part)
        if not places or len(part.words) < (2 if short else 4) or memory.user.has(part):
            continue
        if memory.deeds.approved(tool.name, value):
            return None
        for place in places:
            if place.segment.flags & HOSTILE or (short and dictates(memory, tool, license, place)):
                return answer(memory, "dictated", part.name, part.text, place)
    return None
