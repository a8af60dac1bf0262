"""Configurations of MCP clients, rewritten so that their servers are behind the proxy, and back
again."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import pairwise
from pathlib import PurePath
from typing import Any, Final, NamedTuple

from stanchion.hosts.foreign_file import TextForm
from stanchion.hosts.json_text import NotJson, places, read_json, rewritten
from stanchion.hosts.mcp.names import ALONE

HEADER: Final = "STANCHION_MCP_HEADER_"
"""The variables in which the values of headers are handed over, numbered."""
ADDRESS: Final = "STANCHION_MCP_ADDRESS"
"""The variable that has the key in which a client has an address, where that is not `url`."""
ADDRESSES: Final = ("httpUrl", "url", "serverUrl")
HTTP: Final = frozenset({"http", "streamable-http", "streamableHttp", "streamable_http"})
BEARER: Final = "bearer_token_env_var"
FROM_ENV: Final = "env_http_headers"
"""Keys of Codex for headers whose values are in the environment."""
LOGINS: Final = frozenset({"auth", "oauth", "oauth_resource"})
"""Keys of Codex by which a server is logged in to; it takes them beside an address alone."""
MOVED: Final = frozenset(
    {*ADDRESSES, "command", "args", "env", "type", "headers", "http_headers", FROM_ENV, BEARER}
    | {"env_vars"}
)
"""Keys that are others where the server is behind the proxy."""


class NoServers(NotJson):
    """A file is not a configuration of servers."""


Path = tuple[str, ...]
"""The names that lead to a server."""
DEEPEST: Final = 4
"""How many names lead to a server at most."""


class Rewritten(NamedTuple):
    """A configuration: its text, the servers that were changed, and those that were left, each with
    why. To `strangers` among the changed a client brings nothing that says who it is: they may want
    a login, which cannot pass the proxy."""

    text: str
    changed: tuple[str, ...]
    left: dict[str, str]
    strangers: tuple[str, ...] = ()


class ConfigFormat(NamedTuple):
    """A format of configurations: how one is read, how an entry is put into it, where entries stand
    in it, and the key of headers."""

    read: Callable[[str], dict[str, Any]]
    put: Callable[[str, Path, dict[str, Any]], str]
    spans: Callable[[str], Mapping[Path, tuple[int, int]]]
    headers: str


def _at(data: Any, way: Path) -> Any:
    for name in way:
        data = data.get(name) if isinstance(data, dict) else None
    return data


def _with_entry(data: dict[str, Any], path: Path, entry: dict[str, Any]) -> dict[str, Any]:
    _at(data, path[:-1])[path[-1]] = entry
    return data


def _put_json(text: str, path: Path, entry: dict[str, Any]) -> str:
    return rewritten(text, _with_entry(read_json(text), path, entry))


def _json_spans(text: str) -> dict[Path, tuple[int, int]]:
    return {path: (span.value, span.ends) for path, span in places(text, DEEPEST).items()}


def _read_toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise NotJson(f"it is not TOML: {error}") from None


def _statements(text: str) -> Iterator[tuple[Path, str]]:
    """The statements of a TOML text: the lines of each, and the names that lead to what it sets;
    none for a comment."""
    table: Path = ()
    lines = ""
    for line in text.splitlines(keepends=True):
        lines += line
        try:
            data: Any = tomllib.loads(lines)
        except tomllib.TOMLDecodeError:
            continue  # it goes on in the next line
        way: Path = ()
        while isinstance(data, dict) and len(data) == 1:
            ((name, data),) = data.items()
            way = (*way, name)
        if lines.lstrip().startswith("["):
            table = way
            yield way, lines
        else:
            yield (*table, *way) if way else (), lines
        lines = ""


def _put_toml(text: str, path: Path, entry: dict[str, Any]) -> str:
    """A text in which a table has other keys: what changes stands behind its header, everything
    else at its place."""
    old = _at(tomllib.loads(text), path)
    new = {name: one for name, one in entry.items() if name not in old or old[name] != one}
    end, made = "\r\n" if "\r\n" in text else "\n", ""
    for way, lines in _statements(text):
        if way == path:
            made += lines + "".join(f"{name} = {_toml(one)}{end}" for name, one in new.items())
        elif way[: len(path)] != path or way[len(path)] not in {*new, *(old.keys() - entry.keys())}:
            made += lines
    try:
        if tomllib.loads(made) == _with_entry(tomllib.loads(text), path, entry):
            return made
    except tomllib.TOMLDecodeError:
        pass
    raise NotJson(f"write it as a table of its own, `[{'.'.join(path)}]`")


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{json.dumps(one)} = {_toml(value[one])}' for one in value)} }}"
    return json.dumps(value, ensure_ascii=False)


def _toml_spans(text: str) -> dict[Path, tuple[int, int]]:
    spans: dict[Path, tuple[int, int]] = {}
    at = 0
    for way, lines in _statements(text):
        begins, at = at, at + len(lines)
        if len(way) > 1:
            spans[way[:2]] = spans.get(way[:2], (begins, at))[0], at
    return spans


JSON: Final = ConfigFormat(read_json, _put_json, _json_spans, "headers")
TOML: Final = ConfigFormat(_read_toml, _put_toml, _toml_spans, "http_headers")


def format_of(path: PurePath) -> ConfigFormat:
    """The format of a configuration, by its name."""
    return TOML if path.suffix == ".toml" else JSON


def servers_form(
    path: PurePath, command: Sequence[str], policy: str, only: Sequence[str] = ()
) -> TextForm:
    """Servers that are behind the proxy, in a configuration of this name."""
    form = format_of(path)
    return TextForm(
        "guarded server",
        lambda text: wrapped(text, command, ["--policy", policy], only, form).text,
        lambda text, before: unwrapped(text, before, form).text,
        lambda text: servers_behind(text, form),
        lambda text: [
            f"{path[-1]}: left as it is, {_why_not(entry)}"
            for path, entry in _servers(form.read(text)).items()
            if not is_wrapped(entry)
        ],
    )


def wrapped(
    text: str,
    command: Sequence[str],
    options: Sequence[str],
    only: Sequence[str] = (),
    form: ConfigFormat = JSON,
) -> Rewritten:
    """A configuration whose servers are started by `command`; nothing else in it changes. Raises
    `NoServers`."""
    entries = _servers(form.read(text))
    if not entries:
        raise NoServers("there are none in its `mcpServers`, `servers` or `mcp_servers`")
    missing = [name for name in only if name not in {path[-1] for path in entries}]
    if missing:
        raise NoServers(f"there is no server `{missing[0]}`")
    changed: list[str] = []
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
            try:
                text = form.put(text, path, made)
            except NotJson as error:
                left[name] = f"and nothing guards it: {error}"
                continue
            changed.append(name)
            if "command" not in entry and "--header" not in made["args"]:
                strangers.append(name)
    return Rewritten(text, tuple(changed), left, tuple(strangers))


def unwrapped(text: str, before: str = "", form: ConfigFormat = JSON) -> Rewritten:
    """The same configuration without the proxy, each server written as it was `before`; raises
    `NotJson`."""
    old = _servers(form.read(before)) if before else {}
    changed: list[str] = []
    left: dict[str, str] = {}
    for path, entry in _servers(form.read(text)).items():
        if not is_wrapped(entry):
            left[path[-1]] = "not behind Stanchion"
            continue
        made = _unwrapped(entry, form.headers)
        text = form.put(text, path, made)
        if path in old and _alike(old[path], made):
            text = _as_before(text, before, path, form)
        changed.append(path[-1])
    return Rewritten(text, tuple(changed), left)


def _as_before(text: str, before: str, path: Path, form: ConfigFormat) -> str:
    """A text whose entry is written as it was, if that says the same."""
    (begins, ends), (first, last) = form.spans(text)[path], form.spans(before)[path]
    made = text[:begins] + before[first:last] + text[ends:]
    try:
        new, old = form.read(made), form.read(text)
    except NotJson:
        return text
    same = _alike(_at(new, path), _at(old, path))
    return made if same and _with_entry(new, path, {}) == _with_entry(old, path, {}) else text


def _alike(one: Any, other: Any) -> bool:
    """Whether two entries are the same to a client: behind the proxy they would be."""
    return not is_wrapped(one) and _wrapped(one, ["x"], []) == _wrapped(other, ["x"], [])


def servers_behind(text: str, form: ConfigFormat) -> dict[str, Any]:
    """The servers of a configuration that are behind the proxy; raises `NotJson`."""
    every = _servers(form.read(text)) if text.strip() else {}
    return {path[-1]: entry for path, entry in every.items() if is_wrapped(entry)}


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
    ours = args[:1] == ["mcp"] and PurePath(command).name in ("stanchion", "stanchion.exe")
    return 1 if ours else None


def _wrapped(entry: Any, command: Sequence[str], options: Sequence[str]) -> dict[str, Any] | None:
    if not isinstance(entry, dict):
        return None
    first, *rest = command
    if isinstance(entry.get("command"), str):
        args = [*rest, "mcp", *options, "--", entry["command"], *entry.get("args", [])]
        return {**entry, "command": first, "args": args}
    key = _key(entry)
    if key is None or _kind(entry, key) not in HTTP or entry.keys() & LOGINS:
        return None
    env, named = _headers(entry)
    env |= {} if key == "url" else {ADDRESS: key}
    headers = [word for name, value in named.items() for word in ("--header", f"{name}={value}")]
    return {
        **({"type": "stdio"} if "type" in entry else {}),
        "command": first,
        "args": [*rest, "mcp", *options, *headers, "--url", entry[key]],
        **_said(
            env={**dict(entry.get("env") or {}), **env},
            # Codex gives a program only the variables that are named.
            env_vars=[
                *dict(entry.get(FROM_ENV) or {}).values(),
                *_said(one=entry.get(BEARER)).values(),
            ],
        ),
        **{name: value for name, value in entry.items() if name not in MOVED},
    }


def _headers(entry: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, str]]:
    """Variables with the headers that an entry says, and what every header is made of."""
    given = dict(entry.get("headers") or entry.get("http_headers") or {})
    env = {f"{HEADER}{number}": value for number, value in enumerate(given.values(), 1)}
    named = {**dict(zip(given, env, strict=True)), **dict(entry.get(FROM_ENV) or {})}
    bearer = {"Authorization": f"Bearer {entry[BEARER]}"} if BEARER in entry else {}
    return env, {**named, **bearer}


def _unwrapped(entry: dict[str, Any], key_of_headers: str) -> dict[str, Any]:
    args = entry["args"][_begins(entry) :]
    if "--" in args:
        command, *rest = args[args.index("--") + 1 :]
        return {**entry, "command": command, "args": rest}
    env = dict(entry.get("env") or {})
    words = [word for before, word in pairwise(args) if before == "--header"]
    named = {name: value for name, _, value in [word.partition("=") for word in words]}
    headers = {name: env.pop(value) for name, value in named.items() if value in env}
    others = {name: value for name, value in named.items() if name not in headers}
    bearer = [others.pop(name) for name in [*others] if others[name].startswith("Bearer ")]
    return {
        **({"type": "http"} if "type" in entry else {}),
        env.pop(ADDRESS, "url"): args[args.index("--url") + 1],
        **_said(**{key_of_headers: headers, FROM_ENV: others, "env": env}),
        **({BEARER: bearer[0].removeprefix("Bearer ")} if bearer else {}),
        **{name: value for name, value in entry.items() if name not in MOVED},
    }


def _said(**values: Any) -> dict[str, Any]:
    """What there is something in."""
    return {name: value for name, value in values.items() if value}


def _key(entry: Mapping[str, Any]) -> str | None:
    """The key in which a server's address is."""
    return next((one for one in ADDRESSES if isinstance(entry.get(one), str)), None)


