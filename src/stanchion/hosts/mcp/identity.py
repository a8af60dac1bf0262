"""Identity: whose the definitions of a server are pinned as, though it is called something else by
now.

A name is the server, whatever command or address is behind it. A command or address whose
definitions were pinned under another name, or before it had one, keeps those pins: or else a new
name would have whatever it says now pinned anew.
"""

from __future__ import annotations

import logging
import os
from typing import Any, Final

from stanchion.hosts.mcp.upstream import Upstream
from stanchion.kernel.compare_and_set import LEFT, change
from stanchion.kernel.scopes import FLEET
from stanchion.runtime.calling.pins import pins_key, pins_of
from stanchion.runtime.driving.sync import drive

LOG: Final = logging.getLogger("stanchion.mcp")
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
