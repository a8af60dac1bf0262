"""Servers that die, hang or flood: refused or recovered, and nobody else notices."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp.shared.exceptions import MCPError

from stanchion.hosts.mcp import server_link as links
from stanchion.hosts.mcp.judging import JudgedTraffic
from stanchion.hosts.mcp.proxy import Proxy
from stanchion.hosts.mcp.upstream import Streams, Upstream
from stanchion.testing import shield_for
from tests.hosts.mcp.servers import ERAS, Tools, client_of, piped, said, text
from tests.sampling import SOAK

BARE: dict[str, Any] = {"name": "bare", "guards": [{"use": "secrets"}]}
SESSIONS = 64 if SOAK else 12
CALLS = 50 if SOAK else 4


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> str:
    """How the client speaks."""
    return str(request.param)


class Mortal:
    """A server whose connection breaks when it is told to."""

    def __init__(self, tools: Tools) -> None:
        self.tools, self._inner = tools, tools.upstream()
        self.death = anyio.Event()

    def upstream(self) -> Upstream:
        """It as the proxy reaches it."""

        @asynccontextmanager
        async def connect(headers: Mapping[str, str]) -> AsyncIterator[Streams]:
            self.death = anyio.Event()
            async with (
                self._inner.connect(headers) as (read, write),
                anyio.create_task_group() as tasks,
            ):

                async def dies() -> None:
                    await self.death.wait()
                    await write.aclose()
                    await read.aclose()

                tasks.start_soon(dies)
                yield read, write
                tasks.cancel_scope.cancel()

        return Upstream(self.tools.name, connect)


def test_a_server_that_dies_in_a_call_is_started_again_for_the_next(era: str) -> None:
    async def dies(context: Any, args: dict[str, Any]) -> types.CallToolResult:
        mortal.death.set()
        await anyio.sleep_forever()
        return text("never")

    tools = Tools(die=dies, live=lambda context, args: text("alive"))
    mortal = Mortal(tools)

    async def played() -> tuple[Any, Any]:
        async with client_of(shield_for(BARE), mortal.upstream(), era=era) as client:
            with anyio.fail_after(60):
                return await client.call_tool("die", {}), await client.call_tool("live", {})

    dead, alive = anyio.run(played)
    assert dead.is_error
    assert "cannot be reached" in said(dead)
    assert said(alive) == "alive"
    assert tools.connections == 2


def test_a_server_that_never_comes_up_is_not_tried_all_the_time(
    era: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[float] = []
    now = [100.0]
    monkeypatch.setattr(links, "monotonic", lambda: now[0])

    @asynccontextmanager
    async def connect(headers: Mapping[str, str]) -> AsyncIterator[Streams]:
        tried.append(now[0])
        if tried:
            raise ConnectionRefusedError("no")
        yield None, None

    tools = Tools("here", find=lambda context, args: text("found"))

    async def played() -> None:
        async with client_of(
            shield_for(BARE), Upstream("away", connect), tools.upstream(), era=era
        ) as client:
            for seconds in range(16):
                now[0] = 100.0 + seconds
                assert (await client.call_tool("away__x", {})).is_error

    anyio.run(played)
    assert tried == [100.0, 101.0, 103.0, 107.0, 115.0]


def test_a_server_that_hangs_is_given_up_and_told(era: str) -> None:
    ended: list[str] = []

    async def hangs(context: Any, args: dict[str, Any]) -> types.CallToolResult:
        try:
            await anyio.sleep_forever()
        finally:
            ended.append("told")
        return text("never")

    tools = Tools(hang=hangs, live=lambda context, args: text("alive"))

    async def played() -> tuple[Any, Any]:
        async with client_of(shield_for(BARE), tools.upstream(), era=era, timeout_s=2) as client:
            hung = await client.call_tool("hang", {})
            with anyio.fail_after(60):
                while not ended:
                    await anyio.sleep(0.01)
            return hung, await client.call_tool("live", {})

    hung, alive = anyio.run(played)
    assert hung.is_error
    assert "has not answered within 2 seconds" in said(hung)
    assert said(alive) == "alive"


def test_a_server_that_floods_does_not_drown_its_client(monkeypatch: pytest.MonkeyPatch) -> None:
    """While one message is judged, so many wait and no more; the call itself is answered all the
    same."""
    monkeypatch.setattr(links, "WAITING", 10)
    heard: list[Any] = []

    async def floods(context: Any, args: dict[str, Any]) -> types.CallToolResult:
        note = types.LoggingMessageNotification(
            params=types.LoggingMessageNotificationParams(level="error", data="x")
        )
        for _ in range(500):
            await context.session.send_notification(note)
        return text("done")

    async def played() -> str:
        over = anyio.Event()
        judge = JudgedTraffic.read

        async def slowly(self: JudgedTraffic, method: str, value: Any) -> Any:
            await over.wait()
            return await judge(self, method, value)

        async def hear(params: Any) -> None:
            heard.append(params)

        monkeypatch.setattr(JudgedTraffic, "read", slowly)
        upstream = Tools(flood=floods).upstream("old")
        async with client_of(shield_for(BARE), upstream, logging_callback=hear) as client:
            with anyio.fail_after(60):
                result = await client.call_tool("flood", {})
                over.set()
                while len(heard) < 11:
                    await anyio.sleep(0.01)
            await client.list_tools()  # whatever else was on its way has come by then
            return said(result)

    assert anyio.run(played) == "done"
    assert len(heard) == 11, "one was being judged, ten waited"


def test_a_server_may_not_ask_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(links, "ASKING", 2)
    outcomes: list[str] = []

    async def asks(context: Any, args: dict[str, Any]) -> types.CallToolResult:
        async def ask() -> None:
            try:
                await context.session.send_request(types.ListRootsRequest(), types.ListRootsResult)
                outcomes.append("answered")
            except MCPError as error:
                outcomes.append(str(error))

        async with anyio.create_task_group() as tasks:
            for _ in range(5):
                tasks.start_soon(ask)
        return text("done")

    async def played() -> None:
        async def roots(context: Any) -> types.ListRootsResult:
            while len(outcomes) < 3:  # the others have been turned away by then
                await anyio.sleep(0.005)
            return types.ListRootsResult(roots=[])

        async with client_of(
            shield_for(BARE), Tools(ask=asks).upstream("old"), list_roots_callback=roots
        ) as client:
            with anyio.fail_after(60):
                await client.call_tool("ask", {})

    anyio.run(played)
    assert outcomes.count("answered") == 2
    assert sum("more than 2 requests" in outcome for outcome in outcomes) == 3


def test_nothing_crosses_between_sessions(era: str) -> None:
    """Many clients at once, each with its own server, which asks and tells its own client alone."""

    async def echo(context: Any, args: dict[str, Any]) -> types.CallToolResult:
        await context.session.report_progress(1, 2, args["who"])
        await anyio.sleep(0)
        return text(args["who"])

    tools = Tools(echo=echo)
    proxy = Proxy(shield_for(BARE), [tools.upstream()])
    wrong: list[Any] = []

    async def one(number: int) -> None:
        mine = f"client {number}"
        info = types.Implementation(name=mine, version="1")

        async def heard(progress: float, total: float | None, message: str | None) -> None:
            if message != mine:
                wrong.append((mine, message))

        async with piped(proxy, era, client_info=info) as client:
            for _ in range(CALLS):
                came = said(await client.call_tool("echo", {"who": mine}, progress_callback=heard))
                if came != mine:
                    wrong.append((mine, came))

    async def played() -> None:
        async with anyio.create_task_group() as clients:
            for number in range(SESSIONS):
                clients.start_soon(one, number)

    anyio.run(played)
    assert wrong == []
    assert tools.connections == SESSIONS
    assert len(tools.calls) == SESSIONS * CALLS
