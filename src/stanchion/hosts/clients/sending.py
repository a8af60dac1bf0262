"""Sending: one request of a client, from what its caller asked for to what its caller gets."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache
from importlib import import_module
from typing import Any, Final

import msgspec

from stanchion.hosts import Host, Hosted, Works, survey
from stanchion.hosts.clients.events import Events
from stanchion.hosts.clients.forms import RequestForm, form_of
from stanchion.hosts.contract.frameworks import by_provider
from stanchion.hosts.http.leaving import Cleared
from stanchion.hosts.http.outgoing import OutgoingRequest, encoding_of
from stanchion.runtime.run import current_run

FRAMING: Final = frozenset({"content-encoding", "content-length", "transfer-encoding"})
"""Headers that say how a body was packed; another body has its own."""
RAW: Final = "X-Stainless-Raw-Response"
"""The header by which an SDK knows that its caller wants the response itself."""
JUDGED: Final = "x-stanchion-judged"
"""The header by which we know that a helper's tools are judged; it is not sent."""
OURS: Final = frozenset({RAW.lower(), JUDGED})
HELPERS: Final = "x-stainless-helper"
"""The header in which an SDK names its helpers that send."""
RUNNERS: Final = frozenset(
    {"BetaToolRunner", "session-tool-runner", "environments-worker", "environments-work-poller"}
)
"""Helpers that run tools."""
TRIES: Final = "x-stainless-retry-count"
"""The header in which it says how often it has tried."""


def shown(response: Any) -> Any:
    """What a response says: JSON as data, other text as text; `None` where it is neither, as an
    image."""
    content = response.content
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        pass
    try:
        return content.decode("utf-8") if content else None
    except UnicodeDecodeError:
        return None


def with_body(response: Any, data: Any) -> Any:
    """A response that says something else."""
    content = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
    return _made(response, content=content.encode("utf-8", "surrogatepass"))


def with_stream(response: Any, lines: Iterator[bytes] | AsyncIterator[bytes], awaited: bool) -> Any:
    """A response whose body comes piece by piece; closing it closes what it is made from."""
    made = _streams(type(response).__module__.partition(".")[0])[awaited]
    return _made(response, stream=made(lines, response))


def wanted(response: Any, raw: str) -> Any:
    """A response as the caller of an SDK's method asked for it, whatever was asked for on the
    way."""
    response.request.headers.pop(RAW, None)
    if raw:
        response.request.headers[RAW] = raw
    return response


def tries_of(response: Any) -> int:
    """How often the SDK had tried before this response came."""
    said = response.request.headers.get(TRIES, "0")
    return int(said) if said.isdecimal() else 0


def _made(response: Any, **body: Any) -> Any:
    headers = [
        (name, value)
        for name, value in response.headers.multi_items()
        if name.lower() not in FRAMING
    ]
    made = type(response)(
        response.status_code,
        headers=headers,
        request=response.request,
        extensions=response.extensions,
        **body,
    )
    made.history = response.history
    with suppress(
        RuntimeError
    ):  # a response that is still read, or that nobody has measured, has no such time
        made.elapsed = response.elapsed
    return made


