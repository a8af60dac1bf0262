"""An event's content as plain data: what patches edit, what size limits measure."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any, Final, assert_never

import msgspec

from stanchion.kernel.events import (
    Charge,
    Egress,
    Event,
    Failure,
    Handoff,
    HandoffDone,
    ModelCall,
    ModelChunk,
    ModelReply,
    Prompt,
    ToolCall,
    ToolResult,
)

CONTENT: Final[dict[type[Any], Callable[[Any], Any]]] = {
    ToolCall: attrgetter("args"),
    ToolResult: attrgetter("result"),
    **dict.fromkeys((Prompt, ModelChunk, ModelReply, Failure), attrgetter("text")),
    ModelCall: lambda event: {
        "model": event.model,
        "messages": event.messages,
        "params": event.params,
    },
    Egress: lambda event: {"url": event.url, "headers": event.headers, "payload": event.payload},
    **dict.fromkeys((Handoff, HandoffDone), attrgetter("payload")),
    Charge: lambda _event: None,
}
"""How the content of each kind of event is found; every kind is here."""


def content_of(event: Event) -> Any:
    """The part of an event that guards read and patches edit; `None` where a stage has none."""
    return CONTENT[type(event)](event)


def with_content(event: Event, content: Any) -> Event:
    """The same event with other content."""
    match event:
        case ToolCall():
            return msgspec.structs.replace(event, args=content)
        case ToolResult():
            return msgspec.structs.replace(event, result=content)
        case Prompt() | ModelChunk() | ModelReply() | Failure():
            return msgspec.structs.replace(event, text=content)
        case ModelCall() | Egress():
            return msgspec.structs.replace(event, **content)
        case Handoff() | HandoffDone():
            return msgspec.structs.replace(event, payload=content)
        case Charge():
            raise ValueError("a charge has no content to change")
        case _:
            assert_never(event)
