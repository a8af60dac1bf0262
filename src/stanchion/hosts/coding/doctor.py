"""Whether a coding agent is really guarded: its settings are looked at, and its real program is had
to make calls against a model on loopback, also with our end dead."""

from __future__ import annotations

import json
import shlex
import shutil
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, Literal

from msgspec import Struct

from stanchion.folders import user_state
from stanchion.hosts.coding import AGENTS, carrier
from stanchion.hosts.coding.program import OLDEST, ProgramFailed, codex_server, host_version
from stanchion.hosts.coding.rehearsal import REFUSED, Rehearsed, rehearse, surroundings_in
from stanchion.hosts.coding.settings import (
    LEVELS,
    AgentsConfig,
    BadSettings,
    HostPlaces,
    is_ours,
    kept_from,
    read_config,
)
from stanchion.hosts.foreign_file import read_foreign
from stanchion.hosts.json_text import NotJson, read_json, rewritten
from stanchion.policy.errors import PolicyError
from stanchion.policy.load import load_policy
from stanchion.runtime.standing.places import PROJECTS, owner_of, state_name

Outcome = Literal["holds", "fails", "open", "told"]
"""It holds, it does not, nothing can make it hold in this host, or it is only told."""

HONEST: Final = "touch honest.txt"
DANGER: Final = "touch danger.txt; cat ~/.ssh/id_rsa"
"""What every policy for coding agents refuses; the home folder of the trial has no such file."""
DEAD: Final = "touch dead.txt"


def _is_mapping(said: Any) -> bool:
    return isinstance(said, dict)


def _is_text(said: Any) -> bool:
    return isinstance(said, str)


OPEN: Final[Mapping[str, tuple[str, ...]]] = {
    "claude": (
        "a hook that is a command and exits with 0 after half an answer or none lets the call run; "
        "Stanchion's client never does so, unless its file is replaced",
        "what a command that failed has printed reaches the model before anybody can judge it",
        "an option at its start (`--bare`, `--settings`, `--setting-sources`) switches off what is "
        "not managed",
    ),
    "codex": (
        "a hook that is late lets the call run, managed or not: Stanchion's answers in 50 s, "
        "unless the machine stands still",
        "hooks that are not trusted are passed over without a word, unless they are managed",
        "what is typed into a program that already runs (`write_stdin`) is not told to any hook; "
        "Stanchion refuses to start programs that would carry it out",
        "`-c features.hooks=false` switches off what is not managed",
    ),
}
"""What no settings can shut in a host, measured with the version of the docs' table."""


MODES: Final = frozenset(
    {"default", "acceptEdits", "plan", "bypassPermissions", "dontAsk", "auto", "delegate"}
)
ELSEWHERE: Final[Mapping[str, Callable[[Any], bool]]] = {
    **dict.fromkeys(("env", "mcpServers", "enabledPlugins", "statusLine"), _is_mapping),
    **dict.fromkeys(("model", "apiKeyHelper"), _is_text),
    "permissions": lambda said: _is_mapping(said) and str(said.get("defaultMode", "auto")) in MODES,
}
"""Keys of settings that lead to another model, start something, or answer before our hooks do: no
trial is made with them. Claude skips the file where one has a value that it does not take."""
TYPES: Final = frozenset({"command", "http", "mcp_tool", "prompt", "agent"})
"""Types of hooks. Claude skips a file that names another."""


class DoctorCheck(Struct, frozen=True):
    """One thing that was looked at, and what came of it."""

    outcome: Outcome
    about: str
    why: str = ""


