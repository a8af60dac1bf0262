"""A link: one connection to one server, for one client. It lives in a task of its own and is opened
again when lost."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from time import monotonic
from typing import Any, Final

import anyio
import anyio.abc
from mcp.shared.dispatcher import CallOptions, ProgressFnT
from mcp.shared.exceptions import MCPError
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp_types import CONNECTION_CLOSED, INTERNAL_ERROR, INVALID_REQUEST, REQUEST_TIMEOUT

from stanchion.hosts.mcp.eras import Caller, Greeted, OtherEra, Stamp, greet, is_over
from stanchion.hosts.mcp.upstream import Upstream

OPEN_S: Final = 60.0
"""How long a server may take until it has said what it can do."""
PING_S: Final = 10.0
REST_S: Final = 1.0
"""After a server could not be reached, so long nobody tries again; twice as long each time."""
MOST_REST_S: Final = 30.0
WAITING: Final = 1000
"""How many notifications of a server wait to be passed on; a server that sends faster loses those
beyond."""
ASKING: Final = 64
"""How many requests of a server are under way at once."""

LOG: Final = logging.getLogger("stanchion.mcp")

Asked = Callable[["ServerLink", str, dict[str, Any]], Awaitable[dict[str, Any]]]
"""Answers a request of a server."""
Noticed = Callable[["ServerLink", str, dict[str, Any]], Awaitable[None]]
"""Passes a notification of a server on."""


class Unreachable(MCPError):
    """A server cannot be reached."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(
            INTERNAL_ERROR, f"the server `{name}` cannot be reached: {why}; try again later"
        )


class Forgotten(Unreachable):
    """A server has forgotten the connection: what it was asked last has not happened."""

    def __init__(self, name: str) -> None:
        super().__init__(name, "it has forgotten who is there")


