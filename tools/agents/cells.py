"""What is tried with each way of installing hooks: the calls, and what is broken meanwhile."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from stanchion.hosts.coding.settings import CLIENT, is_ours

SECRET: Final = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
REFUSED: Final = "touch danger.txt; cat ~/.ssh/id_rsa"
ASKED: Final = "touch danger.txt; chmod 777 notes.txt"
HONEST: Final = "touch honest.txt"
SHOWN: Final = "cat notes.txt"
SHORT_S: Final = 3
"""How long a hook may take where it is going to be late."""


class BrokenEnds(NamedTuple):
    """Ends that are not ours: ports of loopback that babble, that say nothing, that nobody has; and
    a folder for programs that do the same."""

    babbling: int
    silent: int
    nobody: int
    programs: Path


Break = Callable[[dict[str, Any], BrokenEnds], dict[str, Any]]


def _to(
    port: Callable[[BrokenEnds], int], command: Callable[[BrokenEnds], list[str]], path: str = ""
) -> Break:
    """A hook that reaches something else: a port in the place of ours, or a program in the place of
    our client."""

    def broken(hook: dict[str, Any], ends: BrokenEnds) -> dict[str, Any]:
        late = {**hook, "timeout": SHORT_S}
        if hook["type"] == "http":
            return {**late, "url": f"http://127.0.0.1:{port(ends)}/{path}"}
        words = shlex.split(hook["command"])
        before = words[: words.index("-I") - 1] if is_ours(hook) else []
        late.pop("args", None)
        return {**late, "command": shlex.join([*before, *command(ends)])}

    return broken


def _whole(text: str) -> Break:
    """A hook that is another command from its first word on, without anything that refuses where it
    fails; over HTTP, nobody listens."""
    gone = _to(lambda ends: ends.nobody, lambda _: [])

    def broken(hook: dict[str, Any], ends: BrokenEnds) -> dict[str, Any]:
        other = gone(hook, ends)
        return other if hook["type"] == "http" else {**other, "command": text}

    return broken


def _other_version(hook: dict[str, Any], ends: BrokenEnds) -> dict[str, Any]:
    if hook["type"] == "http":
        return {**hook, "headers": {"Stanchion-Hook": "2"}}
    other = ends.programs / "client.py"
    other.write_text(CLIENT.read_text().replace("PROTOCOL = 1", "PROTOCOL = 2"))
    return {**hook, "command": hook["command"].replace(str(CLIENT), str(other))}


def _impatient(hook: dict[str, Any], _: BrokenEnds) -> dict[str, Any]:
    """A hook that the host waits for some seconds, and our client a few; those of others stay."""
    if not is_ours(hook):
        return hook
    if hook["type"] == "http":
        return {**hook, "timeout": SHORT_S}
    words = shlex.split(hook["command"])
    return {**hook, "timeout": 2 * SHORT_S, "command": shlex.join([*words, f"deadline={SHORT_S}"])}


def _python(program: str) -> list[str]:
    return [sys.executable, "-I", "-S", "-c", program]


BREAKS: Final[Mapping[str, Break]] = {
    "its interpreter is gone, nobody listens": _to(
        lambda ends: ends.nobody, lambda _: ["/nonexistent/python"]
    ),
    "it crashes": _to(lambda ends: ends.nobody, lambda _: _python("raise SystemError")),
    "it is killed": _to(
        lambda ends: ends.nobody, lambda _: _python("import os; os.kill(os.getpid(), 9)")
    ),
    "it is late": _to(lambda ends: ends.silent, lambda _: _python("import time; time.sleep(30)")),
    "it babbles": _to(
        lambda ends: ends.babbling, lambda _: _python("print('{\"hookSpecificOutput\":')")
    ),
    "it says nothing, and ends well": _to(
        lambda ends: ends.babbling, lambda _: _python("pass"), "empty"
    ),
    "it is of another version": _other_version,
    "its whole command is gone": _whole("/nonexistent/hook"),
}
"""What is wrong with the hook of a call, while the prompt before it was heard."""
IMPATIENT: Final[Break] = _impatient
OURS_ALONE: Final = (
    "a call that a person is asked about",
    "its interpreter is gone, nobody listens",
    "it is of another version",
)
"""What is not tried with other guards: their policies ask about other calls, and their hooks are
one program that comes with its daemon."""

SILENT: Final = "it says nothing, and ends well"
OPEN: Final = {
    ("claude", "HTTP"): (SILENT,),
    ("claude", "command"): ("it babbles", SILENT),
    ("claude", "managed"): ("it babbles", SILENT),
    ("codex", "user"): ("it is late", "it babbles", SILENT, "its whole command is gone"),
    ("codex", "managed"): ("it is late", "it babbles", SILENT, "its whole command is gone"),
}
"""What no settings can shut: the call runs there, and it is seen where that changes."""

SWITCHES: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = {
    "claude": {
        "`disableAllHooks` in the project's local settings": (),
        "`--settings '{\"disableAllHooks\": true}'`": (
            "--settings",
            json.dumps({"disableAllHooks": True}),
        ),
        "`--setting-sources project`": ("--setting-sources", "project"),
        "`--bare`": ("--bare",),
    },
    "codex": {
        "nobody has trusted the hooks": (),
        "`-c features.hooks=false`": ("-c", "features.hooks=false"),
        "`--disable hooks`": ("--disable", "hooks"),
    },
}
"""What switches hooks off, by the words that do it."""
COLUMNS: Final[Mapping[tuple[str, str], tuple[str, ...]]] = {
    ("claude", "HTTP"): ("--user",),
    ("claude", "command"): ("--user", "--command-hooks"),
    ("claude", "managed"): ("--managed",),
    ("codex", "user"): ("--user",),
    ("codex", "managed"): ("--managed",),
}
"""The ways in which hooks are installed, and what `stanchion install` is given."""