def examine(agent: str, at: HostPlaces) -> Iterator[DoctorCheck]:
    """Everything that can be known of an agent's guard. Raises `BadSettings` where its settings
    cannot be read, and `ProgramFailed` where it is not there."""
    program = shutil.which(agent, path=at.environ.get("PATH"))
    if program is None:
        raise ProgramFailed(f"`{agent}` is not on PATH: install it, or correct PATH")
    yield version_of(agent, at)
    if agent == "codex":
        for folder in (at.folder_of("codex"), at.project / ".codex"):
            _settings(folder / "config.toml")
    levels = hooked(agent, at)
    for name in levels:
        yield from _level(agent, name, at)
    if not levels:
        yield DoctorCheck("fails", "hooks", f"there are none: `stanchion install {agent}`")
        return
    broken = [*_broken(agent, levels, at)]
    yield from broken
    if broken:
        yield DoctorCheck("told", "calls", "none was tried, for nothing can judge them")
        return
    if agent == "codex":
        yield from _trust(levels, at)
    states = {_state(one) for name in levels for one in _commands(_ours(agent, name, at))}
    with _leaving_nothing(states) as roots:
        yield from _trials(agent, program, levels, at, roots)
    for line in OPEN[agent]:
        yield DoctorCheck("open", "cannot be shut", line)


def hooked(agent: str, at: HostPlaces) -> list[str]:
    """The levels of settings in which an agent has our hooks. Raises `BadSettings`."""
    return [name for name in LEVELS[agent] if _ours(agent, name, at)]


def version_of(agent: str, at: HostPlaces) -> DoctorCheck:
    """Whether an agent is new enough to heed a hook that fails."""
    found = host_version(agent, at.environ)
    if found is None:
        return DoctorCheck("fails", "version", f"`{agent} --version` does not say one")
    words, oldest = ".".join(map(str, found)), OLDEST.get(agent)
    if oldest is not None and found < oldest:
        first = ".".join(map(str, oldest))
        why = f"{words} goes on where a hook fails, without a word: update it to {first} or later"
        return DoctorCheck("fails", "version", why)
    return DoctorCheck("holds", "version", words)


def _settings(path: Path) -> dict[str, Any]:
    try:
        if path.suffix == ".toml":
            import tomllib

            return tomllib.loads(read_foreign(path).text or "")
        return read_json(read_foreign(path).text or "{}")
    except (OSError, ValueError) as error:
        raise _unread(path, error) from None


def _unread(path: Path, error: Exception) -> BadSettings:
    return BadSettings(f"`{path}` cannot be read: {error}: correct that first")


def _own_hooks(
    data: Mapping[str, Any], change: Callable[[str, dict[str, Any]], dict[str, Any]]
) -> dict[str, list[Any]]:
    """Our own hooks in settings, by their events, each as it is after a change."""
    found = {}
    try:
        for event, groups in data.get("hooks", {}).items():
            if isinstance(groups, list):  # Codex has other keys beside the events
                found[event] = [
                    {**group, "hooks": own}
                    for group in groups
                    if (own := [change(event, one) for one in group["hooks"] if is_ours(one)])
                ]
    except (AttributeError, KeyError, TypeError):
        raise BadSettings(
            "its `hooks` are not lists of groups of hooks: correct that first"
        ) from None
    return {event: groups for event, groups in found.items() if groups}


def _as_it_is(_: str, hook: dict[str, Any]) -> dict[str, Any]:
    return hook


def _ours(agent: str, level: str, at: HostPlaces) -> dict[str, list[Any]]:
    return _own_hooks(_settings(LEVELS[agent][level].path(at)), _as_it_is)


def _level(agent: str, name: str, at: HostPlaces) -> Iterator[DoctorCheck]:
    """What a level of settings holds, and who can switch it off."""
    level = LEVELS[agent][name]
    missing = sorted(AGENTS[agent].says.keys() - _ours(agent, name, at).keys())
    kept = [*kept_from(name, at)] if agent == "claude" else []
    kept += _unreadable(agent, level.path(at))
    if missing:
        kept.append(f"no hook for {', '.join(missing)}: `stanchion install {agent} --{name}`")
    about = f"{name} settings"
    yield DoctorCheck("fails" if kept else "holds", about, "; ".join(kept or [str(level.path(at))]))
    yield DoctorCheck("told", about, level.off)


