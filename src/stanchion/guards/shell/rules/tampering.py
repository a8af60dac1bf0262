"""Tampering: traces that would be wiped, and Stanchion itself switched off."""

from __future__ import annotations

from typing import Final

from stanchion.guards.shell.places import Roots
from stanchion.guards.shell.rule import asked
from stanchion.readings.shell.command import Command
from stanchion.readings.word_lists import in_order

WIPES: Final = frozenset({"truncate", "ln", "shred", "sed"})
TRACES: Final = in_order(
    ".bash_history .zsh_history .history /var/log wtmp btmp lastlog auth.log audit.log /var/audit"
)


@asked
def wipes_traces(command: Command, _roots: Roots) -> bool:
    wipes = command.name in WIPES or "/dev/null" in command.argv
    paths = (*command.deletes, *(command.writes if wipes else ()))
    return any(mark in path for path in (*paths, *_emptied(command)) for mark in TRACES)


def _emptied(command: Command) -> list[str]:
    return [path for op, path in command.opens if op in (">", ">|", "&>")]


@asked
def opens_traces(command: Command, _roots: Roots) -> bool:
    silent = command.name in ("", ":", "true", "cat", "echo") and (
        len(command.argv) < 2 or command.argv[1] in ("/dev/null", "", "-n")
    )
    return silent and any(mark in path for path in _emptied(command) for mark in TRACES)


@asked
def history_off(command: Command, _roots: Roots) -> bool:
    for name, value in command.settings:
        if name in ("HISTFILE", "HISTSIZE", "HISTFILESIZE") and value in ("", "0", "/dev/null"):
            return True
    return False
