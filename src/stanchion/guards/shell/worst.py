"""Judging: the worst that the commands of a text would do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from stanchion.guards.shell.places import Roots
from stanchion.guards.shell.rule import Family, Rule, begins_after, only_asks
from stanchion.guards.shell.rules import BY_NAME, OF_ANY, Pairs, rules_for
from stanchion.guards.shell.rules.own import is_near
from stanchion.kernel.tuples import NamedTuple
from stanchion.readings.shell.command import Command
from stanchion.readings.shell.partly_known import Open

if TYPE_CHECKING:
    from stanchion.guards.shell.consequence import Loss


class Danger(NamedTuple):
    """A command, the rule that it breaks, and the rule's family; and what is lost, where that is
    better known."""

    command: Command
    rule: Rule
    family: Family
    told: Loss | None = None

    @property
    def loss(self) -> Loss:
        """What would be lost."""
        if self.told is not None:
            return self.told
        return self.family.loss if self.rule.loss is None else self.rule.loss


NONE: Final[Mapping[str, Pairs]] = {}


def dangers(
    command: Command,
    roots: Roots,
    strict: bool = False,
    added: Mapping[str, Pairs] = NONE,
    text: Sequence[Command] = (),
) -> list[Danger]:
    """The rules that a command breaks; those for what is ours even where it only asks, because its
    words may be another program's. `added` are rules beside those of the table, `text` the commands
    of the text that it stands in."""
    found = rules_for(command) + added.get(command.name, ())
    near: Pairs = BY_NAME["@"] if is_near(command, roots) else ()
    ours = [Danger(command, rule, family) for family, rule in near if rule.holds(command, roots)]
    line, cwd = command.line, command.cwd
    for sign in _signs(command):
        found += BY_NAME[sign]
    held = [
        pair
        for pair in found
        if (cwd or pair[1].hint in line)
        and (strict or not pair[1].strict)
        and pair[1].holds(command, roots)
        and (not pair[1].after or begins_after(pair[1], command, text))
    ]
    if not held or (command.argv and only_asks(command)):
        return ours
    return [*[Danger(command, rule, family) for family, rule in held], *ours]


def _signs(command: Command) -> str:
    """Of which other kinds than its program's it is, by the names of the rows for them."""
    signs = ""
    if command.opens and not all(_is_plain(path, command.cwd) for _, path in command.opens):
        signs += ">"
    if command.settings:
        signs += "="
    if command.marks:
        signs += "*"
    if command.argv and isinstance(command.argv[0], Open):
        signs += "$"
    return f"{signs}%" if any(map(command.line.__contains__, OF_ANY)) else signs


def _is_plain(path: str, cwd: str) -> bool:
    """Whether writing to a path cannot matter to any rule: nothing, or a file of the working
    directory."""
    if path == "/dev/null" or path.isdigit():
        return True
    return bool(path) and path[0].isalnum() and not cwd and "/" not in path