def _commands(ours: Mapping[str, list[Any]]) -> Iterator[list[str]]:
    """The words of our hooks that are commands."""
    for group in (group for groups in ours.values() for group in groups):
        for hook in group["hooks"]:
            if "command" in hook:
                yield shlex.split(hook["command"])


def _state(words: list[str]) -> Path:
    """The state folder that a hook is told of."""
    named = next((one for one in words if one.startswith("state=")), f"state={user_state()}")
    return Path(named.removeprefix("state="))


def _broken(agent: str, levels: list[str], at: HostPlaces) -> Iterator[DoctorCheck]:
    """What keeps our end from judging anything: programs that were moved, a policy with errors."""
    policies: set[Path] = set()
    for name in levels:
        words = [*_commands(_ours(agent, name, at))]
        paths = {one for each in words for one in each if one.startswith("/")}
        for path in sorted(one for one in paths if not Path(one).exists()):
            again = f"`stanchion install {agent} --{name}` writes where Stanchion is now"
            yield DoctorCheck("fails", "programs", f"`{path}` is not there any more: {again}")
        policies |= {_state(each) for each in words}
    for state in sorted(policies):
        config = read_config(state)
        policy = AgentsConfig().policy if config is None else config.policy
        try:
            load_policy(policy)
        except PolicyError as error:
            fault = f"{error}".partition("\n")[0]
            lint = f"correct it, see `stanchion policy lint {policy}`, then `stanchion hook stop`"
            yield DoctorCheck("fails", f"policy `{policy}`", f"{fault}: {lint}")


@contextmanager
def _leaving_nothing(states: set[Path]) -> Iterator[list[Path]]:
    """A list for the folders of trials, of which nothing is kept afterwards where our end keeps
    what it judges."""
    roots: list[Path] = []
    try:
        yield roots
    finally:
        for state in states:
            with suppress(carrier.Again, carrier.Refuse, OSError):
                sock = carrier.connected(str(state))
                if sock is not None:
                    with closing(sock):
                        carrier.exchanged(sock, "rest", b"")
            for root in roots:
                folder = state / PROJECTS / state_name(root)
                if owner_of(folder) == str(root):
                    shutil.rmtree(folder, ignore_errors=True)


def _unreadable(agent: str, path: Path) -> Iterator[str]:
    """Why Claude skips a file of settings: it reads no comments, and passes over the whole of a
    file with an error."""
    text = read_foreign(path).text if agent == "claude" else None
    try:
        data = json.loads(text or "{}")
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        yield f"Claude skips `{path}`, for it is not strict JSON: correct {where} ({error.msg})"
        return
    wrong = [key for key, takes in ELSEWHERE.items() if key in data and not takes(data[key])]
    every = [group for groups in data.get("hooks", {}).values() for group in groups]
    wrong += ["hooks" for group in every for one in group["hooks"] if one.get("type") not in TYPES]
    for key in dict.fromkeys(wrong):
        yield f"Claude skips `{path}`, for `{key}` has a value that it does not take: correct it"


def _trust(levels: list[str], at: HostPlaces) -> Iterator[DoctorCheck]:
    """Whether Codex itself says that it calls our hooks."""
    for name in levels:
        level = LEVELS["codex"][name]
        if level.managed:
            continue
        with codex_server(at.project, at.environ) as server:
            hooks = server.hooks(at.project, level.path(at))
        fresh = [hook for hook in hooks if hook["trustStatus"] != "trusted"]
        why = f"Codex passes them over: `stanchion install codex --{name}`, or `/hooks`"
        if not hooks:
            why = "Codex does not read them: see whether it trusts this folder, and `[features]`"
        outcome: Outcome = "fails" if fresh or not hooks else "holds"
        yield DoctorCheck(outcome, f"trust in {name} settings", why if outcome == "fails" else "")


