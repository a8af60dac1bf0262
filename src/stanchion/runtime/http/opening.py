"""Opening clients for a run: a client's package is loaded when it is first asked for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from stanchion.runtime.desk import Desk
from stanchion.runtime.errors import StanchionError
from stanchion.runtime.http.leaving import MAX_BODY, Terms

if TYPE_CHECKING:
    import requests

    from stanchion.runtime.http.aiohttp_connector import Connector
    from stanchion.runtime.http.httpx_transport import AsyncTransport, Transport
    from stanchion.runtime.http.requests_adapter import Adapter


class NoClient(StanchionError, ImportError):
    """The package of a client is not installed."""


def httpx_transport(desk: Desk, **options: Any) -> Transport:
    """A transport for `httpx.Client`."""
    with _needing("httpx"):
        from stanchion.runtime.http.httpx_transport import Transport
    return Transport(_terms(desk, **options), **_own(options))


def async_httpx_transport(desk: Desk, **options: Any) -> AsyncTransport:
    """A transport for `httpx.AsyncClient`."""
    with _needing("httpx"):
        from stanchion.runtime.http.httpx_transport import AsyncTransport
    return AsyncTransport(_terms(desk, **options), **_own(options))


def requests_adapter(desk: Desk, **options: Any) -> Adapter:
    """An adapter to mount on a `requests.Session`."""
    with _needing("requests"):
        from stanchion.runtime.http.requests_adapter import Adapter
    return Adapter(_terms(desk, **options), **_own(options))


def requests_session(desk: Desk, **options: Any) -> requests.Session:
    """A `requests.Session` with an adapter for everything it sends."""
    with _needing("requests"):
        from stanchion.runtime.http.requests_adapter import session
    return session(_terms(desk, **options), **_own(options))


def aiohttp_connector(desk: Desk, **options: Any) -> Connector:
    """A connector for `aiohttp.ClientSession`."""
    with _needing("aiohttp"):
        from stanchion.runtime.http.aiohttp_connector import Connector
    return Connector(_terms(desk, **options), **_own(options))


def _terms(desk: Desk, tool: str = "", max_body: int = MAX_BODY, **_: Any) -> Terms:
    if max_body < 0:
        raise ValueError(f"max_body is `{max_body}`: give a number of bytes that is not negative")
    return Terms(desk, tool, max_body)


def _own(options: dict[str, Any]) -> dict[str, Any]:
    """The options that are the client's own."""
    return {name: value for name, value in options.items() if name not in ("tool", "max_body")}


@contextmanager
def _needing(package: str) -> Iterator[None]:
    try:
        yield
    except ModuleNotFoundError as error:
        raise NoClient(f"`{package}` is not installed: install the extra `{package}`") from error
