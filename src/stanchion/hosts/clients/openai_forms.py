"""The forms of OpenAI's API, which others speak as well: its requests, the tool calls of its
replies, their results."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from stanchion.hosts.clients.forms import Form
from stanchion.hosts.clients.tools import Asked, Done, arguments, part, parts, text_of

CHAT: Final = Form("chat/completions")
RESPONSES: Final = Form("responses", said="input", apart="instructions")
COMPLETIONS: Final = Form("completions", said="prompt")

CUSTOM: Final = "custom"
"""The kind of tools that take a text in the place of arguments."""
CALLS: Final = frozenset({"function_call", "custom_tool_call"})
"""The types of a response's items that are calls for its caller to run."""


def calls_of(reply: Any) -> list[Asked]:
    """The tool calls of a chat completion's first choice, or of a response."""
    if part(reply, "choices") is not None:
        first = parts(reply, "choices")[:1]
        return [
            _chat_call(call)
            for choice in first
            for call in parts(part(choice, "message"), "tool_calls")
        ]
    return [_item_call(item) for item in parts(reply, "output") if part(item, "type") in CALLS]


def _chat_call(call: Any) -> Asked:
    if part(call, "type") == CUSTOM:
        own = part(call, CUSTOM)
        return Asked(part(call, "id"), part(own, "name"), {"input": part(own, "input")}, CUSTOM)
    own = part(call, "function")
    return Asked(part(call, "id"), part(own, "name"), arguments(part(own, "arguments")))


def _item_call(item: Any) -> Asked:
    custom = part(item, "type") != "function_call"
    args = {"input": part(item, "input")} if custom else arguments(part(item, "arguments"))
    return Asked(part(item, "call_id"), part(item, "name"), args, CUSTOM if custom else "")


def results_for(reply: Any, results: Iterable[Done]) -> list[Any]:
    """What came of the calls of a reply, as messages for the next request."""
    if part(reply, "choices") is not None:
        return [
            {"role": "tool", "tool_call_id": done.call.id, "content": text_of(done.content)}
            for done in results
        ]
    return [
        {
            "type": "custom_tool_call_output"
            if done.call.kind == CUSTOM
            else "function_call_output",
            "call_id": done.call.id,
            "output": text_of(done.content),
        }
        for done in results
    ]
