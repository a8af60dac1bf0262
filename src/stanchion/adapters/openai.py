"""Clients of `openai`, sync and async: every request judged, every reply as the run may see it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, TypeVar

from stanchion.adapters.clients.guarded import guarded, hosted_by
from stanchion.adapters.clients.openai_forms import CHAT, COMPLETIONS, RESPONSES, calls_of, results_for
from stanchion.adapters.clients.tools import Toolbox, Tools, refused
from stanchion.adapters.http.leaving import MAX_BODY
from stanchion.hosting import EVERYTHING, Host, tried

if TYPE_CHECKING:
    from openai import AsyncOpenAI, OpenAI

    Client = TypeVar("Client", OpenAI, AsyncOpenAI)

tried("openai", "2.54", "4")

OPENAI: Final = Host("openai", can=EVERYTHING, refused=refused, stream="chunk")
"""A client that sends a request as it was decided, or raises `Refused`."""

FORMS: Final = (CHAT, RESPONSES, COMPLETIONS)
"""Requests to a model. The path of `CHAT` ends like that of `COMPLETIONS`, so it stands first."""


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
    return results_for(reply, [box.run(call) for call in calls_of(reply)])


async def arun_tools(
    client: AsyncOpenAI, reply: Any, tools: Tools, *, handoffs: Mapping[str, str] | None = None
) -> list[Any]:
    """`run_tools` for async code: the calls run side by side, and tools may be coroutine functions."""
    box = Toolbox(hosted_by(client), tools, {} if handoffs is None else handoffs)
    return results_for(reply, await box.arun_all(calls_of(reply)))
