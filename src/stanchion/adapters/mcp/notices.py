"""Notifications of servers, on their way to the client."""

from __future__ import annotations

from typing import Any, Final

import msgspec
from mcp.shared.exceptions import MCPError

from stanchion.adapters.mcp.client_side import ClientSide
from stanchion.adapters.mcp.judging import Judging
from stanchion.adapters.mcp.link import Link
from stanchion.adapters.mcp.names import Names
from stanchion.adapters.mcp.subscriptions import Subscriptions

CHANGED: Final = frozenset(
    {
        "notifications/tools/list_changed",
        "notifications/prompts/list_changed",
        "notifications/resources/list_changed",
    }
)
UPDATED: Final = "notifications/resources/updated"
MESSAGE: Final = "notifications/message"
COMPLETE: Final = "notifications/elicitation/complete"


class Notices(msgspec.Struct, frozen=True):
    """The way of notifications to one client: what they say is judged, and what is of no known kind
    goes nowhere."""

    client: ClientSide
    judged: Judging
    names: Names
    subscriptions: Subscriptions

    async def pass_on(self, link: Link, method: str, params: dict[str, Any]) -> None:
        """Pass a notification of a server on."""
        if method in CHANGED or method == UPDATED:
            await self._change(link, method, params)
        elif method == MESSAGE:
            try:
                data = await self.judged.read(method, params.get("data"))
            except MCPError:
                return
            await self.client.tell(method, {**params, "data": data})
        elif method == COMPLETE:
            await self.client.tell(method, params)

    async def _change(self, link: Link, method: str, params: dict[str, Any]) -> None:
        if method == "notifications/tools/list_changed":
            link.is_listed = False
        if isinstance(params.get("uri"), str):
            params = {**params, "uri": self.names.shown_address(link.name, params["uri"])}
        if self.client.caller.is_modern:
            await self.subscriptions.publish(method, params)
        else:
            await self.client.tell(
                method, {key: value for key, value in params.items() if key != "_meta"}
            )
