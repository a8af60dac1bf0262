"""The families of rules, and the way from a command's name to the rules that concern it."""

from __future__ import annotations

from typing import Final, NamedTuple

from stanchion.guards.shell.rule import Family, Rule
from stanchion.guards.shell.rules import (
    credentials,
    databases,
    destruction,
    exfiltration,
    exhaustion,
    git,
    persistence,
    privilege,
    running,
    services,
    tampering,
)
from stanchion.readings.shell.command import Command

MODULES: Final = (
    tampering,
    destruction,
    running,
    exfiltration,
    privilege,
    persistence,
    exhaustion,
    databases,
    services,
    git,
    credentials,
)
FAMILIES: Final[dict[str, Family]] = {module.FAMILY.name: module.FAMILY for module in MODULES}


Pairs = tuple[tuple[Family, Rule], ...]


def _indexed() -> dict[str, Pairs]:
    found: dict[str, list[tuple[Family, Rule]]] = {}
    for family in FAMILIES.values():
        extra = running.HIDDEN if family.name == "remote_code" else ()
        for rule in (*family.rules, *extra):
            for name in rule.names.split():
                found.setdefault(name, []).append((family, rule))
    return {name: tuple(rules) for name, rules in found.items()}


class Named(NamedTuple):
    """The rules for programs of one name: those for each first operand that some of them want, and for any other."""

    by_first: dict[str, Pairs]
    rest: Pairs


def _named(pairs: Pairs) -> Named:
    firsts = {first for _, rule in pairs for first in rule.first}
    by_first = {
        first: tuple([pair for pair in pairs if not pair[1].first or first in pair[1].first]) for first in firsts
    }
    return Named(by_first, tuple([pair for pair in pairs if not pair[1].first]))


BY_NAME: Final = _indexed()
"""Rules by the name of the program; `>` are those for redirections, `=` for settings, `*` for marked commands, `$` for
commands whose name is not known, `@` for every command."""

MARKED: Final = {name: _named(pairs) for name, pairs in BY_NAME.items()}
UNMARKED: Final = {
    name: _named(tuple([pair for pair in pairs if not pair[1].marks])) for name, pairs in BY_NAME.items()
}
"""The same for commands without marks, which break no rule that wants one."""


def rules_for(command: Command) -> Pairs:
    """The rules that a command may break by the name of its program, its marks and its first operand."""
    named = (MARKED if command.marks else UNMARKED).get(command.name)
    if named is None:
        return ()
    if not named.by_first:
        return named.rest
    operands = command.operands
    return named.by_first.get(operands[0].lower() if operands else "", named.rest)
