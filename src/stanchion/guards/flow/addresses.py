"""Addresses: a page may not be opened because a text says so, nor in a way that carries away what was read."""

from __future__ import annotations

from typing import Final

from stanchion.guards.flow.answer import Answer, answer
from stanchion.guards.flow.licence import Given
from stanchion.guards.flow.memory import Memory
from stanchion.guards.flow.origins import entrusted
from stanchion.guards.flow.roles import split
from stanchion.guards.flow.segments import COMMAND, HOSTILE, PLAIN
from stanchion.guards.flow.tools import ADDRESSES
from stanchion.guards.flow.values import DIGIT, URL, Value
from stanchion.readings.hostile.effects import GO

LONG: Final = 6
"""From how many characters on a word in an address tells something."""


def opening(memory: Memory, given: Given) -> Answer | None:
    """What stands against a call that only reads: the addresses that it opens."""
    for _, value in given:
        if not URL.match(value.text) and ADDRESSES.isdisjoint(split(value.name)):
            continue
        if memory.user.has(value):
            continue
        places = memory.places(value)
        for place in places:
            flags, wants = place.segment.flags, place.segment.effects
            if place.source.trusted:
                continue
            if flags & HOSTILE or (wants & GO and not flags & PLAIN and not entrusted(memory, place)):
                return answer(memory, "dictated", value.name, value.text, place)
        if not places:
            found = carries(memory, value.text, value.name)
            if found is not None:
                return found
    return None


def _is_known(memory: Memory, host: Value) -> bool:
    """Whether a host is the user's, or was read where nothing is commanded."""
    if memory.user.has(host):
        return True
    return any(place.clear(1) and not place.segment.flags & (COMMAND | HOSTILE) for place in memory.places(host))


def carries(memory: Memory, url: str, name: str = "url") -> Answer | None:
    """What an address that nobody wrote carries away: words of its query, or parts of its host and path with digits,
    that were read before."""
    query = Value(name, url.partition("?")[2])
    host, _, path = url.partition("://")[2].partition("?")[0].partition("/")
    if _is_known(memory, Value(name, host.rpartition("@")[2].partition(":")[0])):
        return None
    place = Value(name, f"{host.rpartition('.')[0]} {path}")
    for word in (*query.words, *[each for each in place.words if DIGIT.search(each)]):
        if len(word) >= LONG and word not in memory.user.words and memory.index.has(word):
            places = memory.places(Value(name, word))
            if places:
                return answer(memory, "url_carries", name, url, places[0])
    return None
