"""Upstreams: the servers behind the proxy, and how each of them is reached."""

from __future__ import annotations

import os
import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from hashlib import blake2b
from typing import Any, Final

import msgspec

from stanchion.hosts.mcp.names import ALONE
from stanchion.hosts.mcp.pipes import LONGEST, TOO_LONG
from stanchion.hosts.mcp.streams import Hide, started, without_secrets

Streams = tuple[Any, Any]
"""What is read from a server, and what is written to it."""

Connect = Callable[[Mapping[str, str]], AbstractAsyncContextManager[Streams]]
"""Opens a connection; given the headers of the client that it is for."""

CONNECT_S: Final = 30.0
"""How long a server may take to let a connection be opened."""
READ_S: Final = 300.0
"""How long a server may be silent on a stream that it holds open."""

UNNAMED: Final = "server"
"""What a server is called that nobody has named."""


class BadUpstream(ValueError):
    """A server is described in a way that cannot work."""


class Upstream(msgspec.Struct, frozen=True):
    """One server: the name people know it by, and what opens a connection to it."""

    name: str
    connect: Connect
    own_headers: frozenset[str] = frozenset()
    """The headers that were set for it: a client's of the same names do not go on to it."""
    told_by: str = ""
    """What tells it from other servers where nobody has named it: its command or its address."""

    @property
    def place(self) -> str:
        """What its command or address is called; empty where neither is known."""
        return (
            f"{UNNAMED}-{blake2b(self.told_by.encode(), digest_size=4).hexdigest()}"
            if self.told_by
            else ""
        )

    @property
    def pinned_as(self) -> str:
        """Whose the definitions of its tools are pinned as, unless they were pinned otherwise
        before."""
        return self.place if self.name == UNNAMED and self.place else self.name

    def __post_init__(self) -> None:
        if ALONE.fullmatch(self.name) is None:
            raise BadUpstream(
                f"a server has the name `{self.name}`: give it one of at most 64 letters, digits, "
                f"spaces and dashes"
            )


def command(
    name: str, words: list[str], env: Mapping[str, str] | None = None, *, hide: Hide = str
) -> Upstream:
    """A server that is started as a process, once for each client, and spoken to on its standard
    streams; `hide` takes the secrets out of a line of its log."""
    if not words:
        raise BadUpstream(f"there is no command for `{name}`: give it behind `--`")

    @asynccontextmanager
    async def connect(headers: Mapping[str, str]) -> AsyncIterator[Streams]:
        with without_secrets(hide) as log:
            async with started(words, {**_inherited(), **(env or {})}, log) as streams:
                yield streams

    return Upstream(name, connect, told_by="\0".join(words))


def url(name: str, address: str, headers: Mapping[str, str] | None = None) -> Upstream:
    """A server that is reached over streamable HTTP; its own headers win over those of a client."""
    if not re.match(r"https?://[^/]", address):
        raise BadUpstream(
            f"`{name}` has an address that is not of HTTP: give one that begins with `https://`"
        )
    own = {key.lower(): value for key, value in (headers or {}).items()}

    @asynccontextmanager
    async def connect(given: Mapping[str, str]) -> AsyncIterator[Streams]:
        import httpx2
        from mcp.client.streamable_http import streamable_http_client

        class Bounded(httpx2.AsyncByteStream):
            """The body of an answer, which ends with an error where it is too long."""

            def __init__(self, body: Any) -> None:
                self._body, self._left = body, LONGEST

            async def __aiter__(self) -> AsyncIterator[bytes]:
                async for part in self._body:
                    self._left -= len(part)
                    if self._left < 0:
                        raise httpx2.StreamError(TOO_LONG)
                    yield part

            async def aclose(self) -> None:
                await self._body.aclose()

        async def bound(answer: httpx2.Response) -> None:
            # A stream of events goes on for long; the library bounds each of them.
            if not answer.headers.get("content-type", "").startswith("text/event-stream"):
                answer.stream = Bounded(answer.stream)

        patience = httpx2.Timeout(CONNECT_S, read=READ_S)
        hooks = {"response": [bound]}
        async with (
            httpx2.AsyncClient(
                headers={**given, **own}, timeout=patience, event_hooks=hooks
            ) as client,
            streamable_http_client(address, http_client=client) as streams,
        ):
            yield streams

    return Upstream(name, connect, frozenset(own), address)


def _inherited() -> dict[str, str]:
    """The environment that the client gave: it is meant for the server, all but what is for
    Stanchion itself."""
    return {name: value for name, value in os.environ.items() if not name.startswith("STANCHION_")}


def header(text: str, environment: Mapping[str, str]) -> tuple[str, str]:
    """A header as it is written, `NAME=VARIABLE`, or `NAME=WORDS VARIABLE` with words that stand
    before the value. The value is in the environment, and in no list of processes."""
    name, equals, value = text.partition("=")
    words, _, variable = value.strip().rpartition(" ")
    if not equals or not name.strip() or not variable:
        raise BadUpstream(f"the header `{name}` has no variable: write it as `NAME=VARIABLE`")
    if variable not in environment:
        raise BadUpstream(f"the header `{name}` needs the variable `{variable}`: set it")
    return name.strip().lower(), f"{words} {environment[variable]}".lstrip()
