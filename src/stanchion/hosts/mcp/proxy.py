"""The proxy as a server: what its clients ask, given to the relay of each of them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

import anyio
import anyio.abc
from mcp.server import Server
from mcp.shared.exceptions import MCPError
from mcp_types import (
    SERVER_INFO_META_KEY,
    NotificationParams,
    RequestParams,
    SubscriptionsListenRequestParams,
)
from mcp_types.methods import CACHEABLE_METHODS, is_input_required
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from stanchion.hosts.mcp import requests
from stanchion.hosts.mcp.definitions import Definitions
from stanchion.hosts.mcp.eras import Caller, from_envelope, from_handshake
from stanchion.hosts.mcp.judging import CALL, OWN_FAILURE, REFUSED, failed, said_no
from stanchion.hosts.mcp.listing import LISTS, listed
from stanchion.hosts.mcp.names import AMONG, ServerNames
from stanchion.hosts.mcp.relay import Relay, Setup
from stanchion.hosts.mcp.server_link import LOG, Unreachable
from stanchion.hosts.mcp.upstream import BadUpstream, Upstream

RELAY: Final = "stanchion"


class Unknown(RuntimeError):
    """The installed version of `mcp` is one that this proxy does not know."""


def _of(context: Any) -> Any:
    # The library hands no connection to its handlers, but keeps one behind each session.
    connection = getattr(context.session, "_connection", None)
    if (
        connection is None
        or not hasattr(connection, "state")
        or not hasattr(connection, "exit_stack")
    ):
        raise Unknown(
            "the installed version of `mcp` is not known here: install the extra `mcp` again"
        )
    return connection


def kept(context: Any) -> Any:
    """What is kept for the connection of a request."""
    return _of(context).state.get(RELAY)


def keep(context: Any, value: Any, close: Callable[[], Awaitable[None]]) -> None:
    """Keep something for a connection, and have it closed when that ends."""
    connection = _of(context)
    connection.state[RELAY] = value
    connection.exit_stack.push_async_callback(close)


PASSED: Final = ("authorization",)
"""The headers of a client that go on to its servers."""
RELAYS: Final = 256
"""How many clients without a connection of their own are remembered; the one longest silent is
forgotten first."""
TIMEOUT_S: Final = 300.0

Handle = Callable[[Relay, Any], Awaitable[dict[str, Any]]]

HANDLED: Final[Mapping[str, Handle]] = {
    **dict.fromkeys(LISTS, listed),
    "tools/call": requests.call_tool,
    "resources/read": requests.read_resource,
    "resources/subscribe": requests.subscribe,
    "resources/unsubscribe": requests.subscribe,
    "prompts/get": requests.get_prompt,
    "completion/complete": requests.complete,
    "logging/setLevel": requests.set_level,
}


class Proxy:
    """Makes the server that clients speak to."""

    def __init__(
        self,
        shield: Any,
        upstreams: Sequence[Upstream],
        *,
        agent: str = "mcp",
        task: str = "",
        timeout_s: float = TIMEOUT_S,
        passed: Sequence[str] = PASSED,
    ) -> None:
        names = [each.name for each in upstreams]
        if not names or len(set(names)) != len(names):
            raise BadUpstream(
                "give each server a name of its own: there are two with the same, or none at all"
            )
        wrong = [name for name in names if len(names) > 1 and AMONG.fullmatch(name) is None]
        if wrong:
            raise BadUpstream(
                f"a server has the name `{wrong[0]}`: beside others give it one of at most 32 "
                f"letters, digits and dashes"
            )
        self._setup = Setup(
            shield,
            tuple(upstreams),
            ServerNames(names),
            Definitions(shield),
            agent,
            task,
            timeout_s,
        )
        self._passed = tuple(name.lower() for name in passed)
        self._schemas: dict[str, Any] = {}
        self.server = self._server()

    def _server(self) -> Server[_Relays]:
        server: Server[_Relays] = Server(
            "stanchion",
            version="",
            lifespan=self._lifespan,
            get_tool_input_schema=self._schemas.get,
        )
        for method, handle in HANDLED.items():
            server.add_request_handler(method, RequestParams, self._handler(handle))
        server.add_request_handler(
            "subscriptions/listen", SubscriptionsListenRequestParams, self._listen
        )
        server.add_request_handler("server/discover", RequestParams, self._discover)
        server.add_notification_handler(
            "notifications/roots/list_changed", NotificationParams, self._roots_changed
        )
        # The library's own span round each message is left out: Stanchion has spans of its own, and
        # each costs time.
        server.middleware[:] = [self._around]
        return server

    @asynccontextmanager
    async def _lifespan(self, server: Any) -> AsyncIterator[_Relays]:
        async with anyio.create_task_group() as tasks:
            relays = _Relays(self._setup, tasks)
            try:
                yield relays
            finally:
                await relays.close()
                tasks.cancel_scope.cancel()

    async def _around(self, ctx: Any, call_next: Any) -> Any:
        """Every message. The library checks the shapes of most; calls, which are many, go straight
        to their server where both sides speak the same version: what is wrong with their shape, the
        server and the client see."""
        if ctx.method == "initialize":
            return await self._greet(ctx, call_next)
        if (
            ctx.method == CALL
            and _is_call(ctx.params)
            and (relay := await self._speaks_alike(ctx)) is not None
        ):
            return await self._answer(requests.call_tool, ctx, relay)
        return await call_next(ctx)

    async def _speaks_alike(self, context: Any) -> Relay | None:
        """The relay of a call whose server speaks the client's version; none where that cannot be
        told."""
        try:
            relay = await self._relay(context)
            link, _ = relay.by_name(context.params["name"])
        except MCPError:
            return None
        return relay if link.greeted.version == str(context.protocol_version) else None

    async def _greet(self, context: Any, call_next: Any) -> Any:
        """The handshake: the client gets a relay, and is told what its servers can do."""
        caller = from_handshake(
            context.params or {}, self._headers(context), context.request is not None
        )
        relay = Relay(self._setup, caller, context.lifespan_context.tasks)
        try:
            await relay.open()
            result = await call_next(context)
        except BaseException:
            await relay.close()
            raise
        relay.client.standing = context.session
        keep(context, relay, relay.close)
        return {**result, **await self._introduced(relay)}

    async def _introduced(self, relay: Relay) -> dict[str, Any]:
        instructions = await relay.instructions()
        told: dict[str, Any] = {
            "capabilities": relay.capabilities(),
            "serverInfo": relay.without_secrets(_info(relay)),
        }
        return {**told, "instructions": instructions} if instructions else told

    async def _discover(self, context: Any, params: Any) -> dict[str, Any]:
        relay = await self._relay(context)
        told = await self._introduced(relay)
        meta = {SERVER_INFO_META_KEY: told.pop("serverInfo")}
        return _shaped(
            context, {**told, "supportedVersions": list(MODERN_PROTOCOL_VERSIONS), "_meta": meta}
        )

    def _handler(self, handle: Handle) -> Callable[[Any, Any], Awaitable[dict[str, Any]]]:
        async def handled(context: Any, params: Any) -> dict[str, Any]:
            return await self._answer(handle, context)

        return handled

    async def _answer(
        self, handle: Handle, context: Any, relay: Relay | None = None
    ) -> dict[str, Any]:
        """The answer to a request: whatever goes wrong, it is one that the client understands."""
        try:
            if relay is None:
                relay = await self._relay(context)
            result = await handle(relay, context)
        except Unreachable as error:
            if context.method != CALL:
                raise
            return _shaped(context, failed(error.message))
        except MCPError:
            raise
        except Exception as error:  # noqa: BLE001 - a mistake of ours refuses, and its words stay here
            LOG.error("`%s` failed with `%s`", context.method, type(error).__name__)
            return _shaped(context, said_no(context.method, OWN_FAILURE))
        if context.method == "tools/list":
            for link in relay.links.values():
                self._schemas.update(link.schemas)
        return _shaped(context, result)

    async def _listen(self, context: Any, params: Any) -> Any:
        relay = await self._relay(context)
        return await relay.subscriptions.listen(list(relay.links.values()), context, params)

    async def _roots_changed(self, context: Any, params: Any) -> None:
        relay = await self._relay(context)
        for link in relay.links.values():
            await link.notify("notifications/roots/list_changed", None)

    async def _relay(self, context: Any) -> Relay:
        headers = self._headers(context)
        relay: Relay | None
        if context.protocol_version in MODERN_PROTOCOL_VERSIONS:
            caller = from_envelope(
                context.params, context.protocol_version, headers, context.request is not None
            )
            relay = await context.lifespan_context.of(caller)
        else:
            relay = kept(context)
            if relay is None:
                raise MCPError(
                    REFUSED, "the client has not introduced itself: begin with `initialize`"
                )
            if headers != relay.client.caller.headers:
                for link in relay.links.values():
                    link.stamp.renew(headers)
        await relay.open()
        return relay

    def _headers(self, context: Any) -> dict[str, str]:
        """The headers of a request that its servers get too; they are passed on and written down
        nowhere."""
        given = getattr(context.request, "headers", None)
        return (
            {} if given is None else {name: given[name] for name in self._passed if name in given}
        )


class _Relays:
    """The relays of clients whose requests each stand for themselves, by what tells these clients
    apart."""

    def __init__(self, setup: Setup, tasks: anyio.abc.TaskGroup) -> None:
        self._setup, self.tasks = setup, tasks
        self._relays: OrderedDict[bytes, Relay] = OrderedDict()

    async def of(self, caller: Caller) -> Relay:
        """The relay of a client."""
        relay = self._relays.get(caller.key)
        if relay is None:
            relay = self._relays[caller.key] = Relay(self._setup, caller, self.tasks)
        self._relays.move_to_end(caller.key)
        if len(self._relays) > RELAYS:
            await self._relays.popitem(last=False)[1].close()
        return relay

    async def close(self) -> None:
        """End all of them."""
        for relay in self._relays.values():
            await relay.close()
        self._relays.clear()


def _is_call(params: Any) -> bool:
    return isinstance(params, Mapping) and isinstance(params.get("arguments", {}), Mapping | None)


def _shaped(context: Any, result: dict[str, Any]) -> dict[str, Any]:
    """A result with what the modern era wants on it; what was judged for one client is cached for
    no other."""
    if context.protocol_version not in MODERN_PROTOCOL_VERSIONS or is_input_required(result):
        return result
    shaped = {"resultType": "complete", **result}
    return (
        {"ttlMs": 0, **shaped, "cacheScope": "private"}
        if context.method in CACHEABLE_METHODS
        else shaped
    )


def _info(relay: Relay) -> dict[str, Any]:
    """Who the client speaks to: the one server, or the proxy of several."""
    if relay.names.is_alone:
        (link,) = relay.links.values()
        if link.greeted.info.get("name"):
            return link.greeted.info
    return {"name": "stanchion", "version": ""}
