"""Answers: what the memory says against an event, as plain data that a record keeps and a decision
is replayed from."""

from __future__ import annotations

from typing import Any, Final

from stanchion.guards.flow.evidence import Blame
from stanchion.guards.flow.memory import Memory
from stanchion.guards.flow.sources import Source, Span

SHOWN: Final = 240
"""How much of a text a person is shown."""
CONSIDERED: Final = 5
"""How many requests a person is shown."""

Answer = dict[str, Any]
"""What was found: the rule, the parameter, its value, where that comes from, and what the user had
asked for."""


def blamed(memory: Memory, found: Blame) -> Answer:
    """What is said of a call that a text explains."""
    said: Answer = {"rule": found.rule}
    if found.given is not None:
        said["parameter"] = found.given.name[:SHOWN]
        said["value"] = found.given.value.text[:SHOWN]
    return said | of_span(found.span) | context(memory)


def of_span(span: Span) -> Answer:
    """Where a text stands: the tool, the number of its result, the field, and what it says."""
    found = of_source(span.source)
    if span.field:
        found["field"] = span.field[:SHOWN]
    found["untrusted"] = span.text[:SHOWN]
    found["wants"] = (
        "it speaks to the agent" if span.hostile else "it asks for something to be done"
    )
    return found


def of_source(source: Source) -> Answer:
    """The tool and the number of its result."""
    return {"tool": source.tool.name, "result": source.number}


def context(memory: Memory) -> Answer:
    """What the user asked for, and whether all is remembered."""
    said: Answer = {}
    asked = memory.user.shown(CONSIDERED)
    if asked:
        said["asked"] = [each[:SHOWN] for each in asked]
    if memory.full:
        said["full"] = True
    return said
