"""The server behind both proxies: gives back what it is given."""

from __future__ import annotations

from typing import Any

import anyio
import mcp_types as types
from mcp.server import Server
from mcp.server.stdio import stdio_server


async def _tools(context: Any, params: Any) -> types.ListToolsResult:
    schema = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
    return types.ListToolsResult(
        tools=[types.Tool(name="echo", description="Give back a text.", input_schema=schema)]
    )


async def _call(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=(params.arguments or {})["text"])])


async def _serve() -> None:
    server: Server[Any] = Server("echo", version="1", on_list_tools=_tools, on_call_tool=_call)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(_serve)
