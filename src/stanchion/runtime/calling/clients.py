"""The HTTP clients that a run hands out: adapters, found by name when somebody asks for one.

Whoever writes a tool has the run and knows of no adapter. Adapters stand on the runtime, so the
runtime does not import
them: it knows where they are, as it knows the modules of guards by their names.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, TypedDict

if TYPE_CHECKING:
    import ssl

    import aiohttp
    import httpx
    import urllib3

OPENING: Final = "stanchion.hosts.http.opening"
"""Where clients are made for a run: a function for each."""


def client(name: str, run: Any, options: Any) -> Any:
    """A client of that name for a run."""
    return getattr(import_module(OPENING), name)(run, **options)


class _Ours(TypedDict, total=False):
    tool: str
    """Whose requests they are where no tool is at work."""
    max_body: int
    """How many bytes of a body are read to be judged; a longer one is refused."""


class HttpxOptions(_Ours, total=False):
    """What `run.httpx_transport` and `run.async_httpx_transport` take: ours and those of
    `httpx.HTTPTransport`."""

    verify: ssl.SSLContext | str | bool
    cert: Any
    trust_env: bool
    http1: bool
    http2: bool
    limits: httpx.Limits
    proxy: httpx.URL | str | httpx.Proxy | None
    local_address: str | None
    retries: int
    socket_options: Iterable[Any] | None


class RequestsOptions(_Ours, total=False):
    """What `run.requests_adapter` and `run.requests_session` take: ours and those of
    `HTTPAdapter`."""

    pool_connections: int
    pool_maxsize: int
    max_retries: urllib3.Retry | int | None
    pool_block: bool


class AiohttpOptions(_Ours, total=False):
    """What `run.aiohttp_connector` takes: ours and those of `aiohttp.TCPConnector` that do not
    decide where a connection leads."""

    family: Any
    ssl: bool | aiohttp.Fingerprint | ssl.SSLContext
    local_addr: tuple[str, int] | None
    keepalive_timeout: float | None
    force_close: bool
    limit: int
    limit_per_host: int
    enable_cleanup_closed: bool
    timeout_ceil_threshold: float
    happy_eyeballs_delay: float | None
    interleave: int | None
    ssl_shutdown_timeout: float | None
