"""What stands in the settings of coding agents so that their hooks call Stanchion."""

from __future__ import annotations

import json
import re
import shlex
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct

from stanchion import typed
from stanchion.hosts.coding import AGENTS
from stanchion.hosts.foreign_file import (
    BadSettings as BadSettings,
    TextForm,
    read_foreign,
    write_foreign,
)
from stanchion.hosts.json_text import read_json, rewritten
from stanchion.kernel.regex import regex

PORT: Final = 7523
HOST_TIMEOUT_S: Final = 60
"""How long a host waits for one of our hooks. What answers has an earlier deadline."""
LAST_WORDS_S: Final = 3
"""How long Codex waits where a session ends; it says so each time if more is asked for."""
HEADER: Final = "Stanchion-Hook"
PROTOCOL: Final = "1"
CONFIG: Final = "agents.json"
CLIENT: Final = Path(__file__).with_name("client.py")


class AgentsConfig(Struct, frozen=True):
    """What is set for all coding agents of a user: the port of the daemon on loopback, the policy,
    and the Python that starts it."""

    port: int = PORT
    policy: str = "coding-agent"
    python: str = ""


_CONFIG: Final = typed.reader(AgentsConfig)


def read_config(state: Path) -> AgentsConfig | None:
    """What is set in a state folder; `None` where nothing is. Raises `BadSettings`."""
    try:
        return _CONFIG.decode((state / CONFIG).read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, msgspec.MsgspecError) as error:
        raise BadSettings(
            f"`{state / CONFIG}` cannot be read: {error}: remove it, and install again"
        ) from None


def write_config(state: Path, config: AgentsConfig) -> None:
    """Set it, if it is not so already."""
    state.mkdir(mode=0o700, parents=True, exist_ok=True)
    file, made = read_foreign(state / CONFIG), msgspec.json.encode(config)
    if file.raw != made:
        write_foreign(file, made)


STARTS: Final = frozenset({"begins", "prompt"})
"""What goes by a command, which starts the daemon where none is."""
BLOCKS: Final = frozenset({"prompt", "call", "asks", "result", "failure", "settings"})
"""What the host does not go on with if the hook fails. The rest only tells of something: an agent
that may not stop because a hook failed would work on for ever."""


class HostPlaces(Struct, frozen=True):
    """Where settings are looked for: the project's folder, and what the user's environment says."""

    project: Path
    home: Path
    environ: Mapping[str, str]
    system: str = sys.platform

    def folder_of(self, agent: str) -> Path:
        """The folder of an agent's own settings."""
        named = self.environ.get({"claude": "CLAUDE_CONFIG_DIR", "codex": "CODEX_HOME"}[agent], "")
        return Path(named) if named else self.home / f".{agent}"

    def file(self, written: str) -> Path:
        """A file as a table names it: in the folder that its first word stands for."""
        claude, mac = self.folder_of("claude"), self.system == "darwin"
        folders = {
            "": Path("/"),
            "PROJECT": self.project,
            "CLAUDE": claude,
            "CLAUDE_NOTES": claude if self.environ.get("CLAUDE_CONFIG_DIR") else self.home,
            "CODEX": self.folder_of("codex"),
            "SYSTEM": Path(
                "/Library/Application Support/ClaudeCode" if mac else "/etc/claude-code"
            ),
        }
        folder, _, name = written.partition("/")
        return folders[folder] / name


class SettingsLevel(Struct, frozen=True):
    """A file of settings that a host reads its hooks from, and the one of its MCP servers; `off`
    says who can switch the hooks off."""

    file: str
    off: str
    servers: str = ""
    managed: bool = False

    def path(self, at: HostPlaces) -> Path:
        """The file of its hooks."""
        return at.file(self.file)


ONLY_JSON: Final = "allowManagedHooksOnly"
ONLY_TOML: Final = "allow_managed_hooks_only"
FOLDER: Final = str(CLIENT.parent)