@cache
def _streams(library: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The streams of an HTTP library, sync and async."""
    http: Any = import_module(library)

    class Passing(http.SyncByteStream):  # type: ignore[misc,name-defined] # which library it is is known only here
        def __init__(self, lines: Iterator[bytes], response: Any) -> None:
            self._lines, self._response = lines, response

        def __iter__(self) -> Iterator[bytes]:
            yield from self._lines

        def close(self) -> None:
            self._lines.close()  # type: ignore[attr-defined] # a generator
            self._response.close()

    class AsyncPassing(http.AsyncByteStream):  # type: ignore[misc,name-defined] # the same
        def __init__(self, lines: AsyncIterator[bytes], response: Any) -> None:
            self._lines, self._response = lines, response

        async def __aiter__(self) -> AsyncIterator[bytes]:
            async for line in self._lines:
                yield line

        async def aclose(self) -> None:
            await self._lines.aclose()  # type: ignore[attr-defined] # a generator
            await self._response.aclose()

    return Passing, AsyncPassing


UNSAID: Final = frozenset({"Omit", "NotGiven"})
"""Types of values by which SDKs say that something was not given; they are not sent."""


class ClientRuns:
    """The runs that a client works for: the one that it was given, or one of a shield's.

    That is the run that its caller is in (`with shield.run(...)`), or else one of the client's own,
    for as long as the client is there.
    """

    def __init__(self, host: Host, given: Any) -> None:
        self._host, self._given = host, given
        self._works: Works[Hosted] = Works(host, given, _itself)

    @property
    def now(self) -> Hosted:
        """The run that a request belongs to here."""
        around = current_run()
        if around is not None and getattr(around.desk, "shield", None) is self._given:
            return self._host.on(around)
        return self._works.tied(self, self._host.name)


def _itself(hosted: Hosted) -> Hosted:
    return hosted


class Waist(msgspec.Struct, frozen=True):
    """Whom a guarded client works for, and which of its requests ask a model. Every request passes
    here."""

    runs: ClientRuns
    name: str
    forms: tuple[RequestForm, ...]
    http: Any
    max_body: int
    fit: Callable[[Any, Callable[[], Hosted], str], None]
    """Has the helpers of a client's `beta` judged that run tools."""
    mark: str


class SdkRequest:
    """One request, however often the SDK tries it."""

    def __init__(
        self, client: Any, waist: Waist, cast_to: Any, options: Any, stream: bool, stream_cls: Any
    ) -> None:
        self.client, self.waist = client, waist
        self.hosted = waist.runs.now
        self.cast_to = client._maybe_override_cast_to(cast_to, options)
        self.stream, self.stream_cls = stream, stream_cls
        self.body = _body(options)
        self.form = (
            form_of(waist.forms, options.method, options.url) if self.body is not None else None
        )
        self.options, said = _plain(options)
        raw = said.get(RAW.lower(), "")
        named = f"{said.get(HELPERS, '')},{client._custom_headers.get(HELPERS, '')}"
        runners = RUNNERS.intersection(name.strip() for name in named.split(","))
        self.unjudged = next(iter(runners), "") if said.get(JUDGED) != waist.mark else ""
        self.raw = raw if raw else str(client._custom_headers.get(RAW, ""))
        self.original = options
        self.cleared: Cleared | None = None
        self.came: Any = None
        self.shown: Any = None
        self.events: Events | None = None

    @property
    def unread(self) -> bool:
        """Whether the caller wants the body piece by piece."""
        return self.stream or self.raw == "stream"

    def asked(self) -> dict[str, Any]:
        """What the run is told of a request to a model; tools that the provider runs are named."""
        assert self.form is not None
        assert self.body is not None
        tools = self.body.get("tools")
        survey(self.hosted.run, by_provider(tools if isinstance(tools, list) else ()))
        return self.form.asked(self.body)

    def asking(self, messages: Iterable[Any], params: Mapping[str, Any]) -> Any:
        """The request as it is sent with these messages and parameters."""
        assert self.form is not None
        assert self.body is not None
        body = self.form.written(self.body, messages, params)
        return self.options.model_copy(update={"json_data": body, "extra_json": None})

    def read(self, response: Any) -> Any:
        """What is judged of a response that came."""
        self.came = response
        if self.stream:
            self.events = Events(self.client, response)
            return None
        self.shown = shown(response)
        return self.shown

    def told(self, judged: Any, awaited: bool) -> dict[str, Any]:
        """What the SDK makes its caller's result from, with what was judged in the place of what
        came."""
        response = self.came
        if self.events is not None:
            lines: Any = self.events.awritten(judged) if awaited else self.events.written(judged)
            response = with_stream(response, lines, awaited)
        elif judged is not self.shown:
            response = with_body(response, judged)
        return {
            "cast_to": self.cast_to,
            "options": self.original,
            "response": wanted(response, self.raw),
            "stream": self.stream,
            "stream_cls": self.stream_cls,
            "retries_taken": tries_of(self.came),
        }

    def outgoing(self, request: Any) -> OutgoingRequest:
        """A request as it is about to leave; its body was read."""
        headers = tuple(
            [
                (name.decode("latin-1"), value.decode("latin-1"))
                for name, value in request.headers.raw
            ]
        )
        return OutgoingRequest(
            request.method, str(request.url), headers, request.content, encoding_of(headers)
        )

    def leaves(self, request: Any, cleared: Cleared) -> None:
        """Put what may leave in the place of what was asked for."""
        first, self.cleared = self.cleared is None, cleared
        if first and cleared.request == self.outgoing(request):
            return
        made = cleared.request
        request.url = self.waist.http.URL(made.url)
        request.headers = self.waist.http.Headers(made.headers)
        request.stream = self.waist.http.ByteStream(made.body)
        request._content = made.body


_under_way: ContextVar[SdkRequest | None] = ContextVar("stanchion_sending", default=None)


def under_way(client: Any) -> SdkRequest | None:
    """The request that a client is sending now; `None` where it sends none that anybody has judged
    or will judge."""
    sending = _under_way.get()
    return sending if sending is not None and sending.client is client else None


@contextmanager
def sent(sending: SdkRequest) -> Iterator[None]:
    """A request is being sent inside."""
    before = _under_way.set(sending)
    try:
        yield
    finally:
        _under_way.reset(before)


def _body(options: Any) -> dict[str, Any] | None:
    """The body of a request by name; `None` where it has none, or one of another kind."""
    if getattr(options, "content", None) is not None or options.files is not None:
        return None
    given = [part for part in (options.json_data, options.extra_json) if part is not None]
    if not given or not all(isinstance(part, Mapping) for part in given):
        return None
    whole = {name: value for part in given for name, value in part.items()}
    return {name: value for name, value in whole.items() if type(value).__name__ not in UNSAID}


def _plain(options: Any) -> tuple[Any, dict[str, str]]:
    """The options without what is between the SDK and us, and all headers by their small names."""
    headers = options.headers if isinstance(options.headers, Mapping) else {}
    said = {str(name).lower(): str(value) for name, value in headers.items()}
    if RAW.lower() not in said and JUDGED not in said:
        return options, said
    rest = {name: value for name, value in headers.items() if name.lower() not in OURS}
    return options.model_copy(update={"headers": rest}), said
