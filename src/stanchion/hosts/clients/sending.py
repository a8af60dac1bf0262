"""Sending: one request of a client, from what its caller asked for to what its caller gets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

import msgspec

from stanchion.hosts import Hosted, survey
from stanchion.hosts.clients.bodies import RAW, shown, tries_of, wanted, with_body, with_stream
from stanchion.hosts.clients.events import Events
from stanchion.hosts.clients.forms import Form, form_of
from stanchion.hosts.contract.survey import by_provider
from stanchion.hosts.http.leaving import Cleared, Terms
from stanchion.hosts.http.outgoing import Outgoing, encoding_of

UNSAID: Final = frozenset({"Omit", "NotGiven"})
"""Types of values by which SDKs say that something was not given; they are not sent."""


class Waist(msgspec.Struct, frozen=True):
    """Whom a guarded client works for, and which of its requests ask a model. Every request passes
    here."""

    hosted: Hosted
    forms: tuple[Form, ...]
    http: Any
    leaving: Terms


class Sending:
    """One request, however often the SDK tries it."""

    def __init__(
        self, client: Any, waist: Waist, cast_to: Any, options: Any, stream: bool, stream_cls: Any
    ) -> None:
        self.client, self.waist = client, waist
        self.cast_to = client._maybe_override_cast_to(cast_to, options)
        self.stream, self.stream_cls = stream, stream_cls
        self.body = _body(options)
        self.form = (
            form_of(waist.forms, options.method, options.url) if self.body is not None else None
        )
        self.options, raw = _plain(options)
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
        survey(self.waist.hosted.run, by_provider(tools if isinstance(tools, list) else ()))
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

    def outgoing(self, request: Any) -> Outgoing:
        """A request as it is about to leave; its body was read."""
        headers = tuple(
            [
                (name.decode("latin-1"), value.decode("latin-1"))
                for name, value in request.headers.raw
            ]
        )
        return Outgoing(
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


_under_way: ContextVar[Sending | None] = ContextVar("stanchion_sending", default=None)


def under_way(client: Any) -> Sending | None:
    """The request that a client is sending now; `None` where it sends none that anybody has judged
    or will judge."""
    sending = _under_way.get()
    return sending if sending is not None and sending.client is client else None


@contextmanager
def sent(sending: Sending) -> Iterator[None]:
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


def _plain(options: Any) -> tuple[Any, str]:
    """The options without the wish for a raw response, and that wish."""
    headers = options.headers if isinstance(options.headers, Mapping) else None
    if headers is None or RAW not in headers:
        return options, ""
    rest = {name: value for name, value in headers.items() if name != RAW}
    return options.model_copy(update={"headers": rest}), str(headers[RAW])
