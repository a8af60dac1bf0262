"""A proxy that passes everything on: the same library on both sides, and nothing in between."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import mcp_types as types
from mcp import Client, StdioServerParameters
from mcp.server import Server
from mcp.server.stdio import stdio_server


@asynccontextmanager
async def _behind(server: Any) -> AsyncIterator[Client]:
    words = sys.argv[1:]
    described = StdioServerParameters(command=words[0], args=words[1:], env=dict(os.environ))
    async with Client(described, mode="legacy", cache=None) as client:
        yield client


async def _tools(context: Any, params: Any) -> types.ListToolsResult:
    client: Client = context.lifespan_context
    return await client.list_tools()


async def _call(context: Any, params: types.CallToolRequestParams) -> Any:
    client: Client = context.lifespan_context
    return await client.call_tool(params.name, params.arguments)


async def _serve() -> None:
    server: Server[Client] = Server(
        "passing", lifespan=_behind, on_list_tools=_tools, on_call_tool=_call
    )
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(_serve)