class ServerLink:
    """One server as one client sees it."""

    def __init__(
        self, upstream: Upstream, caller: Caller, asked: Asked, noticed: Noticed, timeout_s: float
    ) -> None:
        self.upstream, self.caller = upstream, caller
        self.greeted = Greeted()
        self.stamp = Stamp(caller, self.greeted, upstream.own_headers)
        self.levels: dict[str, Any] = {}
        """What was set on the server and is set again when it comes back: method and parameters by
        what it is about."""
        self.is_listed = False
        """Whether the definitions of its tools, as they are now, were taken in."""
        self.usable: dict[str, str] = {}
        """The tools that it lists, by its own names for them; each with why it cannot be called, or
        nothing."""
        self.listing = anyio.Lock()
        self.schemas: dict[str, Any] = {}
        """What its tools take, by the names that the client knows."""
        self._asked, self._noticed, self._timeout_s = asked, noticed, timeout_s
        self._dispatcher: JSONRPCDispatcher[Any] | None = None
        self._read: Any = None
        self._close: anyio.Event = anyio.Event()
        self._opening = anyio.Lock()
        self._failures, self._again_at, self._why = 0, 0.0, ""
        self._under_way = 0

    @property
    def name(self) -> str:
        """The name of the server."""
        return self.upstream.name

    @property
    def is_open(self) -> bool:
        """Whether the server is there."""
        return self._dispatcher is not None

    async def open(self, tasks: anyio.abc.TaskGroup) -> None:
        """Be connected; raises `Unreachable`. Who calls this while it is being opened waits for
        that."""
        if self.is_open:
            return
        async with self._opening:
            if self._dispatcher is not None:
                return
            if monotonic() < self._again_at:
                raise Unreachable(self.name, self._why)
            again = bool(self.greeted.version)
            try:
                await self._begin(tasks)
            except Exception as error:  # noqa: BLE001 - a server may be out of reach in any way
                self._failures += 1
                self._again_at = monotonic() + min(REST_S * 2 ** (self._failures - 1), MOST_REST_S)
                self._why = why(error)
                LOG.warning("the server `%s` cannot be reached: %s", self.name, self._why)
                raise Unreachable(self.name, self._why) from None
            self._failures = 0
        if again:
            await self._restore()

    async def _begin(self, tasks: anyio.abc.TaskGroup) -> None:
        """Connect in the era of the client, or in the other one if the server only knows that."""
        modern = self.greeted.is_modern if self.greeted.version else self.caller.is_modern
        try:
            await tasks.start(self._kept, modern)
        except OtherEra:
            await tasks.start(self._kept, True)

    async def request(
        self,
        tasks: anyio.abc.TaskGroup,
        method: str,
        params: dict[str, Any],
        on_progress: ProgressFnT | None = None,
    ) -> dict[str, Any]:
        """Ask the server, and give its raw result; raises `MCPError`."""
        try:
            return await self._request(tasks, method, params, on_progress)
        except Forgotten:
            return await self._request(tasks, method, params, on_progress)

    async def _request(
        self,
        tasks: anyio.abc.TaskGroup,
        method: str,
        params: dict[str, Any],
        on_progress: ProgressFnT | None,
    ) -> dict[str, Any]:
        await self.open(tasks)
        dispatcher = self._dispatcher
        if dispatcher is None:
            raise Unreachable(self.name, "it ended")
        sent, headers = self.stamp.request(method, params)
        options: CallOptions = {"headers": headers, "timeout": self._timeout_s}
        if on_progress is not None:
            options["on_progress"] = on_progress
        try:
            return await dispatcher.send_raw_request(method, sent, options)
        except MCPError as error:
            if is_over(dispatcher, error):
                raise Unreachable(
                    self.name, self._trouble() or "it ended while it was at work"
                ) from None
            if error.code == REQUEST_TIMEOUT:
                raise MCPError(
                    REQUEST_TIMEOUT,
                    f"the server `{self.name}` has not answered within {self._timeout_s:g} seconds",
                ) from None
            if error.code != INVALID_REQUEST or not await self._is_forgotten(dispatcher):
                raise
        if self._dispatcher is dispatcher:
            self.close()
        raise Forgotten(self.name)

    async def _is_forgotten(self, dispatcher: JSONRPCDispatcher[Any]) -> bool:
        """Whether the server knows nothing of this connection any more, and so has not done what it
        was asked."""
        if self.greeted.is_modern:
            return False
        try:
            await dispatcher.send_raw_request(
                "ping", None, {"timeout": PING_S, "headers": self.stamp.headers()}
            )
        except MCPError as error:
            return error.code == INVALID_REQUEST
        return False

    async def listen(self, tasks: anyio.abc.TaskGroup, name: str, wanted: dict[str, Any]) -> None:
        """Have a server of the modern era tell of changes under a name, until this is cancelled;
        raises `MCPError`."""
        await self.open(tasks)
        if self._dispatcher is not None:
            sent, headers = self.stamp.request("subscriptions/listen", {"notifications": wanted})
            options: CallOptions = {"headers": headers, "request_id": name}
            await self._dispatcher.send_raw_request("subscriptions/listen", sent, options)

    async def notify(self, method: str, params: dict[str, Any] | None) -> None:
        """Tell the server something, if it is there."""
        if self._dispatcher is not None and not self.greeted.is_modern:
            await self._dispatcher.notify(method, params, {"headers": self.stamp.headers()})

    def close(self) -> None:
        """End the connection."""
        self._dispatcher = None
        self._close.set()

    async def _restore(self) -> None:
        for method, params in list(self.levels.values()):
            if self._dispatcher is None:
                return
            try:
                await self._dispatcher.send_raw_request(method, params, {"timeout": OPEN_S})
            except MCPError as error:
                LOG.warning(
                    "`%s` was not set again on the server `%s`: %s", method, self.name, error.code
                )

    async def _kept(self, modern: bool, *, task_status: anyio.abc.TaskStatus[None]) -> None:
        """Hold the connection until it ends; nothing that goes wrong with it reaches other
        clients."""
        is_open, dispatcher = False, None
        self._close = close = anyio.Event()
        try:
            async with (
                self.upstream.connect(self.caller.headers) as (read, write),
                anyio.create_task_group() as own,
            ):
                dispatcher, self._read = JSONRPCDispatcher[Any](read, write), read
                send, receive = anyio.create_memory_object_stream[tuple[str, dict[str, Any]]](
                    WAITING
                )

                async def run(*, task_status: anyio.abc.TaskStatus[None]) -> None:
                    def taken(method: str, params: Mapping[str, Any] | None) -> bool:
                        if method not in ("notifications/cancelled", "notifications/progress"):
                            try:
                                send.send_nowait(
                                    (method, dict(params) if params is not None else {})
                                )
                            except anyio.WouldBlock:
                                LOG.debug("the server `%s` sends notifications too fast", self.name)
                        return True

                    try:
                        await dispatcher.run(
                            self._on_request, _nothing, taken, task_status=task_status
                        )
                    finally:
                        close.set()

                async def pass_on() -> None:
                    async for method, params in receive:
                        try:
                            await self._noticed(self, method, params)
                        except Exception as error:  # noqa: BLE001 - one notification must not end the connection
                            LOG.warning("`%s` was not passed on: %s", method, type(error).__name__)

                with send, receive:
                    await own.start(run)
                    with anyio.fail_after(OPEN_S):
                        self.greeted = await self._greet(dispatcher, modern)
                    self.stamp = Stamp(self.caller, self.greeted, self.upstream.own_headers)
                    self._dispatcher, is_open, self.is_listed = dispatcher, True, False
                    own.start_soon(pass_on)
                    task_status.started()
                    await close.wait()
                    self._lost(dispatcher)
                    if trouble := self._trouble():
                        LOG.warning(
                            "the connection to the server `%s` ended: %s", self.name, trouble
                        )
                    own.cancel_scope.cancel()
        except Exception as error:  # noqa: BLE001 - other clients must not notice
            if not is_open:
                raise _first(error) from None
            LOG.warning("the connection to the server `%s` ended: %s", self.name, why(error))
        finally:
            self._lost(dispatcher)

    async def _greet(self, dispatcher: JSONRPCDispatcher[Any], modern: bool) -> Greeted:
        try:
            return await greet(dispatcher, self.caller, modern)
        except MCPError as error:
            if error.code == CONNECTION_CLOSED and not is_over(dispatcher, error):
                raise MCPError(INTERNAL_ERROR, error.message) from None  # it lives, and says no
            raise

    def _trouble(self) -> str:
        """Why nothing more is read of what the server sends, where that is why the connection is
        over."""
        trouble = getattr(self._read, "trouble", "")
        return str(trouble)

    def _lost(self, dispatcher: JSONRPCDispatcher[Any] | None) -> None:
        """A connection is over; another may have taken its place already."""
        if self._dispatcher is dispatcher:
            self._dispatcher = None

    async def _on_request(
        self, context: Any, method: str, params: Mapping[str, Any] | None
    ) -> dict[str, Any]:
        if method == "ping":
            return {}
        if self._under_way >= ASKING:
            raise MCPError(
                INTERNAL_ERROR, f"more than {ASKING} requests are under way: wait for their answers"
            )
        self._under_way += 1
        try:
            return await self._asked(self, method, dict(params) if params is not None else {})
        finally:
            self._under_way -= 1


async def _nothing(context: Any, method: str, params: Mapping[str, Any] | None) -> None:
    """Notifications are taken in the order in which they come."""


def _first(error: Exception) -> Exception:
    """The error itself where others stand around it."""
    while isinstance(error, ExceptionGroup) and error.exceptions:
        error = error.exceptions[0]
    return error


def why(error: Exception) -> str:
    """What went wrong with a connection, in words that carry nothing of its headers."""
    error = _first(error)
    if isinstance(error, FileNotFoundError):
        return (
            f"there is no command `{error.filename}`"
            if error.filename
            else "its command is not there"
        )
    if isinstance(error, TimeoutError):
        return f"it did not answer within {OPEN_S:g} seconds"
    if isinstance(error, MCPError):
        return (
            "it ended"
            if error.code == CONNECTION_CLOSED
            else f"it refused the connection: {error.message[:200]}"
        )
    return type(error).__name__
