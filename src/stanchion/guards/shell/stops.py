"""Stopping: whether a command ends, looks into or removes the program that Stanchion is, or runs
in."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

from stanchion.guards.shell.places import Roots
from stanchion.kernel.regex import regex
from stanchion.readings.shell.command import Command
from stanchion.readings.shell.ours import MARK, NAME
from stanchion.readings.word_lists import listed

STOPS: Final = listed(
    "kill pkill killall killall5 skill xkill tkill taskkill stop-process systemctl service "
    "launchctl"
)
ATTACHES: Final = listed(
    "gdb lldb strace ltrace gcore py-spy reptyr bpftrace perf dtrace frida rbspy memray pyrasite "
    "pystack austin"
)
ASKS: Final = listed("status show cat is-active is-enabled is-failed list-units list print")
"""First words with which they only say how something is."""
INSTALLS: Final = listed(
    "pip pipx uv poetry pdm rye hatch pixi conda mamba micromamba easy_install brew apt"
)
REMOVES: Final = listed("uninstall remove rm purge")

_PARENT: Final = regex(r"\$\{?PPID\b")
_MODULE: Final = regex(r"(?:-[A-Za-z]*m|--module) ?(?:pip|uv|pipx|poetry|conda)")
_PACKAGE: Final = regex(
    r"stanchion(?:[-_.]+(?:guard|lab))?(?:\[.*\])?(?:(?:[=<>~!]=?|@).*)?", re.IGNORECASE
)


def _pairs(words: tuple[str, ...]) -> list[tuple[str, ...]]:
    return [*[(word,) for word in words], *pairwise(words)]


def stops(command: Command, _roots: Roots) -> bool:
    """Whether a process is stopped that is ours by its name, or that the agent's shell was started
    by."""
    if (
        command.name not in STOPS
        or "-0" in command.argv
        or not ASKS.isdisjoint(command.operands[:1])
    ):
        return False
    return any(
        NAME in word.lower() or _PARENT.search(word) is not None for word in command.argv[1:]
    )


def attaches(command: Command, _roots: Roots) -> bool:
    """Whether a program that looks into others, or changes them, is given such a process."""
    if "PPID" not in command.line and MARK not in command.line:
        return False
    if command.name not in ATTACHES:
        return any(
            word.startswith("/proc/") and _PARENT.search(word) is not None
            for word in command.argv[1:]
        )
    return any(MARK in word or _PARENT.search(word) is not None for word in command.argv[1:])


def removes(command: Command, _roots: Roots) -> bool:
    """Whether an installer, started by its name or as a module, takes our package away."""
    words = command.argv[1:]
    if NAME not in command.line.lower():
        return False
    name = command.name.rstrip("0123456789.")
    if command.cwd == "container:" or not (
        name in INSTALLS or any(_MODULE.fullmatch(" ".join(two)) for two in _pairs(words))
    ):
        return False
    at = next((at for at, word in enumerate(words) if word in REMOVES), len(words))
    return any(_PACKAGE.fullmatch(word) is not None for word in words[at + 1 :])
