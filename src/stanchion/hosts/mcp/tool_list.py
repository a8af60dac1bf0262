"""The list of a server's tools, asked once and without a client of it."""

from __future__ import annotations

from typing import Any, Final

import anyio
from mcp import Client

from stanchion.hosts.mcp.definitions import MOST_TOOLS
from stanchion.hosts.mcp.link import why
from stanchion.hosts.mcp.listing import PAGES
from stanchion.hosts.mcp.upstream import BadUpstream, Upstream

PATIENCE_S: Final = 60.0


def tools_of(upstream: Upstream, timeout_s: float = PATIENCE_S) -> list[Any]:
    """The definitions of a server's tools; raises `BadUpstream` where it does not give them."""
    try:
        return anyio.run(_listed, upstream, timeout_s)
    except Exception as error:  # noqa: BLE001 - a server may be out of reach in any way
        said = f"the server `{upstream.name}` does not list its tools: {why(error)}"
        raise BadUpstream(said) from None


async def _listed(upstream: Upstream, timeout_s: float) -> list[Any]:
    found: list[Any] = []
    cursor: str | None = None
    with anyio.fail_after(timeout_s):
        async with Client(upstream.connect({}), read_timeout_seconds=timeout_s) as client:
            for _ in range(PAGES):
                page = await client.list_tools(cursor=cursor)
                found += page.tools
                cursor = page.next_cursor
                if cursor is None or len(found) > MOST_TOOLS:
                    break
    return found
