"""The rows of the table of programs: the way from a command to those that concern it, and which of
them hold; and rows that a policy adds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import chain
from pkgutil import get_data
from typing import Final

from stanchion import typed
from stanchion.guards.shell.consequence import FAMILIES, Family, Loss, Program
from stanchion.guards.shell.places import Roots, roots_of
from stanchion.guards.shell.rule import RiskRule, begins_after, only_asks, rules_of
from stanchion.guards.shell.rules import (
    destruction,
    exfiltration,
    own,
    persistence,
    rights,
    running,
)
from stanchion.guards.shell.rules.own import is_near
from stanchion.kernel.regex import regex
from stanchion.kernel.tuples import NamedTuple
from stanchion.readings.shell.analysis import analysed
from stanchion.readings.shell.command import Command
from stanchion.readings.shell.partly_known import OpenText

ASKED: Final = (
    destruction,
    exfiltration,
    own,
    persistence,
    rights,
    running,
)
"""What answers the questions of rows: without it none could be asked."""
FILE: Final = "risks.jsonl"
"""The rows of the table, made of `readings/shell/programs/*.yaml`."""
READER: Final = typed.reader(RiskRule)


Rules = tuple[RiskRule, ...]
Text = str | tuple[str, ...]
"""A shell text, or the words of one command."""


def _indexed() -> dict[str, Rules]:
    body = get_data("stanchion.guards.shell", FILE)
    assert body is not None
    found: dict[str, list[RiskRule]] = {}
    for rule in map(READER.decode, body.splitlines()):
        for name in rule.names.split():
            found.setdefault(name, []).append(rule)
    return {name: tuple(rules) for name, rules in found.items()}


class Indexed(NamedTuple):
    """The rules for programs of one name, and the places of those that want a word, by the rarest
    words that each wants; by nothing, where it wants none."""

    rules: Rules
    by_word: dict[str, tuple[int, ...]]


BY_NAME: Final = _indexed()
"""Rules by the name of the program; `>` are those for redirections, `=` for settings, `*` for
marked commands, `$` for commands whose name is not known, `@` for what is ours, `%` for every
command with the rule's hint."""


OF_ANY: Final = tuple(dict.fromkeys([rule.hint for rule in BY_NAME.get("%", ())]))
"""What is in the words of every command that breaks a rule for whatever program."""


@cache
def _rules_of(name: str, marked: bool) -> Indexed:
    """The rules for programs of a name that has some; a command without marks breaks none that
    wants one."""
    rules = tuple([rule for rule in BY_NAME[name] if marked or not rule.mark])
    common = Counter([word for rule in rules for words in rule.wanted for word in words])
    found: dict[str, list[int]] = {"": []}
    for at, rule in enumerate(rules):
        rarest = min(
            rule.wanted, key=lambda words: sum([common[word] for word in words]), default=("",)
        )
        for word in rarest:
            found.setdefault(word, []).append(at)
    looks = len(found) > 1
    return Indexed(rules, {word: tuple(found[word]) for word in found} if looks else {})


def rules_for(command: Command) -> Rules:
    """The rules that a command may break by the name of its program, its marks and its words."""
    if command.name not in BY_NAME:
        return ()
    rules, by_word = _rules_of(command.name, bool(command.marks))
    if not by_word:
        return rules
    said = by_word.keys() & command.small
    places = {*by_word[""], *chain.from_iterable(map(by_word.__getitem__, said))}
    return tuple(map(rules.__getitem__, sorted(places)))


class Danger(NamedTuple):
    """A command and the rule that it breaks; and what is lost, where that is better known."""

    command: Command
    rule: RiskRule
    told: Loss | None = None

    @property
    def family(self) -> Family:
        """The kind of danger."""
        return FAMILIES[self.rule.family]

    @property
    def loss(self) -> Loss:
        """What would be lost."""
        if self.told is not None:
            return self.told
        return self.family.loss if self.rule.loss is None else self.rule.loss


NONE: Final[Mapping[str, Rules]] = {}


def dangers(
    command: Command,
    roots: Roots,
    strict: bool = False,
    added: Mapping[str, Rules] = NONE,
    text: Sequence[Command] = (),
) -> list[Danger]:
    """The rules that a command breaks; those for what is ours even where it only asks, because its
    words may be another program's. `added` are rules beside those of the table, `text` the commands
    of the text that it stands in."""
    found = rules_for(command) + added.get(command.name, ())
    near: Rules = BY_NAME["@"] if is_near(command, roots) else ()
    ours = [Danger(command, rule) for rule in near if rule.holds(command, roots)]
    for sign in _signs(command):
        found += BY_NAME[sign]
    line, cwd = command.line, command.cwd
    held = [
        Danger(command, rule)
        for rule in found
        if (cwd or rule.hint in line)
        and rule.holds(command, roots)
        and (strict or not rule.strict)
        and (not rule.after or begins_after(rule, command, text))
    ]
    return ours if not held or (command.argv and only_asks(command)) else [*held, *ours]


def _signs(command: Command) -> str:
    """Of which other kinds than its program's it is, by the names of the rows for them."""
    signs = ""
    if command.opens and not all(_is_plain(path, command.cwd) for _, path in command.opens):
        signs += ">"
    if command.settings:
        signs += "="
    if command.marks:
        signs += "*"
    if command.argv and isinstance(command.argv[0], OpenText):
        signs += "$"
    return f"{signs}%" if any(map(command.line.__contains__, OF_ANY)) else signs


def _is_plain(path: str, cwd: str) -> bool:
    """Whether writing to a path cannot matter to any rule: nothing, or a file of the working
    directory."""
    if path == "/dev/null" or path.isdigit():
        return True
    return bool(path) and path[0].isalnum() and not cwd and "/" not in path


FAMILY: Final = "service"
"""The family of a risk whose row does not say it."""
_NAMES: Final = regex(r"[\w.+-]+(?: [\w.+-]+)*")


def added(programs: Mapping[str, Program]) -> dict[str, Rules]:
    """The rows of a policy by the names of their programs; raises `ValueError` for one that nobody
    could follow."""
    found: dict[str, Rules] = {}
    for names, program in programs.items():
        if _NAMES.fullmatch(names) is None:
            raise ValueError(
                f"`programs` has `{names}`: write names of programs, parted by a blank"
            )
        rules = tuple(rules_of(program.risks, names, FAMILY))
        for name in names.lower().split():
            found[name] = (*found.get(name, ()), *rules)
    return found


def tried(programs: Mapping[str, Program]) -> None:
    """Try what a policy says of its programs; raises `ValueError` where a row cannot be followed, a
    hit is none, or a miss is one."""
    rules, roots = added(programs), roots_of((".", "/workspace"))
    for names, program in programs.items():
        for text in (*program.hits, *program.misses):
            commands = analysed(text).commands
            held = any(
                danger.rule.names == names
                for command in commands
                for danger in dangers(command, roots, True, rules)
            )
            if held != (text in program.hits):
                said = (
                    "hits, but no row holds" if text in program.hits else "misses, but a row holds"
                )
                raise ValueError(
                    f"`programs`, `{names}`: `{text}` is among the {said}: change either"
                )
