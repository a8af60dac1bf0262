"""Egress: what stands against a request that is about to leave."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from stanchion.guards.flow.answer import SHOWN, Answer, blamed, context, of_source
from stanchion.guards.flow.carrying import carried
from stanchion.guards.flow.memory import Memory
from stanchion.guards.flow.rules import check
from stanchion.guards.flow.sources import flat
from stanchion.guards.flow.tools import Tool
from stanchion.readings.prose.values import LINK, Value, split_link

REQUEST: Final = "http get"
"""What a request counts as: a tool that opens an address."""


def leaving(memory: Memory, url: str, payload: Any) -> Answer | None:
    """A request may not go where only a text sends it, nor carry away what was read."""
    request = _request()
    found = check(memory, request, {"url": url, "payload": payload})
    said = blamed(memory, found) if found is not None else links(memory, request, {"url": url})
    return None if said is None else {**said, "request": True}


@cache
def _request() -> Tool:
    """The tool that a request counts as, understood once."""
    return Tool(REQUEST)


def links(memory: Memory, tool: Tool, args: Any) -> Answer | None:
    """What stands against the addresses of a call: one takes something along that was read, once a
    text has spoken to a machine or wants its host."""
    if "carried" not in memory.how.rules or not memory.sources:
        return None
    for name, text in flat(args):
        if "://" not in text and "www." not in text:
            continue
        memory.settle()
        for url in LINK.findall(text):
            if memory.approved(tool, Value("host", split_link(url)[0])):
                continue
            source = carried(memory, url) if _wanted(memory, url) else None
            if source is not None:
                return {
                    "rule": "url_carries",
                    "parameter": name,
                    "value": url[:SHOWN],
                    **of_source(source),
                    **context(memory),
                }
    return None


def _wanted(memory: Memory, url: str) -> bool:
    """Whether a text may want an address opened: one speaks to a machine, or commands something
    with its host."""
    host = Value("host", split_link(url)[0])
    return bool(memory.hostile) or any(
        part.commands and part.holds(host)
        for span in memory.by_value.get(host, ())
        for part in span.parts
    )
