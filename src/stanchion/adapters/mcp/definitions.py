"""Definitions: what servers say their tools do is pinned and read before any client sees it."""

from __future__ import annotations

import asyncio
import logging
from hashlib import blake2b
from time import monotonic
from typing import Any, Final

import msgspec

from stanchion.policy.definitions import reads_definitions

LOG: Final = logging.getLogger("stanchion.mcp")
FRESH_S: Final = 3600.0
"""So long a list that was found in order is not looked at again."""
MOST: Final = 1000
"""How many lists are remembered."""
WORDS: Final = frozenset({"description", "title", "examples", "$comment", "default"})
"""The parts of a schema that are there to be read."""

SUSPECT: Final = "they instruct whoever reads them, hide something or ask for secrets"


class Definitions:
    """What is known of the definitions of all servers; one for all clients."""

    def __init__(self, shield: Any) -> None:
        self._shield = shield
        self._seen: dict[bytes, float] = {}

    async def taken_in(self, tools: list[dict[str, Any]]) -> dict[str, str]:
        """Pin and read definitions; gives those that somebody should look at first, each with why."""
        if not tools or not reads_definitions(self._shield.policy):
            return {}
        digest = blake2b(msgspec.json.encode(tools), digest_size=32).digest()
        now = monotonic()
        if self._seen.get(digest, 0.0) > now:
            return {}
        told = await asyncio.to_thread(self._shield.ingest, {"tools": tools})
        doubts = {**told.suspect, **told.changed}
        if doubts:
            for name, words in doubts.items():
                LOG.warning("the definition of `%s` is withheld: %s", name, words)
            # What was found is quoted for operators; a model must not read it.
            return {**dict.fromkeys(told.suspect, SUSPECT), **told.changed}
        if len(self._seen) >= MOST:
            self._seen.clear()
        self._seen[digest] = now + FRESH_S
        return {}


def withheld(tool: dict[str, Any], why: str) -> dict[str, Any]:
    """A definition without its words, until an operator has read them."""
    name = tool.get("name")
    kept = {key: value for key, value in tool.items() if key not in ("title", "annotations", "_meta", "icons")}
    kept["description"] = (
        f"The words of this definition are withheld: {why}. "
        f"An operator reads them with `stanchion tools` and accepts them with `stanchion tools accept {name}`."
    )
    for part in ("inputSchema", "outputSchema"):
        if part in kept:
            kept[part] = _bare(kept[part])
    return kept


def _bare(schema: Any) -> Any:
    if isinstance(schema, dict):
        return {
            key: {name: _bare(each) for name, each in value.items()}
            if key == "properties" and isinstance(value, dict)
            else _bare(value)
            for key, value in schema.items()
            if key not in WORDS
        }
    return [_bare(each) for each in schema] if isinstance(schema, list) else schema
