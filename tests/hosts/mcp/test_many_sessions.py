"""Many sessions at once, some of them with servers that die, hang or flood: each gets its own
answers, or a refusal."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import anyio
import mcp_types as types
import pytest

from stanchion.hosts.mcp.proxy import Proxy
from stanchion.hosts.mcp.upstream import Streams, Upstream
from stanchion.testing import shield_for
from tests.hosts.mcp.servers import ERAS, Tools, piped, said, text

BARE: dict[str, Any] = {"name": "bare", "guards": [{"use": "secrets"}]}
SESSIONS = 64
KINDS = ("live", "die", "hang", "flood")


class Fragile:
    """A stream to a server that ends the whole connection when the server is asked to die."""

    def __init__(self, read: Any, write: Any) -> None:
        self._read, self._write = read, write

    async def send(self, item: Any) -> None:
        """Pass a message on, or end."""
        if (getattr(item.message, "params", None) or {}).get("name") == "die":
            await self.aclose()
            await self._read.aclose()
            return
        await self._write.send(item)

    async def aclose(self) -> None:
        await self._write.aclose()

    async def __aenter__(self) -> Fragile:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


def fragile(tools: Tools) -> Upstream:
    """A server whose connections can die one by one."""
    inner = tools.upstream()

    @asynccontextmanager
    async def connect(headers: Mapping[str, str]) -> AsyncIterator[Streams]:
        async with inner.connect(headers) as (read, write):
            yield read, Fragile(read, write)

    return Upstream(tools.name, connect)


async def live(context: Any, args: dict[str, Any]) -> types.CallToolResult:
    """Answer, and tell of progress."""
    await context.session.report_progress(1, 2, args["who"])
    return text(args["who"])


async def flood(context: Any, args: dict[str, Any]) -> types.CallToolResult:
    """Send more than anybody wants to hear before the answer."""
    note = types.LoggingMessageNotificationParams(level="error", data=args["who"])
    for _ in range(30):
        await context.session.send_notification(types.LoggingMessageNotification(params=note))
    return text(args["who"])


class Session:
    """One client: what it is told by name, and what it heard that was meant for another."""

    def __init__(self, number: int) -> None:
        self.name, self.kind = f"client {number}", KINDS[number % len(KINDS)]
        self.strange: list[Any] = []
        self.got: list[str] = []

    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        if message != self.name:
            self.strange.append(message)

    async def logged(self, params: Any) -> None:
        if params.data != self.name:
            self.strange.append(params.data)

    async def play(self, proxy: Proxy, era: str) -> None:
        """A call that goes well, the one that this session is about, and one that goes well
        again."""
        info = types.Implementation(name=self.name, version="1")
        async with piped(proxy, era, client_info=info, logging_callback=self.logged) as client:
            for tool in ("live", self.kind, "live"):
                came = await client.call_tool(
                    tool, {"who": self.name}, progress_callback=self.progress
                )
                self.got.append(said(came) if not came.is_error else f"failed: {said(came)}")


class Hanging:
    """A tool that hangs until it is told that everybody else is done."""

    def __init__(self, others: int) -> None:
        self._others, self._over = others, anyio.Event()

    async def __call__(self, context: Any, args: dict[str, Any]) -> types.CallToolResult:
        await self._over.wait()
        return text(args["who"])

    def one_is_done(self) -> None:
        """One of the others has all of its answers."""
        self._others -= 1
        if not self._others:
            self._over.set()


@pytest.mark.parametrize("era", ERAS)
def test_sessions_with_failing_servers_keep_to_themselves(era: str) -> None:
    sessions = [Session(number) for number in range(SESSIONS)]
    connections: list[int] = []

    async def played() -> None:
        hanging = Hanging(sum(one.kind != "hang" for one in sessions))
        tools = Tools(live=live, die=live, hang=hanging, flood=flood)
        proxy = Proxy(shield_for(BARE), [fragile(tools)])

        async def play(session: Session) -> None:
            await session.play(proxy, era)
            if session.kind != "hang":
                hanging.one_is_done()

        with anyio.fail_after(120):
            async with anyio.create_task_group() as clients:
                for session in sessions:
                    clients.start_soon(play, session)
        connections.append(tools.connections)

    anyio.run(played)
    assert [one.strange for one in sessions if one.strange] == []
    for one in sessions:
        first, second, third = one.got
        assert (first, third) == (one.name, one.name), "before, and again after"
        if one.kind == "die":
            assert second.startswith("failed: ")
            assert "it ended while it was at work" in second
        else:
            assert second == one.name
    died = sum(one.kind == "die" for one in sessions)
    assert connections == [SESSIONS + died], (
        "each has a server of its own, and those that died were started again"
    )