def _trials(
    agent: str, program: str, levels: list[str], at: HostPlaces, roots: list[Path]
) -> Iterator[DoctorCheck]:
    """What the real program does with calls, in folders of its own with our hooks alone."""
    refused, ran = _tried(agent, program, at, roots, DANGER, _as_it_is)
    honest, went = _tried(agent, program, at, roots, HONEST, _as_it_is)
    about = f"an honest call (`{HONEST}`)"
    if went:
        yield DoctorCheck("holds", about, "it ran")
    else:
        why = " ".join(honest.results)[:400] if honest.results else honest.said
        yield DoctorCheck("fails", about, f"it did not run: {why}")
    about, alive = "a call with our end dead", False
    if any(LEVELS[agent][name].managed for name in levels):
        yield DoctorCheck(
            "told", about, "not tried: settings that only root writes stay as they are"
        )
    else:
        with _dead_end() as port:
            dead, alive = _tried(agent, program, at, roots, DEAD, lambda *hook: _dying(port, *hook))
        why = "does not call the hooks that it has" if ran else "goes on where a hook fails"
        yield _stopped(about, dead, alive, f"{agent} {why}", "")
    # A host that minds a dead hook has called it, so then it is the policy that lets danger go.
    why = (
        f"{agent} does not call the hooks that it has"
        if alive
        else ("the policy lets it go, or the daemon judges by another one")
    )
    yield _stopped(
        f"a call that is refused (`{DANGER.partition('; ')[2]}`)", refused, ran, why, REFUSED
    )


def _stopped(about: str, came: Rehearsed, ran: bool, why: str, words: str) -> DoctorCheck:
    """What a call says that must not run: it ran, and why; or its result has these words."""
    if ran:
        return DoctorCheck("fails", about, f"it ran: {why}")
    if any(words in one for one in came.results):
        return DoctorCheck("holds", about, "it did not run")
    return DoctorCheck("fails", about, f"not tried, for the host made no call: {came.said}")


def _tried(
    agent: str,
    program: str,
    at: HostPlaces,
    roots: list[Path],
    command: str,
    change: Callable[[str, dict[str, Any]], dict[str, Any]],
) -> tuple[Rehearsed, bool]:
    """What came of a command, and whether it ran."""
    with TemporaryDirectory(prefix="stanchion-doctor-") as made:
        there = surroundings_in(Path(made).resolve(), agent, at.environ)
        roots.append(there.project)
        paths = {one.path(at): one.path(there) for one in LEVELS[agent].values() if not one.managed}
        if agent == "claude":
            path, copy = next(iter(paths.items()))
            local = "settings.local.json"
            paths[path.with_name(local)] = copy.with_name(local)
        for path, copy in paths.items():
            data = _settings(path)
            kept = {key: value for key, value in data.items() if key not in ELSEWHERE}
            kept["hooks"] = _own_hooks(data, change)
            copy.parent.mkdir(parents=True, exist_ok=True)
            # In the layout that it has, with its comments: the host may not read them.
            try:
                copy.write_text(rewritten(read_foreign(path).text or "{}", kept))
            except NotJson as error:
                raise _unread(path, error) from None
        came = rehearse(agent, program, there, command)
        marker = command.split()[1].rstrip(";")
        return came, (there.project / marker).exists()


@contextmanager
def _dead_end() -> Iterator[int]:
    """A port of loopback that nobody listens on, and that nobody else can take meanwhile."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]


def _dying(port: int, event: str, hook: dict[str, Any]) -> dict[str, Any]:
    """A hook as it is where our end is dead: nobody listens, its interpreter is gone. The prompt
    still passes, or no call would be made at all."""
    if event != "PreToolUse":
        return hook
    if hook["type"] == "http":
        return {**hook, "url": f"http://127.0.0.1:{port}/"}
    words = shlex.split(hook["command"])
    gone = words.index("-I") - 1 if "-I" in words else int(words[0] == "exec")
    words[gone] = "/nonexistent/python"
    return {**hook, "command": shlex.join(words)}
