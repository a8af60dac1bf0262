"""Configurations of MCP clients, rewritten so that their servers are behind the proxy, and back again."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import pairwise
from pathlib import PurePath
from typing import Any, Final, NamedTuple

from stanchion.kernel.regex import regex

HEADER: Final = "STANCHION_MCP_HEADER_"
"""The variables in which the values of headers are handed over, numbered."""
HTTP: Final = frozenset({"http", "streamable-http", "streamableHttp", "streamable_http"})

# Strings first: what looks like a comment within one is none.
_PARTS: Final = regex(r'"(?:[^"\\]|\\.)*"|//[^\n]*|/\*(?s:.*?)\*/')
_NAME: Final = regex(r"[A-Za-z][A-Za-z0-9-]{0,31}")
_LAST_COMMA: Final = regex(r",(\s*[}\]])")


class NoServers(ValueError):
    """A file is not a configuration of servers."""


class Rewritten(NamedTuple):
    """A configuration: its text, the servers that were changed, and those that were left, each with why. To `strangers`
    among the changed a client brings nothing that says who it is: they may want a login, which cannot pass the proxy.
    """

    text: str
    changed: tuple[str, ...]
    left: dict[str, str]
    strangers: tuple[str, ...] = ()


def wrapped(text: str, command: Sequence[str], options: Sequence[str], only: Sequence[str] = ()) -> Rewritten:
    """A configuration whose servers are started by `command`; raises `NoServers`."""
    data = _read(text)
    changed: list[str] = []
    strangers: list[str] = []
    left: dict[str, str] = {}
    for name, servers in _servers(data):
        entry = servers[name]
        if only and name not in only:
            left[name] = "not asked for"
        elif is_wrapped(entry):
            left[name] = "behind Stanchion already"
        elif (made := _wrapped(entry, command, [*options, "--name", _plain(name)])) is None:
            left[name] = "neither a command nor an address of streamable HTTP"
        else:
            servers[name] = made
            changed.append(name)
            if "url" in entry and not entry.get("headers"):
                strangers.append(name)
    missing = [name for name in only if name not in {name for name, _ in _servers(data)}]
    if missing:
        raise NoServers(f"there is no server `{missing[0]}`")
    return Rewritten(_written(data, text), tuple(changed), left, tuple(strangers))


def unwrapped(text: str) -> Rewritten:
    """The same configuration without the proxy; raises `NoServers`."""
    data = _read(text)
    changed: list[str] = []
    left: dict[str, str] = {}
    for name, servers in _servers(data):
        if is_wrapped(servers[name]):
            servers[name] = _unwrapped(servers[name])
            changed.append(name)
        else:
            left[name] = "not behind Stanchion"
    return Rewritten(_written(data, text), tuple(changed), left)


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
    return 1 if args[:1] == ["mcp"] and PurePath(command).name in ("stanchion", "stanchion.exe") else None


def _wrapped(entry: Any, command: Sequence[str], options: Sequence[str]) -> dict[str, Any] | None:
    if not isinstance(entry, dict):
        return None
    first, *rest = command
    if isinstance(entry.get("command"), str):
        args = entry.get("args", [])
        return {**entry, "command": first, "args": [*rest, "mcp", *options, "--", entry["command"], *args]}
    if not isinstance(entry.get("url"), str) or entry.get("type", "http") not in HTTP:
        return None
    given = dict(entry.get("headers") or {})
    variables = {f"{HEADER}{number}": value for number, value in enumerate(given.values(), 1)}
    headers = [
        word for name, variable in zip(given, variables, strict=True) for word in ("--header", f"{name}={variable}")
    ]
    kept = {key: value for key, value in entry.items() if key not in ("url", "headers", "type", "env")}
    kind = {"type": "stdio"} if "type" in entry else {}
    args = [*rest, "mcp", *options, *headers, "--url", entry["url"]]
    env = {**dict(entry.get("env") or {}), **variables}
    return {**kind, "command": first, "args": args, **({"env": env} if env else {}), **kept}


def _plain(name: str) -> str:
    """The name of a server in a configuration, as the proxy takes one; two that differ stay different."""
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
    kept = {key: value for key, value in entry.items() if key not in ("command", "args", "env", "type")}
    address = args[args.index("--url") + 1]
    return {
        **({"type": "http"} if "type" in entry else {}),
        "url": address,
        **({"headers": headers} if headers else {}),
        **({"env": env} if env else {}),
        **kept,
    }


def _servers(data: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each server's name, with the mapping that it is in, in the shapes of Claude, Cursor and VS Code."""
    places = [data.get("mcpServers"), data.get("servers")]
    for outer in ("mcp", "projects"):
        within = data.get(outer)
        if isinstance(within, dict):
            places += [within.get("servers"), *[_of(project) for project in within.values()]]
    found = [place for place in places if isinstance(place, dict)]
    if not found:
        raise NoServers("there are no servers in it: it has neither `mcpServers` nor `servers`")
    for place in found:
        for name in list(place):
            yield name, place


def _of(project: Any) -> Any:
    return project.get("mcpServers") if isinstance(project, dict) else None


def _read(text: str) -> dict[str, Any]:
    """The data of a file, which may have comments and last commas."""
    bare = _PARTS.sub(lambda found: found[0] if found[0].startswith('"') else " ", text)
    try:
        data = json.loads(text)
    except ValueError:
        try:
            data = json.loads(_without_last_commas(bare))
        except ValueError as error:
            raise NoServers(f"it is not JSON: {error}".rstrip(".")) from None
    if not isinstance(data, dict):
        raise NoServers("it is not a JSON object")
    return data


def _without_last_commas(text: str) -> str:
    strings: list[str] = []

    def kept(found: Any) -> str:
        strings.append(found[0])
        return f'"{len(strings) - 1}"'

    bare = _LAST_COMMA.sub(r"\1", _PARTS.sub(kept, text))
    return re.sub(r'"(\d+)"', lambda found: strings[int(found[1])], bare)


def _written(data: Any, like: str) -> str:
    """The data as text, indented as the file was."""
    indent = re.search(r"^([ \t]+)\"", like, re.MULTILINE)
    return json.dumps(data, indent=indent[1] if indent is not None else 2, ensure_ascii=False) + "\n"
