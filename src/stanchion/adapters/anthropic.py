"""Clients of `anthropic`, sync and async: every request judged, every reply as the run may see it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeVar

from stanchion.adapters.clients.forms import Form
from stanchion.adapters.clients.guarded import guarded, hosted_by
from stanchion.adapters.clients.tools import Asked, Done, Toolbox, Tools, arguments, part, parts, refused, text_of
from stanchion.adapters.http.leaving import MAX_BODY
from stanchion.hosting import EVERYTHING, Host, tried

if TYPE_CHECKING:
    from anthropic import Anthropic, AsyncAnthropic

    Client = TypeVar("Client", Anthropic, AsyncAnthropic)

tried("anthropic", "2.8", "3")

ANTHROPIC: Final = Host("anthropic", can=EVERYTHING, refused=refused, stream="chunk")
"""A client that sends a request as it was decided, or raises `Refused`."""

FORMS: Final = (Form("v1/messages", apart="system", among=False), Form("v1/complete", said="prompt"))


def guard(client: Client, run: Any, *, max_body: int = MAX_BODY) -> Client:
    """A client for a run, of the same type and with the same options and connections; the given one stays as it is.

    Requests to a model are judged with their replies. All others are judged as they leave, up to `max_body` bytes, and
    what comes back is judged as a tool's result. What is refused raises `Refused`.
    """
    made: Client = guarded(client, ANTHROPIC, run, FORMS, max_body)
    return made


def run_tools(client: Anthropic, reply: Any, tools: Tools, *, handoffs: Mapping[str, str] | None = None) -> list[Any]:
    """Run the tool calls of a message for the run of a guarded client; gives the messages to send with the next
    request: one with all results, or none.

    `handoffs` maps tools to the agents that take over when they are called. A refused call is answered with the reason;
    what ends the run is raised.
    """
    box = Toolbox(hosted_by(client), tools, {} if handoffs is None else handoffs)
    return _messages([box.run(call) for call in calls_of(reply)])


async def arun_tools(
    client: AsyncAnthropic, reply: Any, tools: Tools, *, handoffs: Mapping[str, str] | None = None
) -> list[Any]:
    """`run_tools` for async code: the calls run side by side, and tools may be coroutine functions."""
    box = Toolbox(hosted_by(client), tools, {} if handoffs is None else handoffs)
    return _messages(await box.arun_all(calls_of(reply)))


def calls_of(reply: Any) -> list[Asked]:
    """The tool calls of a message that are for the caller to run."""
    blocks = [block for block in parts(reply, "content") if part(block, "type") == "tool_use"]
    return [Asked(part(block, "id"), part(block, "name"), arguments(part(block, "input"))) for block in blocks]


def _messages(results: Iterable[Done]) -> list[Any]:
    blocks = [
        {
            "type": "tool_result",
            "tool_use_id": done.call.id,
            "content": text_of(done.content),
            "is_error": done.failed,
        }
        for done in results
    ]
    return [{"role": "user", "content": blocks}] if blocks else []
