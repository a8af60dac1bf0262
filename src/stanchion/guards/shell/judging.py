"""Judging: the worst that the commands of a text would do."""

from __future__ import annotations

from typing import Final, NamedTuple

from stanchion.guards.shell.command import Command
from stanchion.guards.shell.opening import Open
from stanchion.guards.shell.places import Roots
from stanchion.guards.shell.rule import Family, Rule, only_asks
from stanchion.guards.shell.rules import BY_NAME, FEW, narrowed

NONE: Final[tuple[tuple[Family, Rule], ...]] = ()


class Danger(NamedTuple):
    """A command, the rule that it breaks, and the rule's family."""

    command: Command
    rule: Rule
    family: Family


def dangers(command: Command, roots: Roots, strict: bool = False) -> list[Danger]:
    """The rules that a command breaks."""
    found = BY_NAME.get(command.name, NONE)
    if len(found) >= FEW:
        found = narrowed(command.name, command.operands[0].lower() if command.operands else "")
    if command.opens and not all(_is_plain(path, command.cwd) for _, path in command.opens):
        found += BY_NAME[">"]
    if command.settings:
        found += BY_NAME["="]
    if command.marks:
        found += BY_NAME["*"]
    if command.argv and isinstance(command.argv[0], Open):
        found += BY_NAME["$"]
    if not found:
        return []
    broken = [pair for pair in found if (strict or not pair[1].strict) and pair[1].holds(command, roots)]
    if not broken or (command.argv and only_asks(command)):
        return []
    return [Danger(command, rule, family) for family, rule in broken]


def _is_plain(path: str, cwd: str) -> bool:
    """Whether writing to a path cannot matter to any rule: nothing, or a file of the working directory."""
    if path == "/dev/null" or path.isdigit():
        return True
    return bool(path) and path[0].isalnum() and not cwd and "/" not in path and "stanchion" not in path.lower()
