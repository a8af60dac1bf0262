"""Git: pushed history that would be rewritten, and work that is in no commit yet."""

from __future__ import annotations

from stanchion.guards.shell.places import Roots
from stanchion.guards.shell.rule import asked
from stanchion.readings.shell.command import Command
from stanchion.readings.shell.partly_known import Open


@asked
def listed_ref(command: Command, _roots: Roots) -> bool:
    """Whether another program lists what is pushed, which may be deletions."""
    return "xargs" in command.via and any(
        isinstance(word, Open) and word[:2] == "$(" for word in command.operands[2:]
    )


@asked
def checks_out_files(command: Command, _roots: Roots) -> bool:
    """Whether what is checked out are files, not a branch."""
    operands = command.operands
    return (
        "--" in command.argv
        or "." in operands[1:]
        or len(operands) > 2
        or any("/" in w and "." in w.rpartition("/")[2] for w in operands[1:])
    )
