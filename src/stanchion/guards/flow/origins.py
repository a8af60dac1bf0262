"""Origins: whether a value comes from the user, or from where the user points."""

from __future__ import annotations

from typing import Final

from stanchion.guards.flow.answer import Answer, answer
from stanchion.guards.flow.licence import ASKED, HANDED_ON
from stanchion.guards.flow.memory import Memory
from stanchion.guards.flow.nouns import MONEY
from stanchion.guards.flow.roles import Role, split
from stanchion.guards.flow.segments import COMMAND, HOSTILE, PLAIN, is_labelled
from stanchion.guards.flow.source import Sighting, shape_of
from stanchion.guards.flow.tools import Tool
from stanchion.guards.flow.values import Value
from stanchion.readings.hostile.effects import BOOK, CREATE, DELETE, PAY, SHARE, UPDATE

FIXED: Final = DELETE | SHARE | BOOK | PAY
"""Effects whose objects have to be complete values of their own."""
DESTINATIONS: Final = (Role.TARGET, Role.SECRET)
WHOM: Final = ("account", "iban", "recipient", "payee", "beneficiary", "bank")


def destination(memory: Memory, tool: Tool, license: str, role: Role, value: Value) -> Answer | None:
    """What stands against a value that says what is done, with what, or where to."""
    user = memory.user
    if role is Role.AMOUNT:
        return _amount(memory, tool, value)
    if user.has(value) or memory.deeds.approved(tool.name, value):
        return None
    places = memory.places(value)
    if not places:
        return _unknown(memory, tool, role, value)
    if len(value.words) > 4 and any(own_field(value, place) and place.source.level for place in places):
        return None
    found = _dictated(memory, tool, license, places)
    if found is not None:
        return answer(memory, "dictated", value.name, value.text, found)
    return _referred(memory, tool, license, role, value, places) if user.spoke else None


def _amount(memory: Memory, tool: Tool, value: Value) -> Answer | None:
    """An amount may be worked out, and so stand nowhere; it may not stand in a hostile sentence."""
    for place in memory.places(value):
        if place.segment.flags & HOSTILE and not place.source.trusted:
            if memory.user.has(value) or memory.deeds.approved(tool.name, value):
                return None
            return answer(memory, "dictated", value.name, value.text, place)
    return None


def _unknown(memory: Memory, tool: Tool, role: Role, value: Value) -> Answer | None:
    """A value that nobody wrote: a destination may not be made up, nor what is deleted, shared or paid."""
    effects = tool.effects
    fixed = role is Role.OBJECT and effects & (DELETE | SHARE | PAY) and not effects & (UPDATE | CREATE)
    if (role in DESTINATIONS or fixed) and memory.user.spoke:
        return answer(memory, "unknown_origin", value.name, value.text)
    return None


def _dictated(memory: Memory, tool: Tool, license: str, places: list[Sighting]) -> Sighting | None:
    """The place where a text dictates a value. A record that the user quoted and that has it as a plain value speaks
    for it, except where it is hostile elsewhere."""
    mild: Sighting | None = None
    exact = False
    for place in places:
        flags = place.segment.flags
        if flags & (HOSTILE | COMMAND) and dictates(memory, tool, license, place):
            if flags & HOSTILE:
                return place
            mild = place if mild is None else mild
        exact = exact or (place.leaf.record.exact and flags & PLAIN != 0)
    return None if exact else mild


def dictates(memory: Memory, tool: Tool, license: str, place: Sighting) -> bool:
    """Whether a text dictates a value: it is hostile, or wants what this call does and the user did not hand it on."""
    source, segment = place.source, place.segment
    if source.trusted:
        return False
    if segment.flags & HOSTILE:
        return True
    if not segment.flags & COMMAND or segment.flags & PLAIN or not segment.effects & tool.effects:
        return False
    pointed = memory.user.points and license == ASKED and source.level == 2 and source.given
    return not pointed and not entrusted(memory, place)


def entrusted(memory: Memory, place: Sighting) -> bool:
    """Whether the user handed their work to what a place is in."""
    return memory.user.hands_on and place.source.is_named(place.leaf)


def own_field(value: Value, place: Sighting) -> bool:
    """Whether a value is all of a field that others do not write in as they like."""
    leaf = place.leaf
    return leaf.normal == value.normal and leaf.field != "" and not leaf.free


def _referred(
    memory: Memory, tool: Tool, license: str, role: Role, value: Value, places: list[Sighting]
) -> Answer | None:
    """What stands against a value that was read: the user did not refer to where, or others wrote it there."""
    user = memory.user
    target = role in DESTINATIONS
    if license == HANDED_ON and target and not any(own_field(value, place) and place.clear(2) for place in places):
        return answer(memory, "both_chosen", value.name, value.text, places[0])
    strict = target or (role in (Role.OBJECT, Role.OTHER) and tool.effects & FIXED)
    if not (role is Role.SECRET and user.hands_on):
        for place in places:
            if place.clear(2 if target else 1) and (not strict or _complete(memory, tool, value, place)):
                return None
    if role is Role.TARGET and user.named(value):
        for place in places:
            if place.segment.flags & PLAIN and own_field(value, place):
                return None
    return answer(memory, "not_referred", value.name, value.text, places[0])


def _complete(memory: Memory, tool: Tool, value: Value, place: Sighting) -> bool:
    """Whether a value is all of a field of its own, or stands in what the user named and has no field there."""
    source, leaf = place.source, place.leaf
    if source.trusted or (leaf.normal == value.normal and not leaf.free) or memory.user.points:
        return True
    if not source.is_named(leaf):
        return False
    if tool.groups & MONEY and tool.effects & UPDATE and not _speaks_of_whom(memory, value):
        return False
    shape = shape_of(value.normal)
    if shape and leaf.free and source.has_field_for(leaf, shape):
        return False
    return not tool.groups & MONEY or bool(place.segment.flags & PLAIN) or is_labelled(place.segment.text)


def _speaks_of_whom(memory: Memory, value: Value) -> bool:
    """Whether the user says that a payment is to go elsewhere: what is only to be adjusted is not redirected."""
    return not memory.user.words.isdisjoint((*WHOM, *split(value.name)))