LEVELS: Final[Mapping[str, Mapping[str, SettingsLevel]]] = {
    "claude": {
        "project": SettingsLevel(
            "PROJECT/.claude/settings.json",
            "who works here can switch these hooks off: by `disableAllHooks` in a settings file or "
            "in `--settings`, by `--bare`, by `--setting-sources user`",
            "PROJECT/.mcp.json",
        ),
        "user": SettingsLevel(
            "CLAUDE/settings.json",
            "you, and what runs as you, can switch these hooks off: by `disableAllHooks` in a "
            "settings file or in `--settings`, by `--bare`, by `--setting-sources project`, by "
            "another `CLAUDE_CONFIG_DIR`",
            "CLAUDE_NOTES/.claude.json",
        ),
        "managed": SettingsLevel(
            "SYSTEM/managed-settings.json",
            "only root can switch these hooks off: `disableAllHooks`, `--bare`, `--safe-mode` and "
            "`--setting-sources` do not. Hooks of other settings are no longer called",
            "SYSTEM/managed-mcp.json",
            managed=True,
        ),
    },
    "codex": {
        "project": SettingsLevel(
            "PROJECT/.codex/hooks.json",
            "who works here can switch these hooks off: in `/hooks`, by `[features] hooks = "
            "false`, by no longer trusting this folder",
            "PROJECT/.codex/config.toml",
        ),
        "user": SettingsLevel(
            "CODEX/hooks.json",
            "you, and what runs as you, can switch these hooks off: in `/hooks`, by `[features] "
            "hooks = false`, by another `CODEX_HOME`",
            "CODEX/config.toml",
        ),
        "managed": SettingsLevel(
            "/etc/codex/requirements.toml",
            "only root can switch these hooks off; but Codex runs what it was about to run where a "
            "hook is late. Hooks of other settings are no longer called",
            managed=True,
        ),
    },
}
"""The levels of each host's settings; the first word of a file is a folder of `HostPlaces`."""

_REFUSE: Final = (
    '"$@" || {{ [ $? -eq 2 ] || echo "Stanchion could not judge this, so it is refused: '
    'run \\`stanchion doctor {agent}\\`" >&2; exit 2; }}'
)
"""Whatever becomes of the client, Codex is told to refuse: a status that it does not know would let
the call run."""


class HookCaller(Struct, frozen=True):
    """How hooks reach the daemon: by a command with this Python and the state folder there, and
    those that need not start it by this port, if there is one."""

    python: str
    state: str
    port: int | None = None

    def command(self, agent: str, *options: str) -> str:
        """The command of a hook. No shell stays before it for Claude, which has `onFailure`; for
        Codex one does, and refuses where the client cannot."""
        client = [self.python, "-I", "-S", str(CLIENT), agent, f"state={self.state}", *options]
        if agent == "codex":
            client = ["/bin/sh", "-c", _REFUSE.format(agent=agent), "stanchion", *client]
        return f"exec {shlex.join(client)}"


def hooks_of(agent: str, caller: HookCaller) -> dict[str, Any]:
    """What each event has in the settings of a host."""
    made = {}
    for event, says in AGENTS[agent].says.items():
        hook: dict[str, Any] = {"type": "command", "command": caller.command(agent)}
        if caller.port is not None and agent == "claude" and says not in STARTS:
            url = f"http://127.0.0.1:{caller.port}/{agent}"
            hook = {"type": "http", "url": url, "headers": {HEADER: PROTOCOL}}
        hook["timeout"] = HOST_TIMEOUT_S
        if agent == "codex" and says == "ends":
            deadline = f"deadline={LAST_WORDS_S - 1}"
            hook |= {"command": caller.command(agent, deadline), "timeout": LAST_WORDS_S}
        if agent == "claude" and says in BLOCKS:
            hook["onFailure"] = "block"
        made[event] = {"hooks": [hook]}
    return made


