"""The rules: what stands against a call, by what the user asked for and where its values come from."""

from __future__ import annotations

from typing import Any

from stanchion.guards.flow.addresses import opening
from stanchion.guards.flow.answer import Answer, answer
from stanchion.guards.flow.content import content
from stanchion.guards.flow.licence import ASKED, NOT_ASKED, Given, influenced, licence, on_their_own, too_many
from stanchion.guards.flow.memory import Memory
from stanchion.guards.flow.orders import note, ordered
from stanchion.guards.flow.origins import destination
from stanchion.guards.flow.roles import Role
from stanchion.guards.flow.tools import Tool
from stanchion.guards.flow.values import Value, values

LONG = 60
"""From how many characters on a value of no known role is content."""
TELLING = (Role.TARGET, Role.SECRET, Role.OBJECT)
"""Roles that tell most about where a call comes from."""


def check(memory: Memory, tool: Tool, args: dict[str, Any]) -> Answer | None:
    """What stands against a call; nothing where it may go ahead. Before anything was read nothing can be hijacked."""
    if not memory.sources or tool.neutral(args):
        return None
    given = [(tool.role(name, text), Value(name, text)) for name, text in values(args)]
    for role, value in given:
        if role is Role.COMMAND:
            return ordered(memory, tool, [value for role, value in given if role is Role.COMMAND])
    if tool.reads:
        return opening(memory, given)
    return _change(memory, tool, args, given)


def went_ahead(memory: Memory, tool: Tool, args: dict[str, Any]) -> None:
    """Remember a call that goes ahead: it counts, and what its commands make up is the agent's own."""
    commands = tool.commands(args)
    if commands:
        note(memory, commands)
    elif not tool.reads:
        memory.deeds.did(tool.name, args)


def _change(memory: Memory, tool: Tool, args: dict[str, Any], given: Given) -> Answer | None:
    license = licence(memory, tool, given)
    if (
        license == NOT_ASKED
        and not on_their_own(memory, tool, given)
        and (tool.severe([role for role, _ in given]) or ((given or tool.stems) and influenced(memory, tool)))
    ):
        return _not_asked(memory, given)
    if license == ASKED and too_many(memory, tool, args):
        return answer(memory, "more_than_asked")
    for role, value in given:
        if role is Role.TIME or tool.chosen(value.name, value.text):
            continue
        if role is Role.CONTENT or (role is Role.OTHER and len(value.text) > LONG):
            found = content(memory, tool, license, value)
        else:
            found = destination(memory, tool, license, role, value)
        if found is not None:
            return found
    return None


def _not_asked(memory: Memory, given: Given) -> Answer:
    """The value that tells most about where a call comes from that nobody asked for."""
    for _, value in sorted(given, key=lambda each: each[0] not in TELLING)[:8]:
        if not memory.user.has(value):
            places = memory.places(value)
            if places:
                return answer(memory, "not_asked", value.name, value.text, places[0])
    return answer(memory, "not_asked")
