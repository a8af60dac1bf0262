"""The families of rules, and the way from a command's name to the rules that concern it."""

from __future__ import annotations

from functools import lru_cache
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


def _indexed() -> dict[str, tuple[tuple[Family, Rule], ...]]:
    found: dict[str, list[tuple[Family, Rule]]] = {}
    for family in FAMILIES.values():
        extra = running.HIDDEN if family.name == "remote_code" else ()
        for rule in (*family.rules, *extra):
            for name in rule.names.split():
                found.setdefault(name, []).append((family, rule))
    return {name: tuple(rules) for name, rules in found.items()}


@lru_cache(maxsize=1_024)
def narrowed(name: str, first: str) -> tuple[tuple[Family, Rule], ...]:
    """The rules that may hold for a program whose first operand is this."""
    return tuple([pair for pair in BY_NAME[name] if not pair[1].first or first in pair[1].first])


FEW: Final = 4
"""From how many rules on it pays to look at the first operand."""

BY_NAME: Final = _indexed()
"""Rules by the name of the program; `>` are those for redirections, `=` for settings, `*` for marked commands, `$` for
commands whose name is not known, `@` for every command."""
