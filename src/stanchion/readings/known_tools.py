"""Known tools: what those of servers and frameworks do that many use, as it was read from a version
of each. A name is no proof: anybody may call a tool so."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache
from pkgutil import get_data
from typing import Final

from msgspec import Struct

from stanchion.kernel.declared import CONTENT, EFFECTS, Declared, strictest
from stanchion.kernel.regex import regex
from stanchion.readings.names import KEPT, LONGEST

_WORD: Final = regex(r"[a-z0-9]+")


class KnownTool(Struct, frozen=True):
    """What a tool of a server or a framework does, and where that was read."""

    declared: Declared
    source: str


@lru_cache(KEPT)
def known_tool(tool: str, args: tuple[str, ...] | None = None) -> KnownTool | None:
    """What the known tools of a name do: that of the server whose name stands before it, as in
    `mcp__github__create_issue`, or else the strictest of all that take such arguments. A name of
    one word may be anybody's: it has to have its server's before it."""
    name = _plain(tool)
    by_server, by_name = _tools()
    found = by_server.get(name.removeprefix("mcp_"))
    if found is None and "_" in name:
        found = [one for one in by_name.get(name, ()) if args is None or _takes(one, args)]
    if not found:
        return None
    effect = strictest(EFFECTS, [one.declared.effect for one in found])
    text = any(one.declared.result == CONTENT for one in found)
    sinks = dict.fromkeys([sink for one in found for sink in one.declared.sinks])
    first = next(one for one in found if one.declared.effect == effect)
    return KnownTool(Declared(None, effect, CONTENT if text else None, tuple(sinks)), first.source)


def _takes(known: KnownTool, args: tuple[str, ...]) -> bool:
    """Whether arguments may be those of a known tool: its first sink is one that it always has."""
    first = next(iter(known.declared.sinks), "@")
    return first.startswith("@") or first in args


Table = dict[str, list[KnownTool]]


@cache
def _tools() -> tuple[Table, Table]:
    """The known tools by their names with the server's before, and by their own names."""
    by_server: Table = {}
    by_name: Table = {}
    for source, servers, name, declared in _rows():
        known = KnownTool(declared, source)
        by_name.setdefault(name, []).append(known)
        for server in servers:
            by_server.setdefault(f"{server}_{name}", []).append(known)
    return by_server, by_name


def _rows() -> Iterator[tuple[str, list[str], str, Declared]]:
    """Each tool of the file: its source, the names of its server, its name, and what it does. A
    line has an effect, `content` where nothing in its results names anything, the sinks of all its
    tools, and the tools, each with sinks of its own."""
    source, servers = "", list[str]()
    data = get_data(__package__ or "", "known_tools.txt") or b""
    for line in data.decode().splitlines():
        if line.startswith("["):
            source, _, names = line.strip("[]").partition(" | ")
            servers = [_plain(name) for name in names.split()]
            continue
        said, _, tools = line.partition(": ")
        effect, *words = said.split() or [""]
        common = [word for word in words if word != CONTENT]
        text = CONTENT if CONTENT in words or effect != "read" else None
        for each in tools.split(", ") if effect else ():
            name, _, own = each.strip(")").partition("(")
            sinks = dict.fromkeys([*common, *own.split()])
            yield source, servers, _plain(name), Declared(None, effect, text, tuple(sinks))


def _plain(name: str) -> str:
    """A name as frameworks spell it that take no blanks."""
    return "_".join(_WORD.findall(name[:LONGEST].lower().replace("'", "")))
