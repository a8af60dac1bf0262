"""The client before the proxy: what it says of itself, in either era of the protocol."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec
from mcp_types import CLIENT_CAPABILITIES_META_KEY, CLIENT_INFO_META_KEY, PROTOCOL_VERSION_META_KEY
from mcp_types.version import LATEST_HANDSHAKE_VERSION, MODERN_PROTOCOL_VERSIONS

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
