"""Guarded clients: a client of an SDK, of a class made from its own, whose every request is judged.

All methods of a client end in one: `request`, which tries as often as the SDK likes and makes a
typed result of what came. It is judged there, once, whatever the SDK does inside. Of a response its
body is judged, before anything is made from it: so what is parsed, counted together from a stream
or handed out raw is what was judged.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Coroutine, Iterable, Mapping
from functools import cache
from importlib import import_module
from inspect import isawaitable
from secrets import token_hex
from typing import Any, Final, NamedTuple, NoReturn, Protocol, TypeVar

from stanchion.hosts import Host, Hosted
from stanchion.hosts.clients.codes import UNJUDGED, UNSEEN
from stanchion.hosts.clients.forms import RequestForm
from stanchion.hosts.clients.sending import ClientRuns, SdkRequest, Waist, sent, under_way
from stanchion.hosts.clients.tools import CallAnswer, ReplyCall, ReplyTools, Tools
from stanchion.hosts.contract.acting import go_ahead
from stanchion.hosts.contract.canary import HOST, TOOL, Canary
from stanchion.hosts.contract.flows import reported
from stanchion.hosts.http.leaving import MAX_BODY, ClientTerms, leave
from stanchion.kernel.actions import Action
from stanchion.kernel.events import Egress
from stanchion.kernel.findings import Finding
from stanchion.kernel.shown import StanchionError
from stanchion.kernel.stages import Stage
from stanchion.runtime.driving.flow import Flow

NEEDED: Final = (
    "request", "copy", "with_options", "_process_response", "_maybe_override_cast_to",
    "_prepare_options", "_prepare_request", "_make_sse_decoder",
)  # fmt: skip
"""What an SDK has to have for its clients to be guarded."""
SOCKET: Final = "a web socket"
WAIST: Final = "_stanchion"
LIBRARIES: Final = ("httpx2", "httpx")
"""What SDKs send with."""


class UnknownClient(StanchionError, TypeError):
    """A client has not the form that can be guarded."""


def _guarded_class(kind: Any) -> type[Any]:
    """What guarded clients of both kinds have. Made from one class alone: a client can only become
    one of a class with the same layout."""

    class Guarded(kind):
        """A client for a run."""

        _stanchion: Waist | None = None

        def copy(self, **options: Any) -> Any:
            """A client with other options for the same run."""
            made = super().copy(**options)
            made._stanchion = self._stanchion
            return made

        def with_options(self, **options: Any) -> Any:
            """The same."""
            return self.copy(**options)

        @property
        def beta(self) -> Any:
            """What is new in the SDK; helpers that run tools have them judged."""
            found = super().beta
            waist = self._stanchion
            if waist is not None:
                waist.fit(found, lambda: waist.runs.now, waist.mark)
            return found

    if not hasattr(kind, "beta"):
        del Guarded.beta
    return _socketless_class(Guarded) if _has_sockets(kind) else Guarded


def _socketless_class(kind: Any) -> type[Any]:
    """Guarded clients of an SDK that opens web sockets, which pass by `request`. Before it opens
    one it asks the client where it leads, or for its key."""

    class Socketless(kind):
        """A client for a run."""

        @property
        def auth_headers(self) -> Any:
            """The key of the client; only requests read it in another way."""
            _refuse(self, UNSEEN, SOCKET)

        def _websocket_query_params(self, *_given: Any, **_more: Any) -> Any:
            _refuse(self, UNSEEN, SOCKET)

        _websocket_query_params_fallback = _configure_realtime = _websocket_query_params

    return Socketless


def _judging_class(kind: Any, awaited: bool) -> type[Any]:
    """Guarded clients whose methods give their results, or are awaited."""
    base: Any = _guarded_class(kind)
    run: Callable[[Any], Any] = (lambda work: work) if awaited else finished

    class Judged(base):
        """A client for a run."""

        def request(
            self, cast_to: Any, options: Any, *, stream: bool = False, stream_cls: Any = None
        ) -> Any:
            """Send what the run may send, and give what it may see."""
            sending = SdkRequest(self, _waist(self), cast_to, options, stream, stream_cls)
            return run(_requested(self, super().request, sending, awaited))

        def _prepare_options(self, options: Any) -> Any:
            _sending(self)
            return super()._prepare_options(options)

        def _prepare_request(self, request: Any) -> Any:
            return run(_prepared(self, super()._prepare_request, request, awaited))

    return Judged


async def _requested(
    client: Any, send: Callable[..., Any], sending: SdkRequest, awaited: bool
) -> Any:
    """A request of a client from its judgement to what its caller gets; of a client that is not
    async nothing is waited for."""

    async def fetch(made: Any) -> Any:
        with sent(sending):
            came = await _settled(send(sending.waist.http.Response, made, stream=sending.unread))
        came = getattr(came, "http_response", came)
        if not sending.stream:
            await _settled(came.aread() if awaited else came.read())
        judged, events = sending.read(came), sending.events
        if events is None:
            return judged
        return events.aread() if awaited else events.read()

    async def ask(messages: list[Any], **params: Any) -> Any:
        return await fetch(sending.asking(messages, params))

    hosted = sending.hosted
    if sending.unjudged:
        _refuse(client, UNJUDGED, sending.unjudged)
    if sending.form is None:
        judged = await fetch(sending.options)
        if sending.stream:
            judged = hosted.astream(judged) if awaited else hosted.stream(judged)
        else:
            flow = _seen(sending, judged)
            judged = await hosted.adrive(flow) if awaited else hosted.drive(flow)
    elif awaited:
        judged = await hosted.amodel(ask, **sending.asked())
    else:
        judged = hosted.model(
            lambda *given, **more: finished(ask(*given, **more)), **sending.asked()
        )
    return await _settled(client._process_response(**sending.told(judged, awaited)))


async def _prepared(
    client: Any, prepare: Callable[[Any], Any], request: Any, awaited: bool
) -> None:
    """Have a request that asks no model judged as it is about to leave."""
    await _settled(prepare(request))
    sending = _sending(client)
    if sending.form is None:
        await _settled(request.aread() if awaited else request.read())
        hosted, flow = sending.hosted, _leave(sending, request)
        sending.leaves(request, await hosted.adrive(flow) if awaited else hosted.drive(flow))


async def _settled(value: Any) -> Any:
    return await value if isawaitable(value) else value


def finished(work: Coroutine[Any, Any, Any]) -> Any:
    """What a coroutine gives that waits for nothing."""
    try:
        work.send(None)
    except StopIteration as done:
        return done.value
    raise RuntimeError("a client that is not async has something to wait for")


def guarded(
    client: Any,
    host: Host,
    run: Any,
    forms: Iterable[RequestForm],
    max_body: int,
    fit: Fit,
) -> Any:
    """A client like that one, whose every request is judged for the run."""
    missing = [name for name in NEEDED if not hasattr(client, name)]
    if missing or hasattr(client, WAIST):
        why = f"it has no `{missing[0]}`" if missing else "it is guarded already"
        raise UnknownClient(
            f"`{type(client).__name__}` cannot be guarded: {why}; give a client of the SDK"
        )
    runs = ClientRuns(host, run)
    made = client.copy()
    kind: Any = type(made)
    made.__class__ = _class_of(kind)
    made._stanchion = Waist(
        runs, host.name, tuple(forms), library_of(client), max_body, fit, token_hex()
    )
    return made


def hosted_by(client: Any) -> Hosted:
    """The run that a guarded client works for here, on its host."""
    return _waist(client).runs.now


@cache
def _class_of(kind: type[Any]) -> type[Any]:
    """The class of guarded clients for a class of clients."""
    waits = any(base.__name__ == "AsyncAPIClient" for base in kind.__mro__)
    made = _judging_class(kind, waits)
    made.__name__ = made.__qualname__ = f"Guarded{kind.__name__}"
    return made


def _has_sockets(kind: type[Any]) -> bool:
    return any(
        "websocket_base_url" in vars(base).get("__annotations__", {}) for base in kind.__mro__
    )


def library_of(client: Any) -> Any:
    """The HTTP library whose responses an SDK takes."""
    for base in type(client).__mro__:
        if base.__name__ == "BaseClient":
            found = [vars(sys.modules[base.__module__]).get(name) for name in LIBRARIES]
            return next(library for library in found if library is not None)
    raise UnknownClient(
        f"`{type(client).__name__}` cannot be guarded: it sends with none of {', '.join(LIBRARIES)}"
    )


def _waist(client: Any) -> Waist:
    waist: Waist | None = client._stanchion
    if waist is None:
        raise UnknownClient(
            "this client was not made by `guard`: use `copy` or `with_options` of a guarded one"
        )
    return waist


def _sending(client: Any) -> SdkRequest:
    """What a client is sending; raises `Refused` where nobody judges it."""
    sending = under_way(client)
    return sending if sending is not None else _refuse(client, UNSEEN, "this method")


def _refuse(client: Any, code: str, what: str) -> NoReturn:
    """Refuse what leaves on another way than by a request, or for tools that nobody judges."""
    waist = _waist(client)
    hosted = waist.runs.now
    desk = hosted.run.desk
    event: Any = desk.event(Egress, waist.name, url=str(client.base_url))
    hosted.drive(go_ahead(desk, event, (Finding(Action.BLOCK, code, (what,), guard="kernel"),)))
    raise AssertionError("what is refused does not go ahead")


def _leave(sending: SdkRequest, request: Any) -> Flow[Any]:
    """A request that asks no model, judged as it is about to leave: once, however often the SDK
    tries."""
    if sending.cleared is None:
        terms = ClientTerms(sending.hosted, sending.waist.name, sending.waist.max_body)
        return (yield from leave(terms, sending.outgoing(request)))
    return sending.cleared


def _seen(sending: SdkRequest, came: Any) -> Flow[Any]:
    """What came for a request that asks no model, as the agent may see it."""
    if came is None:
        return None
    told = yield from reported(
        sending.hosted,
        Stage.TOOL_RESULT,
        "",
        None,
        {"tool": sending.waist.name, "result": came},
    )
    return told.content


def sending_nowhere(client: Any, called: Callable[[], str]) -> Any:
    """A client like that one; its requests are answered as by a provider that fails, once `called`
    has been."""
    library = library_of(client)
    transport = library.MockTransport(lambda _: library.Response(500, text=called()))
    kind = library.AsyncClient if hasattr(client, "__aenter__") else library.Client
    return client.copy(http_client=kind(transport=transport))


CANARY: Final[dict[str, Any]] = {
    "model": TOOL,
    "messages": [{"role": "user", "content": "answer"}],
}
"""A request to a model that must not be asked."""


def canaries_of(
    host: Host, kinds: tuple[str, str], ask: Callable[[Any, Hosted], Any]
) -> tuple[Canary, Canary]:
    """The canaries of clients of an SDK, sync and async: `kinds` are their classes as
    `module:Class`, and `ask` asks the model by a client that sends nothing."""

    def nowhere(kind: str, body: Callable[[], str]) -> Any:
        module, _, name = kind.partition(":")
        made = getattr(import_module(module), name)
        return sending_nowhere(
            made(api_key=TOOL, base_url=f"https://{HOST}/v1", max_retries=0), body
        )

    def canary(shield: Any, body: Callable[[], str]) -> None:
        with host.run(shield, agent=TOOL) as hosted, nowhere(kinds[0], body) as client:
            ask(client, hosted)

    async def async_canary(shield: Any, body: Callable[[], str]) -> None:
        async with host.run(shield, agent=TOOL) as hosted, nowhere(kinds[1], body) as client:
            await ask(client, hosted)

    return canary, async_canary


Fit = Callable[[Any, Callable[[], Hosted], str], None]


def nothing_to_fit(_beta: Any, _hosted: Callable[[], Hosted], _mark: str) -> None:
    """The SDK has no helpers that run tools."""


Client = TypeVar("Client")


class Guard(Protocol):
    """A client for a shield or a run, of the same type and with the same options and connections;
    the given one stays as it is. With a shield, a request belongs to the run that its caller is in,
    or else to one of the client's own, which lasts as long as the client.

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


def guarding(host: Host, forms: tuple[RequestForm, ...], fit: Fit = nothing_to_fit) -> Guard:
    """What makes guarded clients of an SDK, whose requests to models have these forms."""

    def guard(client: Client, run: Any, *, max_body: int = MAX_BODY) -> Client:
        made: Client = guarded(client, host, run, forms, max_body, fit)
        return made

    guard.__doc__ = Guard.__doc__
    return guard


def running(
    calls_of: Callable[[Any], list[ReplyCall]],
    results_for: Callable[[Any, Iterable[CallAnswer]], list[Any]],
    hosted: Callable[[Any], Hosted] = hosted_by,
) -> Running:
    """What runs the calls of an SDK's replies: `calls_of` finds them, `results_for` writes what
    came of them, `hosted` says which run a client works for."""

    def box(client: Any, tools: Tools, handoffs: Mapping[str, str] | None) -> ReplyTools:
        return ReplyTools(hosted(client), tools, {} if handoffs is None else handoffs)

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
