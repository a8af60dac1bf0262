"""The eras of the protocol: the client as it introduces itself, how a server is greeted, and what
each request to it is stamped with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import (
    MCP_METHOD_HEADER,
    MCP_NAME_HEADER,
    MCP_PROTOCOL_VERSION_HEADER,
    NAME_BEARING_METHODS,
    encode_header_value,
    find_invalid_x_mcp_header,
    mcp_param_headers,
    x_mcp_header_map,
)
from mcp_types import (
    CLIENT_CAPABILITIES_META_KEY,
    CLIENT_INFO_META_KEY,
    CONNECTION_CLOSED,
    INVALID_REQUEST,
    LOG_LEVEL_META_KEY,
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

OF_THE_HOP: Final = frozenset(
    {"progressToken", PROTOCOL_VERSION_META_KEY, CLIENT_INFO_META_KEY, CLIENT_CAPABILITIES_META_KEY}
)
"""The keys of a request's `_meta` that are about one connection, and made anew for the next."""


class Caller(msgspec.Struct, frozen=True):
    """A client: its name, what it can do, the version it speaks, the headers that go on to its
    servers, and whether it comes by HTTP."""

    info: dict[str, Any]
    capabilities: dict[str, Any]
    version: str
    headers: dict[str, str]
    by_http: bool = False

    @property
    def is_modern(self) -> bool:
        """Whether each of its requests stands for itself, and nothing can be asked of it between
        them."""
        return self.version in MODERN_PROTOCOL_VERSIONS

    @property
    def key(self) -> bytes:
        """Equal for clients that nothing tells apart."""
        return msgspec.json.encode(self, order="deterministic")

    def can(self, method: str) -> bool:
        """Whether it answers a request of a server."""
        needed = {
            "sampling/createMessage": "sampling",
            "elicitation/create": "elicitation",
            "roots/list": "roots",
        }
        return method in needed and isinstance(self.capabilities.get(needed[method]), Mapping)


def from_handshake(params: Mapping[str, Any], headers: dict[str, str], by_http: bool) -> Caller:
    """The client that sends `initialize`."""
    version = params.get("protocolVersion")
    return Caller(
        _mapping(params.get("clientInfo")),
        _mapping(params.get("capabilities")),
        version
        if isinstance(version, str) and version not in MODERN_PROTOCOL_VERSIONS
        else LATEST_HANDSHAKE_VERSION,
        headers,
        by_http,
    )


def from_envelope(
    params: Mapping[str, Any] | None, version: str, headers: dict[str, str], by_http: bool
) -> Caller:
    """The client of a request that stands for itself."""
    meta = _mapping(_mapping(params).get("_meta"))
    info, able = (
        _mapping(meta.get(CLIENT_INFO_META_KEY)),
        _mapping(meta.get(CLIENT_CAPABILITIES_META_KEY)),
    )
    return Caller(info, able, version, headers, by_http)


def passed_on(params: Mapping[str, Any] | None) -> dict[str, Any]:
    """A request's parameters without what belongs to the connection it came by."""
    given = dict(params) if params is not None else {}
    meta = {
        key: value
        for key, value in _mapping(given.pop("_meta", None)).items()
        if key not in OF_THE_HOP
    }
    return {**given, "_meta": meta} if meta else given


def _mapping(value: Any) -> dict[str, Any]:
    return dict(value) if isinstance(value, Mapping) else {}


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


class Stamp:
    """What goes with each request of one link."""

    def __init__(self, caller: Caller, greeted: Greeted, own_headers: frozenset[str]) -> None:
        self._caller, self._greeted, self._own = caller, greeted, own_headers
        self._passed: dict[str, str] = {}
        self.level = ""
        """From which level on a client wants log messages, where it says so once and the server
        wants it each time."""
        self._maps: dict[str, dict[tuple[str, ...], str]] = {}

    def learn(self, tools: Iterable[Mapping[str, Any]]) -> None:
        """Remember which arguments of listed tools are repeated in headers."""
        for tool in tools:
            name, schema = tool.get("name"), tool.get("inputSchema")
            if isinstance(name, str) and find_invalid_x_mcp_header(schema) is None:
                found = x_mcp_header_map(schema)
                if found:
                    self._maps[name] = found
                else:
                    self._maps.pop(name, None)

    def renew(self, headers: Mapping[str, str]) -> None:
        """Pass on the headers that a client sends by now, such as a token that it has renewed."""
        self._passed = {name: value for name, value in headers.items() if name not in self._own}

    def headers(self) -> dict[str, str]:
        """The headers of any message."""
        version = (
            {MCP_PROTOCOL_VERSION_HEADER: self._greeted.version} if self._greeted.version else {}
        )
        return {**self._passed, **version}

    def request(self, method: str, params: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
        """A request's parameters and headers, as the server wants them."""
        headers = self.headers()
        if not self._greeted.is_modern:
            return params, headers
        meta = {
            **({LOG_LEVEL_META_KEY: self.level} if self.level else {}),
            **params.get("_meta", {}),
            PROTOCOL_VERSION_META_KEY: self._greeted.version,
            CLIENT_INFO_META_KEY: self._caller.info or {"name": "stanchion", "version": "0"},
            CLIENT_CAPABILITIES_META_KEY: self._caller.capabilities,
        }
        headers[MCP_METHOD_HEADER] = method
        name = params.get(NAME_BEARING_METHODS.get(method, ""))
        if isinstance(name, str):
            headers[MCP_NAME_HEADER] = encode_header_value(name)
            if method == "tools/call" and name in self._maps:
                headers.update(mcp_param_headers(self._maps[name], params.get("arguments") or {}))
        return {**params, "_meta": meta}, headers
