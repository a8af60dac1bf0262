"""Git: pushed history that would be rewritten, and work that is in no commit yet."""

from __future__ import annotations

from typing import Final

from stanchion.guards.shell.places import Roots
from stanchion.guards.shell.rule import asked
from stanchion.readings.shell.command import Command
from stanchion.readings.shell.partly_known import Open

MAIN: Final = frozenset({"main", "master", "production", "prod", "release", "trunk"})


@asked
def forced_ref(command: Command, _roots: Roots) -> bool:
    return any(word.startswith("+") for word in command.operands[2:])


@asked
def listed_ref(command: Command, _roots: Roots) -> bool:
    """Whether another program lists what is pushed, which may be deletions."""
    return "xargs" in command.via and any(
        isinstance(word, Open) and word[:2] == "$(" for word in command.operands[2:]
    )


@asked
def deleted_ref(command: Command, _roots: Roots) -> bool:
    return any(word.startswith(":") and len(word) > 1 for word in command.operands[2:])


@asked
def to_main(command: Command, _roots: Roots) -> bool:
    targets = [word.rpartition(":")[2].removeprefix("refs/heads/") for word in command.operands[2:]]
    return bool(MAIN.intersection(targets)) and command.operands[0] == "push"


@asked
def checks_out_files(command: Command, _roots: Roots) -> bool:
    operands = command.operands
    if operands[:1] != ("checkout",) or command.flags & {
        "-b",
        "-B",
        "--orphan",
        "-t",
        "--track",
        "-p",
        "--patch",
    }:
        return False
    return (
        "--" in command.argv
        or "." in operands[1:]
        or len(operands) > 2
        or any("/" in w and "." in w.rpartition("/")[2] for w in operands[1:])
    )


@asked
def restores_files(command: Command, _roots: Roots) -> bool:
    flags = command.flags
    return command.operands[:1] == ("restore",) and (
        not flags & {"--staged", "-S"} or bool(flags & {"--worktree", "-W"})
    )


@asked
def off_main(command: Command, _roots: Roots) -> bool:
    onto = command.operands[1]
    return (
        onto not in MAIN
        and onto not in ("develop", "dev")
        and not onto.startswith(("origin/", "upstream/"))
    )


@asked
def stashes(command: Command, _roots: Roots) -> bool:
    operands = command.operands
    return operands == ("stash",) or operands[:2] in (("stash", "push"), ("stash", "save"))
