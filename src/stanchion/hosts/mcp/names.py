"""Names: with several servers behind one endpoint, each name says which of them it belongs to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from stanchion.kernel.regex import regex

ALONE: Final = regex(r"\w[\w .@-]{0,63}")
"""The names that a server can have."""
AMONG: Final = regex(r"[A-Za-z][A-Za-z0-9-]{0,31}")
"""Those that it can have beside others: they become parts of names and addresses."""
BETWEEN: Final = "__"
"""What stands between the name of a server and the name of a tool or prompt."""
BEFORE_SCHEME: Final = "+"
"""What stands between the name of a server and the scheme of a resource's address."""

LINKS: Final = frozenset({"resource_link", "resource"})


class ServerNames:
    """The names of servers; a server that is alone needs none."""

    def __init__(self, servers: Sequence[str]) -> None:
        self.servers = tuple(servers)
        self.is_alone = len(self.servers) == 1

    def shown(self, server: str, name: str) -> str:
        """What a client sees of the name of a tool or prompt."""
        return name if self.is_alone else f"{server}{BETWEEN}{name}"

    def shown_address(self, server: str, address: str) -> str:
        """What a client sees of a resource's address."""
        return address if self.is_alone else f"{server}{BEFORE_SCHEME}{address}"

    def meant(self, name: str) -> tuple[str, str] | None:
        """Whose a name is, and what it is there."""
        return self._split(name, BETWEEN)

    def meant_address(self, address: str) -> tuple[str, str] | None:
        """Whose an address is, and what it is there."""
        return self._split(address, BEFORE_SCHEME)

    def in_result(self, server: str, result: dict[str, Any]) -> dict[str, Any]:
        """A result whose addresses of resources are those that a client can ask for."""
        if self.is_alone:
            return result
        changed = dict(result)
        if isinstance(result.get("content"), list):
            changed["content"] = [self._in_block(server, block) for block in result["content"]]
        if isinstance(result.get("contents"), list):
            changed["contents"] = [self._addressed(server, each) for each in result["contents"]]
        if isinstance(result.get("messages"), list):
            changed["messages"] = [
                {**each, "content": self._in_block(server, each.get("content"))}
                if isinstance(each, dict)
                else each
                for each in result["messages"]
            ]
        return changed

    def _in_block(self, server: str, block: Any) -> Any:
        if not isinstance(block, dict) or block.get("type") not in LINKS:
            return block
        if block["type"] == "resource":
            return {**block, "resource": self._addressed(server, block.get("resource"))}
        return self._addressed(server, block)

    def _addressed(self, server: str, one: Any) -> Any:
        if not isinstance(one, dict) or not isinstance(one.get("uri"), str):
            return one
        return {**one, "uri": self.shown_address(server, one["uri"])}

    def _split(self, text: str, between: str) -> tuple[str, str] | None:
        if self.is_alone:
            return self.servers[0], text
        # No name of a server has the mark in it: what stands before the first one is the server.
        owner, mark, rest = text.partition(between)
        return (owner, rest) if mark and owner in self.servers else None
