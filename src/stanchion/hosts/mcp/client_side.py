"""The client's side of a relay: what is under way for it, and how servers reach it meanwhile."""

from __future__ import annotations

from typing import Any, Final

from mcp.server.connection import allowed_log_levels
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp_types import INVALID_REQUEST, METHOD_NOT_FOUND

from stanchion.hosts.mcp import open_types
from stanchion.hosts.mcp.caller import Caller
from stanchion.hosts.mcp.held import Held

REPORTS: Final = 100
"""How many reports of progress of one request wait to be passed on."""


class ClientSide:
    """The requests of one client that are under way, by when they came."""

    def __init__(self, caller: Caller) -> None:
        self.caller = caller
        self.standing: Any = None
        """The session on which a client of the handshake era is reached between its requests."""
        self._active: dict[object, tuple[Any, Held | None]] = {}

    def began(self, context: Any, held: Held | None = None) -> object:
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
            await session.send_notification(open_types.notice(method, params), related)

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

    def _asking(self) -> Held:
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
        open_types.request(method, params),
        open_types.AnyResult,
        metadata=ServerMessageMetadata(related_request_id=related),
    )
    return open_types.raw(answer)
