"""The families of dangers, and the way from a command's name to the rows of the table of programs
that concern it."""

from __future__ import annotations

from collections import Counter
from functools import cache
from pkgutil import get_data
from typing import Final

from stanchion import typed
from stanchion.guards.shell.consequence import Loss
from stanchion.guards.shell.rule import Family, Rule
from stanchion.guards.shell.rules import (
    databases,
    destruction,
    exfiltration,
    own,
    persistence,
    privilege,
    running,
    services,
    tampering,
)
from stanchion.kernel.tuples import NamedTuple
from stanchion.readings.shell.command import Command

ASKED: Final = (
    tampering,
    own,
    destruction,
    running,
    exfiltration,
    privilege,
    persistence,
    databases,
    services,
)
"""What answers the questions of rows: without it none could be asked."""
_LOSSES: Final[dict[str, Loss]] = {
    "tampering": "control", "destructive": "good", "remote_code": "control",
    "exfiltration": "control", "privilege": "control", "persistence": "control",
    "exhaustion": "others", "database": "good", "service": "others", "git": "others",
    "credentials": "control",
}  # fmt: skip
FAMILIES: Final = {name: Family(name, loss) for name, loss in _LOSSES.items()}
"""The families, in the order in which they are looked for."""
FILE: Final = "risks.jsonl"
"""The rows of the table, made of `readings/shell/programs/*.yaml`."""
READER: Final = typed.reader(Rule)


Pairs = tuple[tuple[Family, Rule], ...]


def _indexed() -> dict[str, Pairs]:
    body = get_data("stanchion.guards.shell", FILE)
    assert body is not None
    found: dict[str, list[tuple[Family, Rule]]] = {}
    for rule in map(READER.decode, body.splitlines()):
        for name in rule.names.split():
            found.setdefault(name, []).append((FAMILIES[rule.family], rule))
    return {name: tuple(rules) for name, rules in found.items()}


MANY: Final = 64
"""From how many rules for programs of one name on they are looked up by words, too."""


class Named(NamedTuple):
    """The rules for programs of one name: those for each first operand that some of them want, and
    for any other. And, where there are `MANY`, the places of those that want a word, by the rarest
    words that each wants."""

    by_first: dict[str, Pairs]
    rest: Pairs
    by_word: dict[str, tuple[int, ...]]


def _named(pairs: Pairs) -> Named:
    firsts = {first for _, rule in pairs for first in rule.first}
    by_first = {
        first: tuple([pair for pair in pairs if not pair[1].first or first in pair[1].first])
        for first in firsts
    }
    rest = tuple([pair for pair in pairs if not pair[1].first])
    return Named(by_first, rest, _by_word(rest) if len(rest) >= MANY else {})


def _by_word(pairs: Pairs) -> dict[str, tuple[int, ...]]:
    """The places of rules by the words of which each wants one; by nothing, where it wants none."""
    common = Counter([word for _, rule in pairs for words in rule.wanted for word in words])
    found: dict[str, list[int]] = {"": []}
    for at, (_, rule) in enumerate(pairs):
        rarest = min(
            rule.wanted, key=lambda words: sum([common[word] for word in words]), default=("",)
        )
        for word in rarest:
            found.setdefault(word, []).append(at)
    return {word: tuple(places) for word, places in found.items()}


BY_NAME: Final = _indexed()
"""Rules by the name of the program; `>` are those for redirections, `=` for settings, `*` for
marked commands, `$` for commands whose name is not known, `@` for what is ours, `%` for every
command with the rule's hint."""


OF_ANY: Final = tuple(dict.fromkeys([rule.hint for _, rule in BY_NAME.get("%", ())]))
"""What is in the words of every command that breaks a rule for whatever program."""


@cache
def _rules_of(name: str, marked: bool) -> Named:
    """The rules for programs of a name that has some; a command without marks breaks none that
    wants one."""
    return _named(tuple([pair for pair in BY_NAME[name] if marked or not pair[1].mark]))


def rules_for(command: Command) -> Pairs:
    """The rules that a command may break by the name of its program, its marks and its first
    operand."""
    if command.name not in BY_NAME:
        return ()
    named = _rules_of(command.name, bool(command.marks))
    if named.by_word:
        places = {at for word in ("", *command.small) for at in named.by_word.get(word, ())}
        rest = tuple([named.rest[at] for at in sorted(places)])
    else:
        rest = named.rest
    if not named.by_first:
        return rest
    operands = command.operands
    return named.by_first.get(operands[0].lower() if operands else "", rest)
