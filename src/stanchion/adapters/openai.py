"""Clients of `openai`, sync and async: every request judged, every reply as the run may see it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeVar

from stanchion.adapters.clients.forms import Form
from stanchion.adapters.clients.guarded import guarded, hosted_by
from stanchion.adapters.clients.tools import Asked, Done, Toolbox, Tools, arguments, part, parts, refused, text_of
from stanchion.adapters.http.leaving import MAX_BODY
from stanchion.hosting import EVERYTHING, Host, tried

if TYPE_CHECKING:
    from openai import AsyncOpenAI, OpenAI

    Client = TypeVar("Client", OpenAI, AsyncOpenAI)

tried("openai", "2.54", "4")

OPENAI: Final = Host("openai", can=EVERYTHING, refused=refused, stream="chunk")
"""A client that sends a request as it was decided, or raises `Refused`."""

FORMS: Final = (
    Form("chat/completions"),
    Form("responses", said="input", apart="instructions"),
    Form("completions", said="prompt"),
)
"""Requests to a model. `chat/completions` ends in `completions` as well, so it stands first."""

CUSTOM: Final = "custom"
"""The kind of tools that take a text in the place of arguments."""


def guard(client: Client, run: Any, *, max_body: int = MAX_BODY) -> Client:
    """A client for a run, of the same type and with the same options and connections; the given one stays as it is.

    Requests to a model are judged with their replies. All others are judged as they leave, up to `max_body` bytes, and
    what comes back is judged as a tool's result. What is refused raises `Refused`.
    """
    made: Client = guarded(client, OPENAI, run, FORMS, max_body)
    return made


def run_tools(client: OpenAI, reply: Any, tools: Tools, *, handoffs: Mapping[str, str] | None = None) -> list[Any]:
    """Run the tool calls of a reply for the run of a guarded client; gives the messages to send with the next request.

    `reply` is a chat completion or a response. `handoffs` maps tools to the agents that take over when they are called.
    A refused call is answered with the reason; what ends the run is raised.
    """
    box = Toolbox(hosted_by(client), tools, {} if handoffs is None else handoffs)
    return _messages(reply, [box.run(call) for call in calls_of(reply)])


async def arun_tools(
    client: AsyncOpenAI, reply: Any, tools: Tools, *, handoffs: Mapping[str, str] | None = None
) -> list[Any]:
    """`run_tools` for async code: the calls run side by side, and tools may be coroutine functions."""
    box = Toolbox(hosted_by(client), tools, {} if handoffs is None else handoffs)
    return _messages(reply, await box.arun_all(calls_of(reply)))


def calls_of(reply: Any) -> list[Asked]:
    """The tool calls of a chat completion's first choice, or of a response."""
    if part(reply, "choices") is not None:
        first = parts(reply, "choices")[:1]
        return [_chat_call(call) for choice in first for call in parts(part(choice, "message"), "tool_calls")]
    return [_item_call(item) for item in parts(reply, "output") if part(item, "type") in CALLS]


CALLS: Final = frozenset({"function_call", "custom_tool_call"})


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


def _messages(reply: Any, results: Iterable[Done]) -> list[Any]:
    if part(reply, "choices") is not None:
        return [{"role": "tool", "tool_call_id": done.call.id, "content": text_of(done.content)} for done in results]
    return [
        {
            "type": "custom_tool_call_output" if done.call.kind == CUSTOM else "function_call_output",
            "call_id": done.call.id,
            "output": text_of(done.content),
        }
        for done in results
    ]
