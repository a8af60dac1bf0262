"""Tampering and exhaustion: traces that would be wiped, and what would use a machine up, or end
what runs on it."""

from __future__ import annotations

import itertools

from stanchion.guards.shell.places import TRACES, Roots
from stanchion.guards.shell.rule import CHECKS, asked
from stanchion.readings.shell.command import Command


@asked
def opens_traces(command: Command, _roots: Roots) -> bool:
    silent = command.name in ("", ":", "true", "cat", "echo") and (
        len(command.argv) < 2 or command.argv[1] in ("/dev/null", "", "-n")
    )
    return silent and any(mark in path for path in command.emptied for mark in TRACES)


@asked
def broad(command: Command, _roots: Roots) -> bool:
    return any(len(word) < 3 or word in (".", ".*", "*") for word in command.operands) or (
        bool(command.flags & {"-u", "-U"}) and not command.operands
    )


@asked
def holds_lock(command: Command, _roots: Roots) -> bool:
    words = " ".join(command.argv[1:]).split()
    return any(
        word == "sleep"
        and after[:-1].isdigit()
        and (int(after.rstrip("smhd")) >= 600 or after[-1] in "hd")
        for word, after in itertools.pairwise(words)
        if after.rstrip("smhd").isdigit()
    )


CHECKS.update(
    {
        "all_processes": lambda command, _: (
            any(word in ("-1", "1", "0") for word in command.operands)
            or (command.argv[-1:] == ("-1",) and len(command.argv) > 2)
        ),
        "is_privileged": lambda command, _: command.privileged,
    }
)
