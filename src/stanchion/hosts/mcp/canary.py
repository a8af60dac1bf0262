"""The canary of the MCP proxy: a client calls the canary on a server behind it, all in this
process."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import anyio
import mcp_types as types
from mcp import Client
from mcp.server import Server
from mcp.shared.memory import create_client_server_memory_streams

from stanchion.hosts.contract.canary import TOOL
from stanchion.hosts.mcp.proxy import Proxy
from stanchion.hosts.mcp.upstream import Streams, Upstream


def canary(shield: Any, body: Callable[[], str]) -> None:
    """Have a client call the canary through the proxy."""
    anyio.run(_called, shield, body)


async def _called(shield: Any, body: Callable[[], str]) -> None:
    behind = _server(body)

    @asynccontextmanager
    async def connect(_headers: Mapping[str, str]) -> AsyncIterator[Streams]:
        async with _piped(behind) as streams:
            yield streams

    proxy = Proxy(shield, [Upstream("canary", connect)], agent=TOOL)
    async with Client(_piped(proxy.server), mode="legacy", cache=None) as client:
        await client.call_tool(TOOL, {})


def _server(body: Callable[[], str]) -> Server[Any]:
    """A server with the canary as its tool."""

    async def on_list_tools(_context: Any, _params: Any) -> types.ListToolsResult:
        tool = types.Tool(name=TOOL, description="must not run", input_schema={"type": "object"})
        return types.ListToolsResult(tools=[tool])

    async def on_call_tool(_context: Any, _params: Any) -> types.CallToolResult:
        return types.CallToolResult(content=[types.TextContent(text=body())])

    return Server(TOOL, version="1", on_list_tools=on_list_tools, on_call_tool=on_call_tool)


@asynccontextmanager
async def _piped(server: Server[Any]) -> AsyncIterator[Streams]:
    """What a client of a server reads and writes."""
    async with (
        create_client_server_memory_streams() as (ours, theirs),
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(server.run, *theirs, server.create_initialization_options())
        yield ours
        tasks.cancel_scope.cancel()
