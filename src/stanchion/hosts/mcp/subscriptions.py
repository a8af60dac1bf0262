"""Subscriptions: what a client wants to hear of, and how each server is asked for it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import anyio
import anyio.abc
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import SUBSCRIPTION_ID_META_KEY, event_from_wire

from stanchion.hosts.mcp.link import Link
from stanchion.hosts.mcp.names import Names

FLAGS: Final = ("toolsListChanged", "promptsListChanged", "resourcesListChanged")


class Subscriptions:
    """The streams on which one client listens."""

    def __init__(self, tasks: anyio.abc.TaskGroup, names: Names) -> None:
        self._tasks, self._names = tasks, names
        self._buses: dict[str, InMemorySubscriptionBus] = {}
        self._count = 0
        self._standing: dict[str, anyio.CancelScope] = {}

    async def publish(self, method: str, params: dict[str, Any]) -> None:
        """Tell those who listen: the one that a server names, or all if it names none."""
        meta = params.get("_meta")
        named = meta.get(SUBSCRIPTION_ID_META_KEY) if isinstance(meta, dict) else None
        event = event_from_wire(method, params)
        if event is None:
            return
        buses = (
            list(self._buses.values())
            if named is None
            else [self._buses[named]]
            if named in self._buses
            else []
        )
        for bus in buses:
            await bus.publish(event)

    async def listen(self, links: Iterable[Link], context: Any, params: Any) -> Any:
        """Serve one stream of a client until it ends."""
        self._count += 1
        name, bus = f"listen-{self._count}", InMemorySubscriptionBus()
        self._buses[name] = bus
        wanted = params.notifications.model_dump(by_alias=True, mode="json", exclude_none=True)
        try:
            async with anyio.create_task_group() as listening:
                for link in links:
                    listening.start_soon(self._heard, link, name, self._for_server(link, wanted))
                result = await ListenHandler(bus)(context, params)
                listening.cancel_scope.cancel()
        finally:
            self._buses.pop(name, None)
        return result

    async def stand(self, link: Link) -> None:
        """Listen to a server of the modern era for a client that is told without asking."""
        if (old := self._standing.pop(link.name, None)) is not None:
            old.cancel()
        self._count += 1
        name = f"stand-{self._count}"
        uris = [
            params["uri"]
            for method, params in link.levels.values()
            if method == "resources/subscribe"
        ]
        wanted = {**dict.fromkeys(FLAGS, True), **({"resourceSubscriptions": uris} if uris else {})}
        scope = self._standing[link.name] = anyio.CancelScope()

        async def heard() -> None:
            with scope:
                await self._heard(link, name, wanted)

        self._tasks.start_soon(heard)

    def close(self) -> None:
        """Stop listening for a client that is gone."""
        for scope in self._standing.values():
            scope.cancel()

    async def _heard(self, link: Link, name: str, wanted: dict[str, Any]) -> None:
        """Have a server tell what is wanted of it until this is cancelled; one that cannot tell is
        left alone."""
        try:
            if link.greeted.is_modern:
                await link.listen(self._tasks, name, wanted)
            else:
                for uri in wanted.get("resourceSubscriptions", ()):
                    await link.request(self._tasks, "resources/subscribe", {"uri": uri})
        except MCPError:
            return

    def _for_server(self, link: Link, wanted: dict[str, Any]) -> dict[str, Any]:
        """What is wanted of one server, in its own addresses."""
        given: Iterable[str] = wanted.get("resourceSubscriptions", ())
        meant = [self._names.meant_address(uri) for uri in given]
        uris = [there for owner, there in filter(None, meant) if owner == link.name]
        flags = {flag: True for flag in FLAGS if wanted.get(flag)}
        return {**flags, **({"resourceSubscriptions": uris} if uris else {})}
