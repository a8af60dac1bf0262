"""Servers behind the proxy, in the test's own process, of either era of the protocol."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import anyio
import mcp_types as types
from mcp import Client
from mcp.server import Server
from mcp.server.runner import serve_loop
from mcp.shared.exceptions import MCPError
from mcp.shared.memory import create_client_server_memory_streams

from stanchion.hosts.mcp.proxy import Proxy
from stanchion.hosts.mcp.upstream import Streams, Upstream

KEY = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
ERAS = ("legacy", "auto")
"""How a client begins: with a handshake, or with requests that each stand for themselves."""

Answer = Callable[[Any, dict[str, Any]], Any]


def text(words: str) -> types.CallToolResult:
    """A result that is a text."""
    return types.CallToolResult(content=[types.TextContent(text=words)])


class Tools:
    """A server with tools that tests make up, which remembers what it was called with."""

    def __init__(self, name: str = "up", **tools: Answer) -> None:
        self.name = name
        self.tools: dict[str, Answer] = dict(tools)
        self.descriptions: dict[str, str] = {}
        self.more: dict[str, dict[str, Any]] = {}
        """What definitions of tools have besides, as it is sent."""
        self.instructions: str | None = None
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.connections = 0
        self.headers: list[Mapping[str, str]] = []
        self.options: dict[str, Any] = {}

    def server(self) -> Server[Any]:
        """The server itself."""

        async def on_list_tools(context: Any, params: Any) -> types.ListToolsResult:
            return types.ListToolsResult(tools=[self._definition(name) for name in self.tools])

        async def on_call_tool(context: Any, params: types.CallToolRequestParams) -> Any:
            args = dict(params.arguments or {})
            self.calls.append((params.name, args))
            if params.name not in self.tools:
                raise MCPError(types.INVALID_PARAMS, f"there is no tool {params.name}")
            came = self.tools[params.name](context, args)
            return await came if hasattr(came, "__await__") else came

        return Server(
            self.name,
            version="1",
            instructions=self.instructions,
            on_list_tools=on_list_tools,
            on_call_tool=on_call_tool,
            **self.options,
        )

    def _definition(self, name: str) -> types.Tool:
        described = self.descriptions.get(name, f"Does {name}.")
        plain = {"name": name, "description": described, "inputSchema": {"type": "object"}}
        return types.Tool.model_validate({**plain, **self.more.get(name, {})})

    def upstream(self, era: str = "both") -> Upstream:
        """This server as the proxy reaches it: of both eras, of the handshake (`old`) or the modern
        one (`new`)."""

        @asynccontextmanager
        async def connect(headers: Mapping[str, str]) -> AsyncIterator[Streams]:
            self.connections += 1
            self.headers.append(dict(headers))
            server = self.server()
            if era == "new":
                server.middleware.append(_no_handshake)

            async def run() -> None:
                if era == "old":
                    await serve_loop(server, *theirs, lifespan_state={})
                else:
                    await server.run(*theirs, server.create_initialization_options())

            async with (
                create_client_server_memory_streams() as (ours, theirs),
                anyio.create_task_group() as tasks,
            ):
                tasks.start_soon(run)
                yield ours
                tasks.cancel_scope.cancel()

        return Upstream(self.name, connect)


async def _no_handshake(ctx: Any, call_next: Any) -> Any:
    if ctx.method == "initialize":
        raise MCPError(
            types.UNSUPPORTED_PROTOCOL_VERSION, "only modern", {"supported": ["2026-07-28"]}
        )
    return await call_next(ctx)


@asynccontextmanager
async def client_of(
    shield: Any, *upstreams: Upstream, era: str = "legacy", **options: Any
) -> AsyncIterator[Client]:
    """A client behind the proxy."""
    of_proxy = {key: options.pop(key) for key in ("timeout_s", "agent") if key in options}
    async with piped(Proxy(shield, upstreams, **of_proxy), era, **options) as client:
        yield client


@asynccontextmanager
async def piped(proxy: Proxy, era: str, **options: Any) -> AsyncIterator[Client]:
    """A client that speaks to the proxy as over a pipe."""

    @asynccontextmanager
    async def transport() -> AsyncIterator[Streams]:
        async with (
            create_client_server_memory_streams() as (ours, theirs),
            anyio.create_task_group() as tasks,
        ):
            server = proxy.server
            tasks.start_soon(server.run, *theirs, server.create_initialization_options())
            yield ours
            await ours[1].aclose()

    async with Client(transport(), mode=era, cache=None, **options) as client:
        yield client


def said(result: Any) -> str:
    """All texts of a result."""
    return "\n".join(block.text for block in result.content if block.type == "text")