def _kind(entry: Mapping[str, Any], key: str) -> Any:
    """How a server at an address is spoken to, by what its entry or else its address says."""
    sse = key != "httpUrl" and entry[key].partition("?")[0].rstrip("/").endswith("/sse")
    return entry.get("type", entry.get("transport", "sse" if sse else "http"))


def _why_not(entry: Any) -> str:
    key = _key(entry) if isinstance(entry, dict) else None
    if key is not None and _kind(entry, key) == "sse":
        return (
            "and nothing guards it: it speaks SSE, which the proxy does not know; "
            'if it has an address of streamable HTTP, give that with `"type": "http"`'
        )
    if key is not None and entry.keys() & LOGINS:
        return f"and nothing guards it: it wants a login; give it a token by `{BEARER}` instead"
    return "and nothing guards it: it has neither a command nor an address of streamable HTTP"


def _plain(name: str) -> str:
    """The name of a server in a configuration, as the proxy takes one; two that differ stay
    different."""
    if ALONE.fullmatch(name) is not None:
        return name
    mark = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=3).hexdigest()
    return f"{re.sub(r'[^A-Za-z0-9]+', '-', f's{name}')[:25]}-{mark}"


def _servers(data: dict[str, Any]) -> dict[Path, Any]:
    """Each server by the names that lead to it, in the shapes of Claude, Cursor, Gemini, VS Code
    and Codex."""
    ways: list[Path] = [("mcpServers",), ("servers",), ("mcp_servers",)]
    for outer in ("mcp", "projects"):
        within = data.get(outer)
        if isinstance(within, dict):
            ways += [(outer, "servers"), *[(outer, project, "mcpServers") for project in within]]
    found = [(way, place) for way in ways if isinstance(place := _at(data, way), dict)]
    return {(*way, name): entry for way, place in found for name, entry in place.items()}
