"""The proxy over HTTP, on both sides: sessions, headers that are passed on, and what is written
down of them."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx2
import pytest
import uvicorn
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from stanchion.hosts.mcp import serving, upstream
from stanchion.hosts.mcp.proxy import Proxy
from stanchion.hosts.mcp.upstream import BadUpstream, header, url
from stanchion.testing import shield_for
from tests.hosts.mcp.servers import ERAS, KEY, Tools, piped, said, text

BARE: dict[str, Any] = {"name": "bare", "guards": [{"use": "secrets"}]}
TOKEN = "Bearer not-for-any-log"


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> str:
    """How the client speaks."""
    return str(request.param)


@asynccontextmanager
async def listening(server: Any) -> AsyncIterator[str]:
    """A server on this machine; gives its address."""
    config = uvicorn.Config(
        getattr(server, "streamable_http_app", lambda: server)(),
        host="127.0.0.1",
        port=0,
        log_level="error",
        lifespan="on",
    )
    served = uvicorn.Server(config)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(served.serve)
        with anyio.fail_after(60):
            while not served.started:
                await anyio.sleep(0.01)
        try:
            yield f"http://127.0.0.1:{served.servers[0].sockets[0].getsockname()[1]}/mcp"
        finally:
            served.should_exit = True
            served.force_exit = True


@asynccontextmanager
async def client_at(address: str, era: str, **headers: str) -> AsyncIterator[Client]:
    """A client with headers of its own."""
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http,
        Client(streamable_http_client(address, http_client=http), mode=era, cache=None) as client,
    ):
        yield client


class Seeing(Tools):
    """A server that remembers the headers it gets."""

    def __init__(self) -> None:
        super().__init__(see=self.see)
        self.seen: list[tuple[str | None, ...]] = []

    def see(self, context: Any, args: dict[str, Any]) -> Any:
        """Remember them, and give a secret of another kind."""
        self.seen.append(
            tuple(
                context.request.headers.get(name) for name in ("authorization", "x-team", "x-own")
            )
        )
        return text(KEY)


def test_authorisation_goes_on_to_the_server_and_into_no_log(
    era: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    tools = Seeing()
    shield = shield_for(BARE)

    async def played() -> str:
        async with listening(tools.server()) as there:
            proxy = Proxy(shield, [url("up", there, {"X-Own": "ours"})])
            given = {"authorization": TOKEN, "x-team": "red", "x-own": "theirs"}
            async with listening(proxy.server) as here, client_at(here, era, **given) as client:
                return said(await client.call_tool("see", {}))

    assert anyio.run(played) == "[redacted:github-pat]"
    assert tools.seen == [(TOKEN, None, "ours")]
    kept = " ".join(str(entry.read()) for entry in shield.journal.kept())
    assert "not-for-any-log" not in caplog.text + kept


def test_clients_of_different_authorisation_share_nothing(era: str) -> None:
    tools = Seeing()

    async def played() -> None:
        async with listening(tools.server()) as there:
            proxy = Proxy(shield_for(BARE), [url("up", there)], passed=["authorization", "X-Team"])
            async with listening(proxy.server) as here:
                for who in ("ann", "bob", "ann"):
                    async with client_at(
                        here, era, authorization=who, **{"x-team": "red"}
                    ) as client:
                        await client.call_tool("see", {})

    anyio.run(played)
    assert tools.seen == [("ann", "red", None), ("bob", "red", None), ("ann", "red", None)]


def test_a_session_that_the_server_has_forgotten_is_begun_again() -> None:
    tools = Tools(find=lambda context, args: text("found"))

    async def played() -> str:
        server = tools.server()
        async with listening(server) as there:
            proxy = Proxy(shield_for(BARE), [url("up", there)])
            async with listening(proxy.server) as here, client_at(here, "legacy") as client:
                assert said(await client.call_tool("find", {})) == "found"
                for transport in list(server.session_manager._server_instances.values()):
                    await transport.terminate()
                return said(await client.call_tool("find", {}))

    assert anyio.run(played) == "found"
    assert len(tools.calls) == 2


@pytest.mark.parametrize(
    "words", ["Authorization", "=TOKEN", "Authorization=", "Authorization=MISSING"]
)
def test_a_header_that_cannot_be_set_is_told_without_its_value(words: str) -> None:
    with pytest.raises(BadUpstream) as caught:
        header(words, {"TOKEN": TOKEN})
    assert "not-for-any-log" not in str(caught.value)


def test_the_value_of_a_header_comes_from_the_environment() -> None:
    assert header("Authorization=TOKEN", {"TOKEN": TOKEN}) == ("authorization", TOKEN)
    bearer = header("Authorization=Bearer TOKEN", {"TOKEN": "x"})
    assert bearer == ("authorization", "Bearer x")


@pytest.mark.parametrize(("size", "status"), [(64, 200), (65, 413)])
def test_a_body_that_is_too_long_is_not_read(
    size: int, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where nobody says how long it is: the rest is not asked for."""
    monkeypatch.setattr(serving, "LONGEST", 64)
    parts = [
        {"type": "http.request", "body": b"x", "more_body": number < size}
        for number in range(1, size + 1)
    ]
    came, sent = iter([*parts, {"type": "http.disconnect"}]), list[Any]()

    async def receive() -> Any:
        return next(came)

    async def send(message: Any) -> None:
        sent.append(message)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        assert len((await receive())["body"]) == size
        assert (await receive())["type"] == "http.disconnect"
        await send({"type": "http.response.start", "status": 200})

    anyio.run(serving.bounded(app), {"type": "http"}, receive, send)
    assert sent[0]["status"] == status


def test_an_answer_that_is_too_long_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upstream, "LONGEST", 4_096)
    tools = Tools(
        long=lambda context, args: text("x" * 5_000), short=lambda context, args: text("tea")
    )

    async def played() -> tuple[str, str]:
        app = tools.server().streamable_http_app(json_response=True)
        async with listening(app) as address:
            proxy = Proxy(shield_for(BARE), [url("up", address)])
            async with piped(proxy, "legacy") as client:
                with anyio.fail_after(60), pytest.raises(MCPError) as failed:
                    await client.call_tool("long", {})
                return failed.value.message, said(await client.call_tool("short", {}))

    told, after = anyio.run(played)
    assert "more than 16 MiB" in told
    assert after == "tea"
