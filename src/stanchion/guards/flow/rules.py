"""The rules: what stands against a call, and what a call that goes ahead is explained by."""

from __future__ import annotations

from typing import Any

from stanchion.guards.flow.evidence import Blame, blame
from stanchion.guards.flow.memory import Memory
from stanchion.guards.flow.pointing import hear
from stanchion.guards.flow.sources import Span, flat
from stanchion.guards.flow.tools import Tool
from stanchion.readings.prose.values import values


def check(memory: Memory, tool: Tool, args: Any) -> Blame | None:
    """What stands against a call; nothing where it may go ahead. What only reads, and names no
    host, may."""
    if not memory.sources:
        return None
    tool = tool.called(args)
    if not tool.acts and not any("." in text and leads_out(text) for _, text in flat(args)):
        return None
    memory.settle()
    if not memory.spans:
        return None
    hear(memory)
    return blame(memory, tool, args, True)


def explains(memory: Memory, tool: Tool, args: Any) -> Span | None:
    """The text that explains a call which went ahead."""
    hear(memory)
    tool = tool.called(args)
    found = blame(memory, tool, args, tool.acts)
    return found.span if found is not None else None


def leads_out(text: str) -> bool:
    """Whether an argument names a host."""
    return any(value.kind == "host" for value in values(text))
