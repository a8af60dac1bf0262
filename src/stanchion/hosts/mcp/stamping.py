"""Stamping requests to a server with what its era of the protocol wants on each of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

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
    LOG_LEVEL_META_KEY,
    PROTOCOL_VERSION_META_KEY,
)

from stanchion.hosts.mcp.caller import Caller
from stanchion.hosts.mcp.greeting import Greeted


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