_OURS: Final = regex(
    r"http://127\.0\.0\.1:\d+/(?:claude|codex)|.*\bhosts/coding/client\.py\b.*"
    r"|(?:\S*/)?stanchion hook (?:claude|codex)\b.*",
    re.DOTALL,
)


def is_ours(hook: Any) -> bool:
    """Whether a hook in the settings of a host calls Stanchion."""
    if not isinstance(hook, dict):
        return False
    called = hook.get("url" if hook.get("type") == "http" else "command")
    headers = hook.get("headers", {HEADER: PROTOCOL})
    return isinstance(called, str) and HEADER in headers and _OURS.fullmatch(called) is not None


def with_hooks(data: dict[str, Any], wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Settings in which the events have the hooks that are wanted and no other ones of ours; what
    others have in them stays, at its place. Raises `BadSettings`."""
    data, there = deepcopy(data), data.get("hooks")
    hooks = data.setdefault("hooks", {})
    if not isinstance(hooks, dict):
        raise BadSettings("its `hooks` is not an object: correct that first")
    for event in [*hooks, *[one for one in wanted if one not in hooks]]:
        groups = hooks.get(event, [])
        if isinstance(groups, list) and all(map(_is_group, groups)):
            hooks[event] = _regrouped(groups, [wanted[event]] if event in wanted else [])
            if groups and not hooks[event]:
                del hooks[event]
        elif event in wanted:
            raise BadSettings(f"its hooks of `{event}` are not a list: correct that first")
    if not hooks and there != {}:
        del data["hooks"]
    return data


def _regrouped(groups: list[Any], wanted: list[Any]) -> list[Any]:
    """Groups with ours where the first of ours was, since Codex trusts a hook by its place, or else
    behind all others."""
    made = []
    for group in groups:
        others = [hook for hook in group["hooks"] if not is_ours(hook)]
        if len(others) == len(group["hooks"]):
            made.append(group)
            continue
        made += [*([{**group, "hooks": others}] if others else []), *wanted]
        wanted = []
    return [*made, *wanted]


def _is_group(group: Any) -> bool:
    return isinstance(group, dict) and isinstance(group.get("hooks"), list)


def own_hooks(data: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Our own hooks in settings, by their events."""
    hooks = data.get("hooks", {})
    every = hooks.items() if isinstance(hooks, dict) else ()
    # Codex has other keys beside the events.
    found = {
        event: [hook for group in groups if _is_group(group) for hook in group["hooks"]]
        for event, groups in every
        if isinstance(groups, list)
    }
    ours = {event: [*filter(is_ours, hooks)] for event, hooks in found.items()}
    return {event: hooks for event, hooks in ours.items() if hooks}


def hooks_form(path: Path, hooks: Mapping[str, Any], managed: bool) -> TextForm:
    """These hooks, in settings of the format that a path has."""
    if path.suffix == ".toml":
        return TextForm(
            "hook",
            lambda text: _in_toml(text, hooks),
            lambda text, _: _BLOCK.sub("", text),
            lambda text: own_hooks(_toml(text)),
        )
    return TextForm(
        "hook",
        lambda text: _in_json(text, hooks, managed),
        _out_of_json,
        lambda text: own_hooks(_json(text)),
    )


def _json(text: str) -> dict[str, Any]:
    return read_json(text) if text.strip() else {}


def _in_json(text: str, hooks: Mapping[str, Any], managed: bool) -> str:
    text = text if text.strip() else "{}\n"
    old = read_json(text)
    try:
        json.loads(text)
    except ValueError as error:
        raise BadSettings(
            f"its host skips a file that is not plain JSON, and calls no hooks then: take out "
            f"comments and last commas first: {error}"
        ) from None
    only = {ONLY_JSON: True} if managed else {}
    return rewritten(text, with_hooks({**old, **only}, hooks))


def _out_of_json(text: str, before: str) -> str:
    data, old = with_hooks(read_json(text), {}), _json(before)
    if with_hooks(old, {}) != old:
        # What it was is not known. Managed settings of others go on to need it, if there are any.
        old = data if "hooks" in data else {}
    data.pop(ONLY_JSON, None)
    if ONLY_JSON in old:
        data[ONLY_JSON] = old[ONLY_JSON]
    return rewritten(text, data)


_BEGINS, _ENDS = "# >>> stanchion", "# <<< stanchion"
_BLOCK: Final = regex(rf"^{_BEGINS}\r?\n.*?^{_ENDS}(?:\r?\n|\Z)", re.MULTILINE | re.DOTALL)


def _in_toml(text: str, hooks: Mapping[str, Any]) -> str:
    """Requirements with hooks in blocks that are marked as ours. `features.hooks` is pinned, since
    an option of Codex switches managed hooks off, too."""
    whole, text = text, _BLOCK.sub("", text)
    old = _toml(text)
    end = "\r\n" if "\r\n" in text else "\n"
    pins = {ONLY_TOML: f"{ONLY_TOML} = true", "features": "features.hooks = true"}
    head = [line for name, line in pins.items() if name not in old]
    theirs = old.get("hooks", {})
    tail = ["[hooks]", f"managed_dir = {_quoted(FOLDER)}"]
    tail = tail if isinstance(theirs, dict) and "managed_dir" not in theirs else []
    for event, group in hooks.items():
        tail += [f"[[hooks.{event}]]", f"[[hooks.{event}.hooks]]"]
        tail += [f"{name} = {_quoted(one)}" for name, one in group["hooks"][0].items()]
    blocks = [end.join([_BEGINS, *lines, _ENDS, ""]) for lines in (head, tail) if lines]
    if _BLOCK.findall(whole) == blocks:
        return whole
    gap = "" if text.endswith("\n") or not text else end
    made = "".join([*blocks[:-1], text, gap, blocks[-1]])
    with suppress(BadSettings, AttributeError):
        new = _toml(made)
        if new[ONLY_TOML] is True and new["features"].get("hooks") is True:
            return made
    raise BadSettings(
        f"it says something else of hooks: give it `{ONLY_TOML} = true`, `hooks = true` in "
        f"`[features]`, and `managed_dir` in `[hooks]`"
    )


def _toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadSettings(f"it is not TOML: {error}") from None


def _quoted(value: str | int) -> str:
    return json.dumps(value, ensure_ascii=False)


OTHERS: Final[Mapping[str, Callable[[Any, str], str]]] = {
    "disableAllHooks": lambda value, _: "no hooks are called" if value is True else "",
    "allowManagedHooksOnly": lambda value, level: (
        "only hooks of managed settings are called" if value is True and level != "managed" else ""
    ),
    "allowedHttpHookUrls": lambda value, _: (
        ""
        if isinstance(value, list) and any("127.0.0.1" in str(one) for one in value)
        else "hooks over HTTP are refused: add `http://127.0.0.1:*`, or use `--command-hooks`"
    ),
}
"""Keys of Claude's settings that keep hooks of a level from being called, and how."""


def kept_from(level: str, at: HostPlaces) -> Iterator[str]:
    """What keeps hooks of Claude from being called, in the settings that are there."""
    paths = [one.path(at) for one in LEVELS["claude"].values()]
    for path in (*paths, paths[0].with_name("settings.local.json")):
        try:
            text = read_foreign(path).text
            data = json.loads(text) if text.strip() else {}
        except (OSError, ValueError) as error:
            # What Claude skips says nothing of hooks elsewhere.
            if path == LEVELS["claude"][level].path(at):
                yield f"`{path}` is skipped by Claude, and no hook in it is called: {error}"
            continue
        for key, way in OTHERS.items():
            why = way(data[key], level) if key in data else ""
            if why:
                yield f"`{path}` has `{key}`: {why}"
