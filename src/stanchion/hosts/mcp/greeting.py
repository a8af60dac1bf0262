"""Greeting a server: finding out which era of the protocol it speaks, and what it can do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import MCP_METHOD_HEADER, MCP_PROTOCOL_VERSION_HEADER
from mcp_types import (
    CLIENT_CAPABILITIES_META_KEY,
    CLIENT_INFO_META_KEY,
    CONNECTION_CLOSED,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PROTOCOL_VERSION_META_KEY,
    SERVER_INFO_META_KEY,
    UNSUPPORTED_PROTOCOL_VERSION,
)
from mcp_types.version import (
    HANDSHAKE_PROTOCOL_VERSIONS,
    LATEST_HANDSHAKE_VERSION,
    LATEST_MODERN_VERSION,
    MODERN_PROTOCOL_VERSIONS,
)

from stanchion.hosts.mcp.caller import Caller

PROBE_S: Final = 10.0
"""How long a server may take to say that it does not know what it is asked."""
NOT_THIS_ERA: Final = frozenset({UNSUPPORTED_PROTOCOL_VERSION, METHOD_NOT_FOUND, INVALID_REQUEST})


class Greeted(msgspec.Struct, frozen=True):
    """What a server said of itself."""

    version: str = ""
    capabilities: dict[str, Any] = {}
    info: dict[str, Any] = {}
    instructions: str = ""

    @property
    def is_modern(self) -> bool:
        """Whether each request to it stands for itself."""
        return self.version in MODERN_PROTOCOL_VERSIONS


class OtherEra(Exception):
    """A server does not know the handshake: it has to be greeted anew, on a connection where none
    was tried."""


async def greet(dispatcher: Any, caller: Caller, modern: bool) -> Greeted:
    """Greet a server in an era; raises `MCPError`, and `OtherEra` where a handshake was wrong.

    A server of the handshake era answers a question of the modern one with an error, and can be
    greeted on the same connection. The other way round it cannot: there the first request decides
    the era of the whole connection.
    """
    if modern:
        try:
            return await _discover(
                dispatcher, caller, caller.version if caller.is_modern else LATEST_MODERN_VERSION
            )
        except MCPError as error:
            if is_over(dispatcher, error) or not caller.is_modern:
                raise
        return await _shake_hands(dispatcher, caller)
    try:
        return await _shake_hands(dispatcher, caller)
    except MCPError as error:
        if error.code in NOT_THIS_ERA:
            raise OtherEra from None
        raise


def is_over(dispatcher: Any, error: MCPError) -> bool:
    """Whether an error says that the connection has ended. Its code is one that servers use for
    errors of their own, so the dispatcher is asked as well, which has no public word for it."""
    return error.code == CONNECTION_CLOSED and bool(getattr(dispatcher, "_closed", True))


async def _shake_hands(dispatcher: Any, caller: Caller) -> Greeted:
    wanted = (
        caller.version
        if caller.version in HANDSHAKE_PROTOCOL_VERSIONS
        else LATEST_HANDSHAKE_VERSION
    )
    told = {
        "protocolVersion": wanted,
        "capabilities": caller.capabilities,
        "clientInfo": _info(caller),
    }
    came = await dispatcher.send_raw_request("initialize", told, {"cancel_on_abandon": False})
    version = came.get("protocolVersion")
    if version not in HANDSHAKE_PROTOCOL_VERSIONS:
        raise MCPError(
            UNSUPPORTED_PROTOCOL_VERSION,
            "it speaks a version of the protocol that nobody here knows",
        )
    await dispatcher.notify(
        "notifications/initialized", None, {"headers": {MCP_PROTOCOL_VERSION_HEADER: version}}
    )
    return _greeted(version, came, came.get("serverInfo"))


async def _discover(dispatcher: Any, caller: Caller, version: str) -> Greeted:
    meta = {
        PROTOCOL_VERSION_META_KEY: version,
        CLIENT_INFO_META_KEY: _info(caller),
        CLIENT_CAPABILITIES_META_KEY: caller.capabilities,
    }
    headers = {MCP_PROTOCOL_VERSION_HEADER: version, MCP_METHOD_HEADER: "server/discover"}
    came = await dispatcher.send_raw_request(
        "server/discover",
        {"_meta": meta},
        {"timeout": PROBE_S, "cancel_on_abandon": False, "headers": headers},
    )
    supported = came.get("supportedVersions")
    shared = [
        known
        for known in MODERN_PROTOCOL_VERSIONS
        if isinstance(supported, list) and known in supported
    ]
    if not shared:
        raise MCPError(
            UNSUPPORTED_PROTOCOL_VERSION, "it speaks no version of the protocol that is known here"
        )
    stamped = came.get("_meta")
    return _greeted(
        shared[-1],
        came,
        stamped.get(SERVER_INFO_META_KEY) if isinstance(stamped, Mapping) else None,
    )


def _greeted(version: str, came: Mapping[str, Any], info: Any) -> Greeted:
    capabilities, instructions = came.get("capabilities"), came.get("instructions")
    return Greeted(
        version,
        dict(capabilities) if isinstance(capabilities, Mapping) else {},
        dict(info) if isinstance(info, Mapping) else {},
        instructions if isinstance(instructions, str) else "",
    )


def _info(caller: Caller) -> dict[str, Any]:
    return caller.info if caller.info.get("name") else {"name": "stanchion", "version": "0"}
