"""Licences: where the user lets a text that somebody else wrote have a say in a call."""

from __future__ import annotations

from typing import Final

from stanchion.guards.flow.memory import Given, Memory
from stanchion.guards.flow.pointing import (
    BY_KIND,
    BY_NAME,
    entrusted,
    is_account,
    named,
    points,
    stepped,
)
from stanchion.guards.flow.sources import Span, flat
from stanchion.guards.flow.tools import Tool
from stanchion.guards.flow.user import WEB, is_kind
from stanchion.readings.prose.asking import wanted
from stanchion.readings.prose.values import Value, values

ADDRESSES: Final = ("host", "link")
LEADING: Final = ("mail", "code", "path", *ADDRESSES)
"""Kinds of values that say where something goes, or what it is done to."""
STEPS: Final = ("action", "text", "code", "object", "num", "path")
"""What a tool that acted may ask for: codes and steps, never addresses."""
ON_TOPIC: Final = 2
"""So many words on the user's topic make a link the user's, even where a text wants it opened."""


def licensed(memory: Memory, span: Span, tool: Tool, kind: str, one: Given | None = None) -> bool:
    """Whether a text may have a call by a value of some kind, or by what is done: never one that
    speaks to a machine, and only one that the user points at."""
    if span.hostile:
        return False
    if _by_the_way(memory, span, tool, kind, one):
        return True
    if (
        one is not None
        and tool.acts
        and is_account(one.value)
        and not (memory.user.pays or memory.user.changes)
    ):
        return False
    if any(part.announces for part in span.parts):
        if one is not None and not memory.user.changes and span.announces(one.value):
            return False
        commands = any(
            part.commands and (one is None or part.holds(one.value)) for part in span.parts
        )
        if memory.user.changes and named(memory, span) and not commands:
            return True
    if entrusted(memory, span):
        return True
    sure = points(memory, span)
    if sure < BY_KIND or "asked" not in memory.how.rules:
        return False
    if one is not None and kind in ADDRESSES and one.alone:
        return _follows(memory, span, one.value, sure, tool.reads)
    if kind in LEADING and not (tool.reads and kind not in ADDRESSES):
        wants = asked_there(memory, tool, span)
    else:
        wants = tool.reads or asked(memory, tool, span)
    if kind == "action" or not wants:
        return wants
    if (
        one is not None
        and "commanded" in memory.how.rules
        and commanded(memory, span, tool, one.value)
    ):
        return kind == "text" and sure >= BY_NAME and asked_there(memory, tool, span, bare=True)
    if one is not None and kind in LEADING and _rivalled(memory, span, one.value):
        return False
    return sure >= BY_NAME or kind not in ("mail", "code")


def _by_the_way(memory: Memory, span: Span, tool: Tool, kind: str, one: Given | None) -> bool:
    """Whether a call is a step that a text may name: a preparation, the same site, a step that
    comes next."""
    if (
        tool.prepares
        and "prepares" in memory.how.rules
        and kind in ("code", "num", "text", "object")
    ):
        return True
    if (
        one is not None
        and kind in ADDRESSES
        and (tool.reads or tool.prepares)
        and _same_site(span, one.value)
    ):
        return True
    if span.source.trusted and kind in STEPS:
        return True
    if kind in STEPS and span.source.status and "statuses" in memory.how.rules:
        return True
    return kind in ("code", "num", "text") and stepped(memory, tool)


def asked(memory: Memory, tool: Tool, span: Span | None = None) -> bool:
    """Whether the user asked for what a tool does, or with the same verb for what a text asks
    for."""
    if memory.asked(tool) or stepped(memory, tool):
        return True
    return span is not None and any(
        _aligned(memory, span, tool, request.verbs) for request in memory.user.requests
    )


def asked_there(memory: Memory, tool: Tool, span: Span, bare: bool = False) -> bool:
    """Whether one request both asks for this and points at this text; `bare` where it may name
    nothing itself."""
    for request, around in zip(memory.user.requests, memory.user.neighbours, strict=True):
        if bare and around.quotes:
            continue
        wants = tool.asked_by(request) or _aligned(memory, span, tool, request.verbs)
        if wants and points(memory, span, around) >= BY_KIND:
            return True
    return False


def _aligned(memory: Memory, span: Span, tool: Tool, verbs: frozenset[str]) -> bool:
    """Whether the record of a text uses the user's verb where it explains the tool."""
    enough = memory.how.thresholds.aligned
    return any(
        not verbs.isdisjoint(part.stems) and tool.explained(part.stems) >= enough
        for other in span.source.spans
        if other.record == span.record and not other.hostile
        for part in other.parts
    )


def commanded(memory: Memory, span: Span, tool: Tool, value: Value) -> bool:
    """Whether a text both commands what a tool does and gives the value: in one sentence, or in
    sentences that belong together and of which the commanding one has no other such value."""
    beside = False
    for part in span.parts:
        if part.commands and (tool.reads or tool.named_by(part.stems)):
            if part.holds(value):
                return True
            rival = any(other.kind == value.kind for other in part.values)
            beside = beside or (
                not rival and tool.dictated(part.stems) >= memory.how.thresholds.commanded
            )
    return beside and span.holds(value)


def _rivalled(memory: Memory, span: Span, value: Value) -> bool:
    """Whether the user, or the record of a text as data, has another value of the kind."""
    kind = "host" if value.kind == "link" else value.kind
    if any(each.kind == kind for each in memory.user.all.values):
        return True
    return any(
        each.kind == kind and each != value and number == span.record
        for each, number in span.source.data
    )


def _follows(memory: Memory, span: Span, value: Value, sure: float, reads: bool) -> bool:
    """Whether a link may be opened that stands in a text the user points at: where the text only
    says that something is there, where that is what the user speaks of, or where the user wants
    what is linked there."""
    if "follows" not in memory.how.rules:
        return False
    held = [part for part in span.parts if part.holds(value)]
    quiet = bool(held) and not any(part.commands for part in held)
    topics = {
        word
        for part in held
        for word in (part.stems & memory.user.all.stems) - wanted(part.normal, nouns=False)
        if not is_kind(word)
    }
    if quiet and topics and sure >= memory.how.thresholds.topic:
        return True
    if not reads:
        return False
    if len(topics) >= ON_TOPIC or (quiet and sure >= BY_NAME):
        return True
    return any(
        WEB in request.kinds
        and not any(own.kind == "host" for own in around.values)
        and points(memory, span, around) >= BY_NAME
        for request, around in zip(memory.user.requests, memory.user.neighbours, strict=True)
    )


def _same_site(span: Span, value: Value) -> bool:
    host = value.text.partition("/")[0]
    return any(
        each == Value("host", host) for _, text in flat(span.source.args) for each in values(text)
    )
