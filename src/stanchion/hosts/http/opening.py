"""Opening clients for a run: a client's package is loaded when it is first asked for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from stanchion.hosts.http.leaving import HTTP, MAX_BODY, ClientTerms
from stanchion.kernel.shown import StanchionError

if TYPE_CHECKING:
    import requests

    from stanchion.hosts.http.aiohttp_connector import Connector
    from stanchion.hosts.http.httpx_transport import AsyncTransport, Transport
    from stanchion.hosts.http.requests_adapter import Adapter
    from stanchion.runtime.run import Run


class NoClient(StanchionError, ImportError):
    """The package of a client is not installed."""


def httpx_transport(run: Run, **options: Any) -> Transport:
    """A transport for `httpx.Client`."""
    with _needing("httpx"):
        from stanchion.hosts.http.httpx_transport import Transport
    return Transport(_terms(run, **options), **_own(options))


def async_httpx_transport(run: Run, **options: Any) -> AsyncTransport:
    """A transport for `httpx.AsyncClient`."""
    with _needing("httpx"):
        from stanchion.hosts.http.httpx_transport import AsyncTransport
    return AsyncTransport(_terms(run, **options), **_own(options))


def requests_adapter(run: Run, **options: Any) -> Adapter:
    """An adapter to mount on a `requests.Session`."""
    with _needing("requests"):
        from stanchion.hosts.http.requests_adapter import Adapter
    return Adapter(_terms(run, **options), **_own(options))


def requests_session(run: Run, **options: Any) -> requests.Session:
    """A `requests.Session` with an adapter for everything it sends."""
    with _needing("requests"):
        from stanchion.hosts.http.requests_adapter import session
    return session(_terms(run, **options), **_own(options))


def aiohttp_connector(run: Run, **options: Any) -> Connector:
    """A connector for `aiohttp.ClientSession`."""
    with _needing("aiohttp"):
        from stanchion.hosts.http.aiohttp_connector import Connector
    return Connector(_terms(run, **options), **_own(options))


def _terms(run: Run, tool: str = "", max_body: int = MAX_BODY, **_: Any) -> ClientTerms:
    if max_body < 0:
        raise ValueError(f"max_body is `{max_body}`: give a number of bytes that is not negative")
    return ClientTerms(HTTP.on(run), tool, max_body)


def _own(options: dict[str, Any]) -> dict[str, Any]:
    """The options that are the client's own."""
    return {name: value for name, value in options.items() if name not in ("tool", "max_body")}


@contextmanager
def _needing(package: str) -> Iterator[None]:
    try:
        yield
    except ModuleNotFoundError as error:
        raise NoClient(f"`{package}` is not installed: install the extra `{package}`") from error
