"""Definitions: what servers say their tools do is pinned, under whose name it is known, and read
before any client sees it."""

from __future__ import annotations

import asyncio
import logging
import os
from collections import Counter
from hashlib import blake2b
from time import monotonic
from typing import Any, Final

import msgspec

from stanchion.hosts.mcp.upstream import Upstream
from stanchion.kernel.compare_and_set import LEFT, change
from stanchion.kernel.counter_scopes import FLEET
from stanchion.policy.definitions import reads_definitions
from stanchion.readings.definitions.reader import is_plain_name
from stanchion.runtime.calling.pins import pins_key, pins_of
from stanchion.runtime.calling.tool_formats import definitions
from stanchion.runtime.driving.sync import drive
from stanchion.runtime.standing.occurring import remark_on_tools

CALLED: Final = ":called:"
"""What stands between the place of a server and its name, in the name of a pin that tells of
both."""


def pinned_names(shield: Any) -> tuple[str, ...]:
    """The names of everything that is pinned in the store."""
    found: tuple[str, ...] = ()

    def look(value: Any, _now: int) -> Any:
        nonlocal found
        found = tuple(pins_of(value).tools)
        return LEFT

    drive(
        change(shield.records, f"pins-{os.urandom(8).hex()}", FLEET, pins_key(FLEET), look), shield
    )
    return found


def identity(shield: Any, upstream: Upstream, alone: bool) -> str:
    """Whose the definitions of a server are; remembers it where nothing is known of the server yet.

    One of several servers is pinned by its name in any case, which its tools have in their own:
    that is said aloud.
    """
    name, place = upstream.pinned_as, upstream.place
    mark = f"{place}{CALLED}{name}"
    pinned = pinned_names(shield)
    if (
        not place
        or name == place
        or mark in pinned
        or any(one.startswith(f"{name}/") for one in pinned)
    ):
        return name
    before = _before(place, pinned)
    if before and alone:
        LOG.warning(
            "the server `%s` was known as `%s`: its definitions stay pinned under that name",
            name,
            before,
        )
        return before
    if before:
        LOG.warning(
            "the server `%s` was known as `%s`: its definitions are pinned anew, read them",
            name,
            before,
        )
    shield.ingest({"tools": [{"name": mark, "inputSchema": {"type": "object"}}]})
    return name


def _before(place: str, pinned: tuple[str, ...]) -> str:
    """What a command or address was called when its definitions were pinned; empty where they were
    not."""
    if any(one.startswith(f"{place}/") for one in pinned):
        return place
    mark = f"{place}{CALLED}"
    return next((one.removeprefix(mark) for one in pinned if one.startswith(mark)), "")


LOG: Final = logging.getLogger("stanchion.mcp")
FRESH_S: Final = 3600.0
"""So long a list that was found in order is not looked at again."""
MOST: Final = 1000
"""How many lists are remembered."""
MOST_TOOLS: Final = 1000
"""How many tools of one list can be used: those that come first."""
SHAPE: Final = frozenset(
    {
        *(
            "type",
            "properties",
            "required",
            "items",
            "prefixItems",
            "additionalProperties",
            "anyOf",
            "oneOf",
            "allOf",
        ),
        *(
            "minimum",
            "maximum",
            "exclusiveMinimum",
            "exclusiveMaximum",
            "multipleOf",
            "minLength",
            "maxLength",
        ),
        *("minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties"),
    }
)
"""The parts of a schema that say what shape arguments have, without a word of the server's own but
their names."""

SUSPECT: Final = "they instruct whoever reads them, hide something or ask for secrets"


class Definitions:
    """What is known of the definitions of all servers; one for all clients."""

    def __init__(self, shield: Any) -> None:
        self._shield = shield
        self._seen: dict[bytes, float] = {}
        self._whose: dict[tuple[str, str], str] = {}

    async def whose(self, upstream: Upstream, alone: bool) -> str:
        """Whose the definitions of a server are pinned as."""
        if not reads_definitions(self._shield.policy):
            return upstream.pinned_as
        known = (upstream.name, upstream.told_by)
        if known not in self._whose:
            self._whose[known] = await asyncio.to_thread(identity, self._shield, upstream, alone)
        return self._whose[known]

    async def taken_in(self, tools: list[dict[str, Any]], server: str = "") -> dict[str, str]:
        """Pin and read definitions, as those of a server where their names do not say whose they
        are; gives those that somebody should look at first, each with why."""
        if not tools:
            return {}
        digest = blake2b(msgspec.json.encode([server, tools]), digest_size=32).digest()
        now = monotonic()
        if self._seen.get(digest, 0.0) > now:
            return {}
        if not reads_definitions(self._shield.policy):
            schemas = {str(each.get("name")): each.get("inputSchema") for each in tools}
            remark_on_tools(self._shield.policy, schemas)
            self._remember(digest, now)
            return {}
        told = await asyncio.to_thread(self._shield.ingest, {"tools": tools}, server=server)
        doubts = {**told.suspect, **told.changed}
        if doubts:
            for name, words in doubts.items():
                LOG.warning(
                    "the definition of `%s` is withheld: %s; `stanchion tools` shows it",
                    name,
                    words,
                )
            # What was found is quoted for operators; a model must not read it.
            return {**dict.fromkeys(told.suspect, SUSPECT), **told.changed}
        self._remember(digest, now)
        return {}

    def _remember(self, digest: bytes, now: float) -> None:
        if len(self._seen) >= MOST:
            self._seen.clear()
        self._seen[digest] = now + FRESH_S


def sifted(tools: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """The definitions of a list that can be used, and why the others cannot, by their names. A name
    that stands there twice says nothing: whichever is called, the other may have been meant."""
    names = Counter(str(each.get("name")) for each in tools)
    usable, unusable = list[dict[str, Any]](), dict[str, str]()
    for each in tools:
        name = str(each.get("name"))
        if names[name] > 1:
            unusable[name] = f"it is listed {names[name]} times"
        elif len(usable) == MOST_TOOLS:
            unusable[name] = f"{MOST_TOOLS:,} tools are listed before it, which is the most"
        else:
            try:
                definitions([each])
            except (ValueError, RecursionError) as error:
                unusable[name] = str(error)
            else:
                usable.append(each)
    return usable, unusable


def withheld(tool: dict[str, Any], why: str) -> dict[str, Any] | None:
    """A definition without its words, until an operator has read them; nothing where the name
    itself is among them."""
    name = tool.get("name")
    if not isinstance(name, str) or not is_plain_name(name):
        return None
    said = (
        f"The words of this definition are withheld until an operator has read them: {why}. "
        "Use another tool, or tell the user that this one waits for an operator."
    )
    schemas: dict[str, Any] = {
        part: _bare(tool[part]) for part in ("inputSchema", "outputSchema") if part in tool
    }
    return {"name": name, "description": said, **schemas}


def _bare(schema: Any) -> Any:
    """The shape that a schema asks for."""
    if isinstance(schema, list):
        return [_bare(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    return {key: _shape(key, value) for key, value in schema.items() if key in SHAPE}


def _shape(key: str, value: Any) -> Any:
    if key == "properties" and isinstance(value, dict):
        return {name: _bare(each) for name, each in value.items() if is_plain_name(name)}
    if key == "required" and isinstance(value, list):
        return [name for name in value if isinstance(name, str) and is_plain_name(name)]
    return _bare(value)
