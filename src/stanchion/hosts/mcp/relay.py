"""A relay: everything between one client and its servers. Each client has its own run and its own
connections."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any, Final, TypeVar

import anyio
import anyio.abc
import msgspec
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import SUBSCRIPTION_ID_META_KEY, event_from_wire
from mcp_types import INVALID_PARAMS, METHOD_NOT_FOUND

from stanchion.hosts.mcp.client_side import HeldCalls, McpClientSide
from stanchion.hosts.mcp.definitions import Definitions
from stanchion.hosts.mcp.eras import Caller
from stanchion.hosts.mcp.judging import HOST, JudgedTraffic, person_before
from stanchion.hosts.mcp.names import ServerNames
from stanchion.hosts.mcp.server_link import ServerLink, Unreachable
from stanchion.hosts.mcp.upstream import Upstream

FLAGS: Final = ("toolsListChanged", "promptsListChanged", "resourcesListChanged")


class Subscriptions:
    """The streams on which one client listens."""

    def __init__(self, tasks: anyio.abc.TaskGroup, names: ServerNames) -> None:
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

    async def listen(self, links: Iterable[ServerLink], context: Any, params: Any) -> Any:
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

    async def stand(self, link: ServerLink) -> None:
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

    async def _heard(self, link: ServerLink, name: str, wanted: dict[str, Any]) -> None:
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

    def _for_server(self, link: ServerLink, wanted: dict[str, Any]) -> dict[str, Any]:
        """What is wanted of one server, in its own addresses."""
        given: Iterable[str] = wanted.get("resourceSubscriptions", ())
        meant = [self._names.meant_address(uri) for uri in given]
        uris = [there for owner, there in filter(None, meant) if owner == link.name]
        flags = {flag: True for flag in FLAGS if wanted.get(flag)}
        return {**flags, **({"resourceSubscriptions": uris} if uris else {})}


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


class NoticePath(msgspec.Struct, frozen=True):
    """The way of notifications to one client: what they say is judged, and what is of no known kind
    goes nowhere."""

    client: McpClientSide
    judged: JudgedTraffic
    names: ServerNames
    subscriptions: Subscriptions

    async def pass_on(self, link: ServerLink, method: str, params: dict[str, Any]) -> None:
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

    async def _change(self, link: ServerLink, method: str, params: dict[str, Any]) -> None:
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


LOG: Final = logging.getLogger("stanchion.mcp")
ASKABLE: Final = frozenset({"sampling/createMessage", "elicitation/create", "roots/list"})
"""What a server may ask of its client."""
PARTS: Final = ("tools", "resources", "prompts", "logging", "completions")
"""The capabilities of servers that the proxy passes on."""


T = TypeVar("T")


class Setup(msgspec.Struct, frozen=True):
    """What all relays of a proxy share."""

    shield: Any
    upstreams: tuple[Upstream, ...]
    names: ServerNames
    definitions: Definitions
    agent: str
    task: str
    timeout_s: float


class Relay:
    """One client and the servers behind it."""

    def __init__(self, setup: Setup, caller: Caller, tasks: anyio.abc.TaskGroup) -> None:
        self.setup, self.tasks = setup, tasks
        self.client = McpClientSide(caller)
        hosted = HOST.run(setup.shield, setup.agent, setup.task)
        self.judged = JudgedTraffic(hosted)
        self.person = person_before(setup.shield, hosted, caller)
        self.held = HeldCalls()
        self.subscriptions = Subscriptions(tasks, setup.names)
        self._notices = NoticePath(self.client, self.judged, setup.names, self.subscriptions)
        self.links = {
            each.name: ServerLink(each, caller, self.asked, self.noticed, setup.timeout_s)
            for each in setup.upstreams
        }
        self._opening = anyio.Lock()
        self._is_open = False

    @property
    def names(self) -> ServerNames:
        """How the servers' names are told apart."""
        return self.setup.names

    @property
    def is_open(self) -> bool:
        """Whether the servers were reached."""
        return self._is_open

    async def open(self) -> None:
        """Reach the servers; raises `Unreachable` where none of them can be."""
        if self.is_open:
            return
        async with self._opening:
            if self._is_open:
                return
            lost: list[Unreachable] = []

            async def reach(link: ServerLink) -> None:
                try:
                    await link.open(self.tasks)
                except Unreachable as error:
                    lost.append(error)

            async with anyio.create_task_group() as reaching:
                for link in self.links.values():
                    reaching.start_soon(reach, link)
            if len(lost) == len(self.links):
                raise lost[0]
            for link in self.links.values():
                if link.greeted.is_modern and not self.client.caller.is_modern:
                    await self.subscriptions.stand(link)
            self._is_open = True

    def capabilities(self) -> dict[str, Any]:
        """What the servers can do together."""
        together: dict[str, Any] = {}
        for link in self.links.values():
            for part in PARTS:
                if isinstance(said := link.greeted.capabilities.get(part), dict):
                    together.setdefault(part, {}).update(
                        {key: value for key, value in said.items() if value}
                    )
        return together

    async def instructions(self) -> str:
        """What the servers want a model to be told; nothing of what somebody should look at
        first."""
        told = []
        for link in self.links.values():
            words = link.greeted.instructions
            if not words:
                continue
            definitions = self.setup.definitions
            whose = await definitions.whose(link.upstream, self.names.is_alone)
            name = f"{whose}:instructions"  # a tool of a server has a slash behind its name
            doubts = await definitions.taken_in(
                [{"name": name, "description": words, "inputSchema": {"type": "object"}}]
            )
            if not doubts:
                told.append(words if self.names.is_alone else f"{link.name}: {words}")
        return self.without_secrets("\n\n".join(told))

    def without_secrets(self, value: T) -> T:
        """What a server says of itself, with the secrets hidden that the policy knows, in names as
        well."""
        shown: T = self.setup.shield.policy.veil.data(value)
        return shown

    def by_name(self, name: Any) -> tuple[ServerLink, str]:
        """Whose tool or prompt this is, and its name there; raises `MCPError`."""
        meant = self.names.meant(name) if isinstance(name, str) else None
        if meant is None:
            raise MCPError(INVALID_PARAMS, "no server here has this name: list the names first")
        return self.links[meant[0]], meant[1]

    def by_address(self, address: Any) -> tuple[ServerLink, str]:
        """Whose resource this is, and its address there; raises `MCPError`."""
        meant = self.names.meant_address(address) if isinstance(address, str) else None
        if meant is None:
            raise MCPError(
                INVALID_PARAMS, "no server here has this address: list the resources first"
            )
        return self.links[meant[0]], meant[1]

    async def asked(self, link: ServerLink, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Answer a request of a server: its client does, if it may be asked."""
        if method not in ASKABLE:
            raise MCPError(METHOD_NOT_FOUND, "Method not found", method)

        async def carry(args: dict[str, Any]) -> dict[str, Any]:
            return await self.client.ask(method, args)

        return await self.judged.call(
            method, method, {k: v for k, v in params.items() if k != "_meta"}, carry
        )

    async def noticed(self, link: ServerLink, method: str, params: dict[str, Any]) -> None:
        """Pass a notification of a server on."""
        await self._notices.pass_on(link, method, params)

    async def close(self) -> None:
        """End everything of this client."""
        self.held.close()
        self.subscriptions.close()
        for link in self.links.values():
            link.close()
        await self.judged.close()
