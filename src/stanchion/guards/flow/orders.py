"""Orders: a command that a shell or an interpreter runs may not use what only others' commands have."""

from __future__ import annotations

from typing import Final

from stanchion.guards.flow.answer import Answer, answer
from stanchion.guards.flow.memory import Memory
from stanchion.guards.flow.origins import entrusted
from stanchion.guards.flow.segments import COMMAND, HOSTILE, PLAIN
from stanchion.guards.flow.source import Sighting
from stanchion.guards.flow.tools import Tool
from stanchion.guards.flow.values import PRIVATE, Value, shapes
from stanchion.kernel.regex import regex

LONG: Final = 12
"""From how many characters on a command is one that nobody writes by chance."""
MOST: Final = 100
CODE: Final = regex(r"[=(){};|<>]|&&|\$\w|--\w|^\d+ ")
"""What programs, logs and shells have and sentences have not."""


def ordered(memory: Memory, tool: Tool, commands: list[Value]) -> Answer | None:
    """What stands against commands; what they would do is for other guards to say."""
    for command in commands:
        found = _addressed(memory, tool, command)
        if found is None and not memory.user.hands_on and not any(each.effects for each in memory.user.requests):
            found = _paths(memory, tool, command)
        found = _verbatim(memory, tool, command) if found is None else found
        if found is not None:
            return found
    return None


def _addressed(memory: Memory, tool: Tool, command: Value) -> Answer | None:
    """An address in a command that only others' commands have."""
    user = memory.user
    for shape in shapes(command.text, hosts=True)[:MOST]:
        part = Value(command.name, shape)
        rest = shape.partition("://")[2]
        host = Value("", (rest if rest else shape).partition("/")[0].partition(":")[0])
        if PRIVATE.match(shape) or user.has(part) or user.has(host) or memory.deeds.is_own(part):
            continue
        if memory.deeds.approved(tool.name, command):
            return None
        places = memory.places(part)
        if places and all(_orders(place) for place in places):
            return answer(memory, "dictated", command.name, shape, places[0])
    return None


def _paths(memory: Memory, tool: Tool, command: Value) -> Answer | None:
    """Where the user only wants to know something: a path in a command that only others' commands have."""
    for word in command.text.split()[:MOST]:
        part = Value(command.name, word.strip("'\"();,"))
        if "/" not in part.text or len(part.text) < 4 or memory.user.has(part):
            continue
        if memory.deeds.is_own(part) or memory.deeds.approved(tool.name, command):
            continue
        places = memory.places(part)
        if places and all(_orders(place, named=False) and _is_prose(place) for place in places):
            return answer(memory, "dictated", command.name, part.text, places[0])
    return None


def _verbatim(memory: Memory, tool: Tool, command: Value) -> Answer | None:
    """A command that stands in somebody else's command as it is."""
    deeds = memory.deeds
    if len(command.normal) <= LONG or memory.user.has(command) or deeds.is_own(command):
        return None
    if deeds.approved(tool.name, command):
        return None
    for place in memory.wanted().having(command):
        flags = place.segment.flags
        if not place.source.trusted and (flags & HOSTILE or not entrusted(memory, place)):
            return answer(memory, "dictated", command.name, command.text, place)
    return None


def note(memory: Memory, commands: list[str]) -> None:
    """Remember what of commands that go ahead was read nowhere: it is the agent's own, whatever echoes it later."""
    for command in commands:
        parts = [
            command,
            *shapes(command, hosts=True)[:MOST],
            *[each.strip("'\"();,") for each in command.split()[:MOST]],
        ]
        for part in dict.fromkeys(parts):
            value = Value("", part)
            if (part == command or "/" in part or "." in part) and not memory.places(value):
                memory.deeds.made_up(value.normal)


def _is_prose(place: Sighting) -> bool:
    """Whether a command is one for a reader, and no line of a program or a log."""
    return "please" in place.segment.text or CODE.search(place.segment.text) is None


def _orders(place: Sighting, named: bool = True) -> bool:
    """Whether a place is a command of somebody else; `named` says that sources which the user named may command."""
    flags = place.segment.flags
    if place.source.trusted:
        return False
    if flags & HOSTILE:
        return True
    return bool(flags & COMMAND) and not flags & PLAIN and not (named and place.source.is_named(place.leaf))
