"""An event's content as plain data: what patches edit, what size limits measure."""

from __future__ import annotations

from typing import Any, assert_never

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


def content_of(event: Event) -> Any:
    """The part of an event that guards read and patches edit; `None` where a stage has none."""
    match event:
        case ToolCall():
            return event.args
        case ToolResult():
            return event.result
        case Prompt() | ModelChunk() | ModelReply() | Failure():
            return event.text
        case ModelCall():
            return {"model": event.model, "messages": event.messages, "params": event.params}
        case Egress():
            return {"url": event.url, "headers": event.headers, "payload": event.payload}
        case Handoff() | HandoffDone():
            return event.payload
        case Charge():
            return None
        case _:
            assert_never(event)


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
