"""What an adapter of an SDK offers: a guarded client, and the tool calls of its replies run. One
maker for all SDKs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, Protocol, TypeVar

from stanchion.hosts import Host, Hosted
from stanchion.hosts.clients.forms import Form
from stanchion.hosts.clients.guarded import guarded, hosted_by
from stanchion.hosts.clients.tools import Asked, Done, Toolbox, Tools
from stanchion.hosts.http.leaving import MAX_BODY

Client = TypeVar("Client")


class Guard(Protocol):
    """A client for a run, of the same type and with the same options and connections; the given one
    stays as it is.

    Requests to a model are judged with their replies. All others are judged as they leave, up to
    `max_body` bytes, and what comes back is judged as a tool's result. What is refused raises
    `Refused`.
    """

    def __call__(self, client: Client, run: Any, *, max_body: int = MAX_BODY) -> Client:
        """A client for a run."""


class RunTools(Protocol):
    """Run the tool calls of a reply for the run of a guarded client; gives the messages to send
    with the next request.

    `handoffs` maps tools to the agents that take over when they are called. A refused call is
    answered with the reason; what ends the run is raised.
    """

    def __call__(
        self, client: Any, reply: Any, tools: Tools, *, handoffs: Mapping[str, str] | None = None
    ) -> list[Any]:
        """The messages with what came of the calls."""


class AsyncRunTools(Protocol):
    """`run_tools` for async code: the calls run side by side, and tools may be coroutine
    functions."""

    async def __call__(
        self, client: Any, reply: Any, tools: Tools, *, handoffs: Mapping[str, str] | None = None
    ) -> list[Any]:
        """The messages with what came of the calls."""


class Running(NamedTuple):
    """Runs the tool calls of replies, for sync and for async code."""

    run_tools: RunTools
    arun_tools: AsyncRunTools


def guarding(host: Host, forms: tuple[Form, ...]) -> Guard:
    """What makes guarded clients of an SDK, whose requests to models have these forms."""

    def guard(client: Client, run: Any, *, max_body: int = MAX_BODY) -> Client:
        made: Client = guarded(client, host, run, forms, max_body)
        return made

    guard.__doc__ = Guard.__doc__
    return guard


def running(
    calls_of: Callable[[Any], list[Asked]],
    results_for: Callable[[Any, Iterable[Done]], list[Any]],
    hosted: Callable[[Any], Hosted] = hosted_by,
) -> Running:
    """What runs the calls of an SDK's replies: `calls_of` finds them, `results_for` writes what
    came of them, `hosted` says which run a client works for."""

    def box(client: Any, tools: Tools, handoffs: Mapping[str, str] | None) -> Toolbox:
        return Toolbox(hosted(client), tools, {} if handoffs is None else handoffs)

    def run_tools(
        client: Any, reply: Any, tools: Tools, *, handoffs: Mapping[str, str] | None = None
    ) -> list[Any]:
        run = box(client, tools, handoffs).run
        return results_for(reply, [run(call) for call in calls_of(reply)])

    async def arun_tools(
        client: Any, reply: Any, tools: Tools, *, handoffs: Mapping[str, str] | None = None
    ) -> list[Any]:
        return results_for(reply, await box(client, tools, handoffs).arun_all(calls_of(reply)))

    run_tools.__doc__, arun_tools.__doc__ = RunTools.__doc__, AsyncRunTools.__doc__
    return Running(run_tools, arun_tools)
