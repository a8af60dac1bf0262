"""Configurations of MCP clients, rewritten so that their servers are behind the proxy, and back
again."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from itertools import pairwise
from pathlib import PurePath
from typing import Any, Final, NamedTuple

from stanchion.hosts.json_text import JsonSpan, NotJson, places, read_json
from stanchion.kernel.regex import regex

HEADER: Final = "STANCHION_MCP_HEADER_"
"""The variables in which the values of headers are handed over, numbered."""
HTTP: Final = frozenset({"http", "streamable-http", "streamableHttp", "streamable_http"})

_NAME: Final = regex(r"[A-Za-z][A-Za-z0-9-]{0,31}")


class NoServers(NotJson):
    """A file is not a configuration of servers."""


Path = tuple[str, ...]
"""The names that lead to a server."""
DEEPEST: Final = 4
"""How many names lead to a server at most."""


class Rewritten(NamedTuple):
    """A configuration: its text, the servers that were changed, and those that were left, each with
    why. To `strangers` among the changed a client brings nothing that says who it is: they may want
    a login, which cannot pass the proxy. `anew` are those of the changed that could not be put back
    to the letter.
    """

    text: str
    changed: tuple[str, ...]
    left: dict[str, str]
    strangers: tuple[str, ...] = ()
    anew: tuple[str, ...] = ()


def wrapped(
    text: str, command: Sequence[str], options: Sequence[str], only: Sequence[str] = ()
) -> Rewritten:
    """A configuration whose servers are started by `command`; nothing else in it changes. Raises
    `NoServers`."""
    entries, at = _servers(read_json(text)), places(text, DEEPEST)
    missing = [name for name in only if name not in {path[-1] for path in entries}]
    if missing:
        raise NoServers(f"there is no server `{missing[0]}`")
    new: dict[Path, str] = {}
    strangers: list[str] = []
    left: dict[str, str] = {}
    for path, entry in entries.items():
        name = path[-1]
        if only and name not in only:
            left[name] = "not asked for"
        elif is_wrapped(entry):
            left[name] = "behind Stanchion already"
        elif (made := _wrapped(entry, command, [*options, "--name", _plain(name)])) is None:
            left[name] = _why_not(entry)
        else:
            new[path] = _written(made, text, at[path])
            if "url" in entry and not entry.get("headers"):
                strangers.append(name)
    return Rewritten(
        _replaced(text, new, at), tuple([path[-1] for path in new]), left, tuple(strangers)
    )


def unwrapped(text: str, before: str = "") -> Rewritten:
    """The same configuration without the proxy, each server written as it was `before`; raises
    `NoServers`."""
    old, old_places = (_servers(read_json(before)), places(before, DEEPEST)) if before else ({}, {})
    entries, at = _servers(read_json(text)), places(text, DEEPEST)
    new: dict[Path, str] = {}
    anew: list[str] = []
    left: dict[str, str] = {}
    for path, entry in entries.items():
        if not is_wrapped(entry):
            left[path[-1]] = "not behind Stanchion"
            continue
        made = _unwrapped(entry)
        if path in old and _wrapped_alike(old[path], made):
            new[path] = before[old_places[path].begins : old_places[path].ends]
        else:
            new[path] = _written(made, text, at[path])
            anew.append(path[-1])
    return Rewritten(
        _replaced(text, new, at), tuple([path[-1] for path in new]), left, anew=tuple(anew)
    )


def has_wrapped(text: str) -> bool:
    """Whether a server of a configuration is behind the proxy; raises `NoServers`."""
    return any(is_wrapped(entry) for entry in _servers(read_json(text)).values())


def _wrapped_alike(one: Any, other: Any) -> bool:
    """Whether two entries are the same to a client: behind the proxy they would be."""
    return not is_wrapped(one) and _wrapped(one, ["x"], []) == _wrapped(other, ["x"], [])


def is_wrapped(entry: Any) -> bool:
    """Whether a server is behind the proxy."""
    return isinstance(entry, dict) and _begins(entry) is not None


def _begins(entry: Mapping[str, Any]) -> int | None:
    """Where among the arguments those for the proxy begin."""
    args, command = entry.get("args"), entry.get("command")
    if not isinstance(args, list) or not isinstance(command, str):
        return None
    if args[:3] == ["-m", "stanchion", "mcp"]:
        return 3
    return (
        1
        if args[:1] == ["mcp"] and PurePath(command).name in ("stanchion", "stanchion.exe")
        else None
    )


def _wrapped(entry: Any, command: Sequence[str], options: Sequence[str]) -> dict[str, Any] | None:
    if not isinstance(entry, dict):
        return None
    first, *rest = command
    if isinstance(entry.get("command"), str):
        args = entry.get("args", [])
        return {
            **entry,
            "command": first,
            "args": [*rest, "mcp", *options, "--", entry["command"], *args],
        }
    if not isinstance(entry.get("url"), str) or _kind(entry) not in HTTP:
        return None
    given = dict(entry.get("headers") or {})
    variables = {f"{HEADER}{number}": value for number, value in enumerate(given.values(), 1)}
    headers = [
        word
        for name, variable in zip(given, variables, strict=True)
        for word in ("--header", f"{name}={variable}")
    ]
    kept = {
        key: value for key, value in entry.items() if key not in ("url", "headers", "type", "env")
    }
    kind = {"type": "stdio"} if "type" in entry else {}
    args = [*rest, "mcp", *options, *headers, "--url", entry["url"]]
    env = {**dict(entry.get("env") or {}), **variables}
    return {**kind, "command": first, "args": args, **({"env": env} if env else {}), **kept}


def _kind(entry: Mapping[str, Any]) -> Any:
    """How a server at an address is spoken to, by what its entry or else its address says."""
    by_address = "sse" if entry["url"].partition("?")[0].rstrip("/").endswith("/sse") else "http"
    return entry.get("type", entry.get("transport", by_address))


def _why_not(entry: Any) -> str:
    if isinstance(entry, dict) and isinstance(entry.get("url"), str) and _kind(entry) == "sse":
        return (
            "and nothing guards it: it speaks SSE, which the proxy does not know; "
            'if it has an address of streamable HTTP, give that with `"type": "http"`'
        )
    return "and nothing guards it: it has neither a command nor an address of streamable HTTP"


def _plain(name: str) -> str:
    """The name of a server in a configuration, as the proxy takes one; two that differ stay
    different."""
    if _NAME.fullmatch(name) is not None:
        return name
    letters = re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-")
    mark = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=3).hexdigest()
    return f"{letters if letters[:1].isalpha() else f's{letters}'}"[:25] + f"-{mark}"


def _unwrapped(entry: dict[str, Any]) -> dict[str, Any]:
    args = entry["args"][_begins(entry) :]
    if "--" in args:
        command, *rest = args[args.index("--") + 1 :]
        return {**entry, "command": command, "args": rest}
    env = dict(entry.get("env") or {})
    pairs = [word.partition("=") for before, word in pairwise(args) if before == "--header"]
    headers = {name: env.pop(variable, "") for name, _, variable in pairs}
    kept = {
        key: value for key, value in entry.items() if key not in ("command", "args", "env", "type")
    }
    address = args[args.index("--url") + 1]
    return {
        **({"type": "http"} if "type" in entry else {}),
        "url": address,
        **({"headers": headers} if headers else {}),
        **({"env": env} if env else {}),
        **kept,
    }


def _servers(data: dict[str, Any]) -> dict[Path, Any]:
    """Each server by the names that lead to it, in the shapes of Claude, Cursor and VS Code."""
    ways: list[Path] = [("mcpServers",), ("servers",)]
    for outer in ("mcp", "projects"):
        within = data.get(outer)
        if isinstance(within, dict):
            ways += [(outer, "servers"), *[(outer, project, "mcpServers") for project in within]]
    found = [(way, place) for way in ways if isinstance(place := _at(data, way), dict)]
    if not found:
        raise NoServers("there are no servers in it: it has neither `mcpServers` nor `servers`")
    return {(*way, name): entry for way, place in found for name, entry in place.items()}


def _at(data: Any, way: Path) -> Any:
    for name in way:
        data = data.get(name) if isinstance(data, dict) else None
    return data


def _written(entry: Any, text: str, place: JsonSpan) -> str:
    """An entry as text, as the file is indented at its place."""
    indent = re.search(r"^([ \t]+)\"", text, re.MULTILINE)
    made = json.dumps(entry, indent=None if indent is None else indent[1], ensure_ascii=False)
    end = "\r\n" if "\r\n" in text else "\n"
    return made.replace("\n", end + place.margin)


def _replaced(text: str, new: Mapping[Path, str], at: Mapping[Path, JsonSpan]) -> str:
    """A text with other values at their places, the last one first."""
    for path in sorted(new, key=lambda path: -at[path].begins):
        text = text[: at[path].begins] + new[path] + text[at[path].ends :]
    return text
