"""The families of rules, and the way from a command's name to the rules that concern it."""

from __future__ import annotations

from functools import cache
from typing import Final

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
from stanchion.kernel.tuples import NamedTuple
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
    """The rules for programs of one name: those for each first operand that some of them want, and
    for any other."""

    by_first: dict[str, Pairs]
    rest: Pairs


def _named(pairs: Pairs) -> Named:
    firsts = {first for _, rule in pairs for first in rule.first}
    by_first = {
        first: tuple([pair for pair in pairs if not pair[1].first or first in pair[1].first])
        for first in firsts
    }
    return Named(by_first, tuple([pair for pair in pairs if not pair[1].first]))


BY_NAME: Final = _indexed()
"""Rules by the name of the program; `>` are those for redirections, `=` for settings, `*` for
marked commands, `$` for commands whose name is not known, `@` for every command, `%` for every
command with the rule's hint."""


OF_ANY: Final = tuple(dict.fromkeys([rule.hint for _, rule in BY_NAME["%"]]))
"""What is in the words of every command that breaks a rule for whatever program."""


@cache
def _rules_of(name: str, marked: bool) -> Named:
    """The rules for programs of a name that has some; a command without marks breaks none that
    wants one."""
    return _named(tuple([pair for pair in BY_NAME[name] if marked or not pair[1].marks]))


def rules_for(command: Command) -> Pairs:
    """The rules that a command may break by the name of its program, its marks and its first
    operand."""
    if command.name not in BY_NAME:
        return ()
    named = _rules_of(command.name, bool(command.marks))
    if not named.by_first:
        return named.rest
    operands = command.operands
    return named.by_first.get(operands[0].lower() if operands else "", named.rest)
