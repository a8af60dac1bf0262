"""Licensing: whether the user asked for what a call does, and for as much of it."""

from __future__ import annotations

from typing import Any, Final

from stanchion.guards.flow.memory import Memory
from stanchion.guards.flow.nouns import MAILS, MESSAGES, MONEY, stem
from stanchion.guards.flow.requests import Request
from stanchion.guards.flow.roles import Role
from stanchion.guards.flow.tools import Tool
from stanchion.guards.flow.values import Value
from stanchion.readings.hostile.effects import CREATE, DELETE, EXEC, PAY, SEND, SHARE, UPDATE

ASKED, HANDED_ON, NOT_ASKED = "asked", "handed on", ""
"""How a call is licensed: by a request, by a text that the user handed the work to, or not at all."""

COUNTED: Final = DELETE | PAY | SHARE
WHERE: Final = (Role.TARGET, Role.SECRET, Role.OBJECT)

Given = list[tuple[Role, Value]]
"""The values of a call, each with its role."""


def licence(memory: Memory, tool: Tool, given: Given) -> str:
    """Whether the user asked for what a tool does, or handed their work to a text that does.

    Where the user has said nothing nobody knows what they want, and only what texts dictate is held against a call.
    """
    user = memory.user
    if not user.spoke:
        return ASKED
    asked = memory.licences.get(tool.name)
    if asked is None:
        asked = memory.licences[tool.name] = any(_asks(memory, tool, request) for request in user.requests)
    if asked or (tool.name in memory.deeds.yeses and _said_yes(memory, tool, given)):
        return ASKED
    if user.hands_on:
        for wants, about in memory.handed_on():
            if wants & tool.effects and (not tool.groups or not about or tool.groups & (about | user.groups)):
                return HANDED_ON
    return NOT_ASKED


def _asks(memory: Memory, tool: Tool, request: Request) -> bool:
    """Whether a request is for what a tool does and about what it is about; what is deleted it has to name itself."""
    if request.verb != tool.lead and not request.effects & tool.effects and request.verb not in tool.words[:1]:
        return False
    if not tool.groups or tool.groups & request.groups or not tool.stems.isdisjoint(request.stems):
        return True
    if tool.effects == SEND and _no_medium(memory, tool, request):
        return True
    strict = tool.effects & DELETE and not request.points
    return not strict and bool(tool.groups & memory.user.groups)


def _no_medium(memory: Memory, tool: Tool, request: Request) -> bool:
    """Whether a user who wants something sent leaves open how, and it is not money."""
    written = MAILS | MESSAGES
    return bool(tool.groups & written) and not request.groups & MONEY and not memory.user.groups & written


def _said_yes(memory: Memory, tool: Tool, given: Given) -> bool:
    """Whether a person has said yes to this: to the tool, where the user's language is not known, and to its values."""
    if not memory.user.understood:
        return True
    where = [value for role, value in given if role in WHERE]
    return all(memory.deeds.approved(tool.name, value) or memory.user.has(value) for value in where)


def on_their_own(memory: Memory, tool: Tool, given: Given) -> bool:
    """Whether a call that nobody asked for concerns only what the user named, and nothing that was read wants it."""
    if tool.effects & (DELETE | PAY):
        return False
    where = [value for role, value in given if role in WHERE]
    return bool(where) and all(memory.user.has(value) for value in where) and not influenced(memory, tool)


def influenced(memory: Memory, tool: Tool) -> bool:
    """Whether something that was read could have asked for this kind of call."""
    if memory.full:
        return True
    seen = memory.wanted()
    if seen.hostile or seen.effects & tool.effects or (tool.effects & EXEC and seen.effects):
        return True
    nouns = [stem(word) for word in tool.words if len(word) > 3 and word != tool.lead]
    return not seen.words.isdisjoint([*nouns, *[f"{noun}s" for noun in nouns]])


def too_many(memory: Memory, tool: Tool, args: dict[str, Any]) -> bool:
    """Whether more is deleted, paid or shared than the user asked for, one by one."""
    effects = tool.effects
    if not effects & COUNTED or memory.user.hands_on or (effects & (UPDATE | CREATE) and not effects & PAY):
        return False
    wanted = memory.counts.get(tool.name)
    if wanted is None:
        wanted = memory.counts[tool.name] = _wanted(memory, effects)
    if wanted < 0:
        return False
    return memory.deeds.times(tool.name, args) >= wanted + memory.deeds.yeses.get(tool.name, 0)


def _wanted(memory: Memory, effects: int) -> int:
    """How often the user asks for something; -1 where they do not say."""
    requests = [request for request in memory.user.requests if request.effects & effects]
    return -1 if not requests or any(request.many for request in requests) else len(requests)
