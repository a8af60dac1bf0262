"""The client's side of a relay: what is under way for it, how servers reach it meanwhile, and calls
that are held while it asks its user."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Any, Final

import anyio
import anyio.abc
from mcp.server.connection import allowed_log_levels
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp_types import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    NotificationParams,
    RequestParams,
    Result,
)
from mcp_types._types import Notification, Request
from pydantic import ConfigDict

from stanchion.hosts.mcp.eras import Caller


class AnyParams(RequestParams):
    """The parameters of a request, all of them."""

    model_config = ConfigDict(extra="allow")


class AnyNoticeParams(NotificationParams):
    """The parameters of a notification, all of them."""

    model_config = ConfigDict(extra="allow")


class AnyRequest(Request[AnyParams | None, str]):
    """A request to the client."""

    method: str
    params: AnyParams | None = None


class AnyNotice(Notification[AnyNoticeParams | None, str]):
    """A notification to the client."""

    method: str
    params: AnyNoticeParams | None = None


class AnyResult(Result):
    """What the client answers, all of it."""

    model_config = ConfigDict(extra="allow")


def request(method: str, params: dict[str, Any]) -> AnyRequest:
    """A request as the client is sent it."""
    return AnyRequest(method=method, params=AnyParams.model_validate(params) if params else None)


def notice(method: str, params: dict[str, Any]) -> AnyNotice:
    """A notification as the client is sent it."""
    return AnyNotice(
        method=method, params=AnyNoticeParams.model_validate(params) if params else None
    )


def raw(result: Result) -> dict[str, Any]:
    """An answer as it came."""
    return result.model_dump(by_alias=True, mode="json", exclude_none=True)


MOST: Final = 1000
"""How many calls are held at once; the oldest is given up first."""
HELD_S: Final = 600.0
"""How long a client may take to answer."""
OURS: Final = "stanchion-"
"""What a token begins with, which tells it from the state of a server that asks the client by
itself."""

Outcome = dict[str, Any] | Exception


class HeldCall:
    """One call: what it asks its client, and what came of it in the end."""

    def __init__(self, what: bytes) -> None:
        self.what = what
        self.token = f"{OURS}{secrets.token_urlsafe(32)}"
        self._scope = anyio.CancelScope()
        self._asked: dict[str, tuple[dict[str, Any], anyio.Event, list[dict[str, Any]]]] = {}
        self._outcome: Outcome | None = None
        self._moved = anyio.Event()
        self._count = 0

    async def run(self, work: Callable[[], Awaitable[dict[str, Any]]]) -> None:
        """Do the work; what it gives or raises is the outcome."""
        try:
            with self._scope:
                try:
                    self._outcome = await work()
                except Exception as error:  # noqa: BLE001 - raised again where the client waits for it
                    self._outcome = error
        finally:
            if self._outcome is None:
                self._outcome = MCPError(INVALID_PARAMS, "the call was given up: make it again")
            self._moved.set()

    async def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Have the client asked; waits for its answer."""
        self._count += 1
        key, answered, answers = f"ask-{self._count}", anyio.Event(), list[dict[str, Any]]()
        request = {"method": method, "params": params} if params else {"method": method}
        self._asked[key] = (request, answered, answers)
        self._moved.set()
        try:
            with anyio.fail_after(HELD_S):
                await answered.wait()
        except TimeoutError:
            raise MCPError(INVALID_PARAMS, "the client has not answered in time") from None
        finally:
            self._asked.pop(key, None)
        return answers[0]

    def answered(self, responses: dict[str, Any]) -> None:
        """Hand in what the client answered."""
        for key, answer in responses.items():
            asked = self._asked.get(key)
            if asked is not None and isinstance(answer, dict):
                asked[2].append(answer)
                asked[1].set()

    async def next(self) -> dict[str, Any]:
        """The result, or what the client is asked before there is one; raises what the work
        raised."""
        while self._outcome is None and not self._open():
            self._moved = anyio.Event()
            await self._moved.wait()
        if self._outcome is None:
            return {
                "resultType": "input_required",
                "inputRequests": {key: asked for key, (asked, _, _) in self._open().items()},
                "requestState": self.token,
            }
        if isinstance(self._outcome, Exception):
            raise self._outcome
        return self._outcome

    @property
    def is_over(self) -> bool:
        """Whether there is an outcome."""
        return self._outcome is not None

    def give_up(self) -> None:
        """End the work."""
        self._scope.cancel()

    def _open(self) -> dict[str, Any]:
        return {key: asked for key, asked in self._asked.items() if not asked[1].is_set()}


