"""Lists of what servers have, as a client may see them."""

from __future__ import annotations

from typing import Any, Final

import anyio
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, METHOD_NOT_FOUND

from stanchion.hosts.mcp.definitions import MOST_TOOLS, sifted, withheld
from stanchion.hosts.mcp.eras import passed_on
from stanchion.hosts.mcp.relay import Relay
from stanchion.hosts.mcp.server_link import LOG, ServerLink, Unreachable, why
from stanchion.hosts.mcp.upstream import BadUpstream, Upstream

PAGES: Final = 100
"""How many pages of one list are read."""
LISTS: Final = {
    "tools/list": ("tools", "tools"),
    "resources/list": ("resources", "resources"),
    "resources/templates/list": ("resourceTemplates", "resources"),
    "prompts/list": ("prompts", "prompts"),
}
"""What each list is called in a result, and the capability of a server that has it."""


async def listed(relay: Relay, context: Any) -> dict[str, Any]:
    """A list: of the one server page by page, of several all at once."""
    params = passed_on(context.params)
    part, capability = LISTS[context.method]
    if relay.names.is_alone:
        (link,) = relay.links.values()
        came = await link.request(relay.tasks, context.method, params)
        return {**came, part: await _shown(relay, link, context.method, _items(came, part))}
    together: list[dict[str, Any]] = []
    for link in relay.links.values():
        try:
            await link.open(relay.tasks)
            if capability in link.greeted.capabilities:
                items = await _all(relay, link, context.method)
                together += await _shown(relay, link, context.method, items)
        except Unreachable:
            continue
        except MCPError as error:
            if error.code != METHOD_NOT_FOUND:
                raise
    return {part: together}


async def known(relay: Relay, link: ServerLink, tool: str) -> None:
    """See to it that the definitions of a server's tools were taken in before one of them is
    called; raises `MCPError` where the server has no such tool, or it cannot be used."""
    await link.open(relay.tasks)
    if not link.is_listed or tool not in link.usable:
        # A tool that is new is listed, though the server may not have told of it.
        async with link.listing:
            if not link.is_listed or tool not in link.usable:
                link.usable = {}
                if "tools" in link.greeted.capabilities:
                    await _shown(relay, link, "tools/list", await _all(relay, link, "tools/list"))
                link.is_listed = True
    if why := link.usable.get(tool, "it is not listed: list the tools first"):
        raise MCPError(
            INVALID_PARAMS, f"this tool of the server `{link.name}` cannot be called: {why}"
        )


async def _all(relay: Relay, link: ServerLink, method: str) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    params: dict[str, Any] = {}
    for _ in range(PAGES):
        came = await link.request(relay.tasks, method, params)
        items += _items(came, LISTS[method][0])
        cursor = came.get("nextCursor")
        if not isinstance(cursor, str) or len(items) > MOST_TOOLS:
            break
        params = {"cursor": cursor}
    return items


async def _shown(
    relay: Relay, link: ServerLink, method: str, items: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    if method == "tools/list":
        items, unusable = sifted(items)
        link.stamp.learn(items)
        named = [
            {**each, "name": relay.names.shown(link.name, str(each.get("name")))} for each in items
        ]
        definitions = relay.setup.definitions
        whose = await definitions.whose(link.upstream, relay.names.is_alone)
        try:
            doubts = await definitions.taken_in(named, whose if relay.names.is_alone else "")
        except ValueError as error:
            named, doubts, unusable = [], {}, {str(each["name"]): str(error) for each in items}
        link.usable |= {str(each["name"]): "" for each in items} | unusable
        if unusable:
            LOG.warning(
                "%d tools of the server `%s` cannot be called, `%s` for example: %s",
                len(unusable),
                link.name,
                *next(iter(unusable.items())),
            )
        shown = [
            withheld(each, doubts[each["name"]]) if each["name"] in doubts else each
            for each in named
        ]
        link.schemas.update({each["name"]: each.get("inputSchema") for each in named})
        return relay.without_secrets([each for each in shown if each is not None])
    if not items:
        return items
    read: list[dict[str, Any]] = await relay.judged.read(method, items)
    return [_renamed(relay, link, method, each) for each in read]


def _renamed(relay: Relay, link: ServerLink, method: str, item: dict[str, Any]) -> dict[str, Any]:
    if method == "prompts/list":
        return {**item, "name": relay.names.shown(link.name, str(item.get("name")))}
    key = "uriTemplate" if method == "resources/templates/list" else "uri"
    return {**item, key: relay.names.shown_address(link.name, str(item.get(key)))}


def _items(came: dict[str, Any], part: str) -> list[dict[str, Any]]:
    found = came.get(part)
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


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
