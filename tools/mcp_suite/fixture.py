"""A server with everything that the public conformance suite asks servers for.

`python -m tools.mcp_suite.fixture` speaks on standard streams, `... fixture PORT` over HTTP.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any, Final

import anyio
import mcp_types as types
from mcp.server import Server
from mcp.server.streamable_http import EventCallback, EventMessage, EventStore
from mcp.shared.message import ServerMessageMetadata

PIXEL: Final = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAA"
    "B"
    "JRU5ErkJggg=="
)
SOUND: Final = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA="
NOTHING: Final[dict[str, Any]] = {"type": "object", "properties": {}}
SCHEMA: Final[dict[str, Any]] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"}},
    "additionalProperties": False,
}
DEFAULTS: Final[dict[str, Any]] = {
    "name": {"type": "string", "default": "John Doe"},
    "age": {"type": "integer", "default": 30},
    "score": {"type": "number", "default": 95.5},
    "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
    "verified": {"type": "boolean", "default": True},
}
OPTIONS: Final = ["option1", "option2", "option3"]
TITLED: Final = [{"const": f"value{number}", "title": f"Option {number}"} for number in (1, 2, 3)]
ENUMS: Final[dict[str, Any]] = {
    "untitledSingle": {"type": "string", "enum": OPTIONS},
    "titledSingle": {"type": "string", "oneOf": TITLED},
    "legacyEnum": {
        "type": "string",
        "enum": ["opt1", "opt2", "opt3"],
        "enumNames": ["One", "Two", "Three"],
    },
    "untitledMulti": {"type": "array", "items": {"type": "string", "enum": OPTIONS}},
    "titledMulti": {"type": "array", "items": {"anyOf": TITLED}},
}
WHO: Final[dict[str, Any]] = {"username": {"type": "string"}, "email": {"type": "string"}}


def _text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def _image() -> dict[str, Any]:
    return {"type": "image", "data": PIXEL, "mimeType": "image/png"}


def _embedded(uri: str, kind: str, words: str) -> dict[str, Any]:
    return {"type": "resource", "resource": {"uri": uri, "mimeType": kind, "text": words}}


def _content(*blocks: dict[str, Any], failed: bool = False) -> dict[str, Any]:
    return {"content": list(blocks), "isError": failed}


async def _logs(context: Any, args: dict[str, Any]) -> dict[str, Any]:
    for words in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        told = types.LoggingMessageNotificationParams(level="info", data=words)
        await context.session.send_notification(
            types.LoggingMessageNotification(params=told), related_request_id=context.request_id
        )
        await anyio.sleep(0.05)
    return _content(_text("done"))


async def _progress(context: Any, args: dict[str, Any]) -> dict[str, Any]:
    for done in (0, 50, 100):
        await context.session.report_progress(done, 100)
        await anyio.sleep(0.05)
    return _content(_text("done"))


async def _samples(context: Any, args: dict[str, Any]) -> dict[str, Any]:
    message = types.SamplingMessage(role="user", content=types.TextContent(text=args["prompt"]))
    asked = types.CreateMessageRequest(
        params=types.CreateMessageRequestParams(messages=[message], max_tokens=100)
    )
    related = ServerMessageMetadata(related_request_id=context.request_id)
    answer = await context.session.send_request(asked, types.CreateMessageResult, metadata=related)
    return _content(_text(f"LLM response: {getattr(answer.content, 'text', '')}"))


def _elicits(message: str, properties: dict[str, Any], required: list[str]) -> Any:
    async def ask(context: Any, args: dict[str, Any]) -> dict[str, Any]:
        schema = {"type": "object", "properties": properties, "required": required}
        words = args.get("message", message)
        answer = await context.session.elicit_form(
            words, schema, related_request_id=context.request_id
        )
        return _content(
            _text(f"Elicitation completed: action={answer.action}, content={answer.content}")
        )

    return ask


async def _reconnects(context: Any, args: dict[str, Any]) -> dict[str, Any]:
    if context.close_sse_stream is not None:
        await context.close_sse_stream()
    await anyio.sleep(0.2)
    return _content(_text("Reconnection test completed"))


def _gives(*blocks: dict[str, Any], failed: bool = False) -> Any:
    async def give(context: Any, args: dict[str, Any]) -> dict[str, Any]:
        return _content(*blocks, failed=failed)

    return give


TOOLS: Final[dict[str, Any]] = {
    "test_simple_text": _gives(_text("This is a simple text response for testing.")),
    "test_image_content": _gives(_image()),
    "test_audio_content": _gives({"type": "audio", "data": SOUND, "mimeType": "audio/wav"}),
    "test_embedded_resource": _gives(
        _embedded("test://embedded-resource", "text/plain", "An embedded resource.")
    ),
    "test_multiple_content_types": _gives(
        _text("Multiple content types test:"),
        _image(),
        _embedded(
            "test://mixed-content-resource", "application/json", '{"test":"data","value":123}'
        ),
    ),
    "test_tool_with_logging": _logs,
    "test_error_handling": _gives(
        _text("This tool intentionally returns an error for testing"), failed=True
    ),
    "test_tool_with_progress": _progress,
    "test_sampling": _samples,
    "test_elicitation": _elicits("who are you?", WHO, ["username", "email"]),
    "test_elicitation_sep1034_defaults": _elicits("check these", DEFAULTS, []),
    "test_elicitation_sep1330_enums": _elicits("choose", ENUMS, []),
    "test_reconnection": _reconnects,
    "json_schema_2020_12_tool": _gives(_text("ok")),
}


async def _list_tools(context: Any, params: Any) -> Any:
    schemas = {"json_schema_2020_12_tool": SCHEMA}
    return {
        "tools": [
            {
                "name": name,
                "description": f"The tool {name}.",
                "inputSchema": schemas.get(name, NOTHING),
            }
            for name in TOOLS
        ]
    }


async def _call_tool(context: Any, params: Any) -> Any:
    return await TOOLS[params.name](context, dict(params.arguments or {}))


async def _list_resources(context: Any, params: Any) -> Any:
    names = ("static-text", "static-binary", "watched-resource")
    return {
        "resources": [
            {"uri": f"test://{name}", "name": name, "description": "A resource."} for name in names
        ]
    }


async def _templates(context: Any, params: Any) -> Any:
    return {"resourceTemplates": [{"uriTemplate": "test://template/{id}/data", "name": "template"}]}


async def _read(context: Any, params: Any) -> Any:
    uri = str(params.uri)
    if uri == "test://static-binary":
        return {"contents": [{"uri": uri, "mimeType": "image/png", "blob": PIXEL}]}
    return {"contents": [{"uri": uri, "mimeType": "text/plain", "text": f"The content of {uri}"}]}


async def _prompts(context: Any, params: Any) -> Any:
    names = (
        "simple_prompt",
        "prompt_with_arguments",
        "prompt_with_embedded_resource",
        "prompt_with_image",
    )
    return {
        "prompts": [
            {"name": f"test_{name}", "description": f"The prompt {name}."} for name in names
        ]
    }


async def _prompt(context: Any, params: Any) -> Any:
    given = dict(params.arguments or {})
    blocks = {
        "test_simple_prompt": [_text("This is a simple prompt for testing.")],
        "test_prompt_with_arguments": [_text(f"Prompt with arguments: {given}")],
        "test_prompt_with_embedded_resource": [
            _embedded(given.get("resourceUri", "test://x"), "text/plain", "words")
        ],
        "test_prompt_with_image": [_image(), _text("Please analyze the image above.")],
    }[params.name]
    return {"messages": [{"role": "user", "content": block} for block in blocks]}


async def _complete(context: Any, params: Any) -> Any:
    return {"completion": {"values": ["paris", "park", "party"], "total": 3, "hasMore": False}}


async def _nothing(context: Any, params: Any) -> Any:
    return {}


def server() -> Server[Any]:
    """The server."""
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # logging levels are of the older era, which the suite is about
        return Server(
            "fixture",
            version="1",
            on_list_tools=_list_tools,
            on_call_tool=_call_tool,
            on_list_resources=_list_resources,
            on_list_resource_templates=_templates,
            on_read_resource=_read,
            on_subscribe_resource=_nothing,
            on_unsubscribe_resource=_nothing,
            on_list_prompts=_prompts,
            on_get_prompt=_prompt,
            on_completion=_complete,
            on_set_logging_level=_nothing,
        )


class Events(EventStore):
    """What was sent on streams, so that a client which comes back gets what it has missed."""

    def __init__(self) -> None:
        self._kept: list[tuple[str, Any]] = []

    async def store_event(self, stream_id: str, message: Any) -> str:
        """Keep a message."""
        self._kept.append((stream_id, message))
        return str(len(self._kept))

    async def replay_events_after(
        self, last_event_id: str, send_callback: EventCallback
    ) -> str | None:
        """Send what came after a message on the same stream."""
        at = int(last_event_id)
        stream = self._kept[at - 1][0]
        for number, (name, message) in enumerate(self._kept[at:], at + 1):
            if name == stream and message is not None:
                await send_callback(EventMessage(message, str(number)))
        return stream


async def _streams() -> None:
    from mcp.server.stdio import stdio_server

    made = server()
    async with stdio_server() as (read, write):
        await made.run(read, write, made.create_initialization_options())


def main(words: list[str]) -> None:
    """Serve."""
    if not words:
        anyio.run(_streams)
        return
    import uvicorn

    app = server().streamable_http_app(event_store=Events(), retry_interval=200)
    uvicorn.run(app, host="127.0.0.1", port=int(words[0]), log_level="error")


if __name__ == "__main__":
    main(sys.argv[1:])