class HeldCalls:
    """The held calls of one client, by what it brings back."""

    def __init__(self) -> None:
        self._held: OrderedDict[str, HeldCall] = OrderedDict()

    def find(self, token: Any, what: bytes) -> HeldCall | None:
        """The call that a client comes back to; only with the very request that it made."""
        held = self._held.get(token) if isinstance(token, str) else None
        return held if held is not None and secrets.compare_digest(held.what, what) else None

    def keep(self, held: HeldCall) -> None:
        """Keep a call until its client is back."""
        self._held[held.token] = held
        if len(self._held) > MOST:
            self._held.popitem(last=False)[1].give_up()

    def drop(self, held: HeldCall) -> None:
        """Forget a call that is over."""
        self._held.pop(held.token, None)

    def close(self) -> None:
        """Give all of them up."""
        for held in self._held.values():
            held.give_up()
        self._held.clear()


REPORTS: Final = 100
"""How many reports of progress of one request wait to be passed on."""


class McpClientSide:
    """The requests of one client that are under way, by when they came."""

    def __init__(self, caller: Caller) -> None:
        self.caller = caller
        self.standing: Any = None
        """The session on which a client of the handshake era is reached between its requests."""
        self._active: dict[object, tuple[Any, HeldCall | None]] = {}

    def began(self, context: Any, held: HeldCall | None = None) -> object:
        """A request has come; gives what to end it by."""
        key = object()
        self._active[key] = (context, held)
        return key

    def ended(self, key: object) -> None:
        """A request was answered."""
        self._active.pop(key, None)

    async def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Ask the client on behalf of a server; raises `MCPError`."""
        if not self.caller.can(method):
            raise MCPError(METHOD_NOT_FOUND, f"the client does not answer `{method}`")
        if self.caller.is_modern:
            return await self._asking().ask(method, params)
        return await asked_on(*self._nearest(), method, params)

    async def tell(self, method: str, params: dict[str, Any]) -> None:
        """Pass a notification on to the client, where it is clear whom it is for."""
        if self.caller.is_modern and len(self._active) != 1:
            # Several requests of nobody knows whom share the server: it could be for another of
            # them
            return
        session, related = self._nearest()
        if method == "notifications/message" and not self._wants(params.get("level")):
            return
        if session is not None:
            await session.send_notification(notice(method, params), related)

    def _wants(self, level: Any) -> bool:
        """Whether a log message of a level is for the client: in the modern era each request says
        so for itself."""
        if not self.caller.is_modern:
            return True
        context, _ = next(reversed(self._active.values()))
        meta = (context.params or {}).get("_meta")
        return level in allowed_log_levels(
            self.caller.version, meta if isinstance(meta, dict) else None
        )

    def _asking(self) -> HeldCall:
        """The one request that a server's question can belong to."""
        held = [each for _, each in self._active.values() if each is not None]
        if len(held) != 1 or len(self._active) != 1:
            raise MCPError(
                INVALID_REQUEST,
                "the client can only be asked while exactly one of its requests is at work",
            )
        return held[0]

    def _nearest(self) -> tuple[Any, Any]:
        """The youngest request at work, on whose stream the client surely listens; or else the
        standing session."""
        if self._active:
            context, _ = next(reversed(self._active.values()))
            return context.session, context.request_id
        return self.standing, None


async def asked_on(
    session: Any, related: Any, method: str, params: dict[str, Any]
) -> dict[str, Any]:
    """What a client of the handshake era answers, asked on the stream of one of its requests;
    raises `MCPError`."""
    answer = await session.send_request(
        request(method, params),
        AnyResult,
        metadata=ServerMessageMetadata(related_request_id=related),
    )
    return raw(answer)
