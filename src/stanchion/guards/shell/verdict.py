"""The verdict on a text: which of its commands is worst, what is said of it, and to what of it a
rule objects."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec.structs import replace

from stanchion.guards.shell.consequence import Level, level_of
from stanchion.guards.shell.places import (
    CLIENTS,
    FINDERS,
    Roots,
    finds_only_made,
    is_chosen,
    is_own_repository,
    is_scratch,
    place_of,
    plain,
    roots_of,
)
from stanchion.guards.shell.repository import RepositoryQuestion, Unsure, questions_of
from stanchion.guards.shell.rule import only_asks
from stanchion.guards.shell.rules import BY_NAME, NONE, Danger, Rules, Text, added, dangers
from stanchion.guards.shell.rules.destruction import LOST
from stanchion.kernel.actions import Action, Risk
from stanchion.kernel.findings import TELL, Finding
from stanchion.kernel.names import names
from stanchion.kernel.option import ACTIONS
from stanchion.kernel.regex import regex
from stanchion.kernel.sizes import LIMITS, ReadLimits
from stanchion.readings.shell.analysis import Analysis, analysed
from stanchion.readings.shell.changed import is_elsewhere
from stanchion.readings.shell.command import Command, find_roots
from stanchion.readings.shell.known import KINDS, by_name
from stanchion.readings.shell.partly_known import OpenText, origin_of
from stanchion.readings.shell.requests import OVER_HTTP, told_command
from stanchion.readings.word_lists import listed

# Passed commands: what a program is given that may run it, or not; a person decides where it would
# be dangerous.


def passed_dangers(
    commands: Sequence[Command], roots: Roots, added: Mapping[str, Rules] = NONE
) -> Iterator[Danger]:
    """The dangers in what may run, each as a doubt; what would only be said aloud is not said."""
    for command in commands:
        for danger in dangers(command, roots, added=added):
            if level_of(danger.loss) in ("doubt", "danger"):
                yield danger._replace(rule=replace(danger.rule, loss="unknown", known=""))


SERVES: Final = {
    name
    for name, rules in BY_NAME.items()
    for rule in rules
    if rule.family == "service" and rule.words
}
PLAIN: Final = (
    ({""} | KINDS.keys() | BY_NAME.keys()) - OVER_HTTP - SERVES - by_name("runs", bool).keys()
)
"""Programs that are known, and of which nothing is told as a tool's call."""
BINARIES: Final = listed("/bin /usr/bin /usr/local/bin /sbin /usr/sbin /opt/homebrew/bin")
"""Folders in which a program is the one that its name says."""

NOISE: Final = 3
"""From how many expansions of nothing on a text is scrambled rather than written."""

SCRATCH: Final = listed("database service")
"""Families about things that tests make and drop again."""

MOST: Final = 16
"""Of how many equally dangerous commands it is said what they are about, and how many things, the
shortest first."""


class ShellJudge:
    """Judges texts by the options of one guard."""

    def __init__(self, options: Any) -> None:
        self.options = options
        self.roots = roots_of(options.roots, options.own)
        self.far_roots = roots_of(type(options)().roots, options.own)
        self.allowed = None if options.allow is None else names(options.allow)
        self.levels: dict[Level, Action] = {
            "pass": Action.ALLOW,
            "danger": ACTIONS[options.danger],
            "doubt": ACTIONS[options.doubt],
            "note": ACTIONS[options.note],
        }
        self.added = NONE if options.programs is None else added(options.programs)
        given = options.families if options.families is not None else {}
        self._last: tuple[Analysis | None, list[Danger]] = (None, [])
        self.own = {family: ACTIONS[action] for family, action in given.items()}

    def of(self, text: Text, risk: Risk, limits: ReadLimits = LIMITS) -> Finding | None:
        """What is said of a text for a tool of this risk; None where it may run."""
        found = analysed(text, limits)
        if self.allowed is not None:
            refused = self._not_allowed(found, _short(text))
            if refused is not None:
                return refused
        worst = self._worst(found)
        if found.unclear:
            action = ACTIONS[self.options.unclear[risk]]
            if worst is None or action >= worst.action:
                return Finding(action, "shell.unclear", (_short(text), found.unclear))
        scrambled = self.levels["doubt"]
        if found.noise >= NOISE and (worst is None or scrambled > worst.action):
            return Finding(scrambled, "shell.scrambled", (_short(text),))
        if worst is None and found.broken:
            return Finding(
                ACTIONS[self.options.malformed], "shell.malformed", (_short(text), found.broken)
            )
        return worst

    def _dangers(self, found: Analysis) -> list[Danger]:
        """The dangers of a text. Those of the last one are kept, because a repository is asked
        about the same."""
        last, kept = self._last
        if last is found:
            return kept
        every: list[Danger] = []
        for command in found.commands:
            roots = self._roots_for(command)
            every += dangers(command, roots, self.options.strict, self.added, found.commands)
            if command.name not in PLAIN and (asked := told_command(command)) is not None:
                every += () if only_asks(command) else dangers(asked, self.roots)
        if every:
            every = [danger for danger in every if not self._is_spared(danger, found)]
        for danger in passed_dangers(found.passed, self.roots, self.added) if found.passed else ():
            if danger.family.name not in SCRATCH or not self._is_scratch(danger, found):
                every.append(danger)
        self._last = found, every
        return every

    def _roots_for(self, command: Command) -> Roots:
        """The folders in which a command may do as it likes: those that a policy names are here."""
        return self.far_roots if is_elsewhere(command) else self.roots

    def _is_spared(self, danger: Danger, found: Analysis) -> bool:
        """Whether only what is made again, or made for tests, is hit."""
        family = danger.family.name
        if family == "destructive":
            return self._is_made(danger, found)
        if family == "git":
            return is_own_repository(danger.command, found.commands, self.roots)
        return family in SCRATCH and self._is_scratch(danger, found)

    def _is_made(self, danger: Danger, found: Analysis) -> bool:
        """Whether a deletion hits what searches found in folders that matter little, and that is
        made again."""
        searched = [
            path for one in found.commands if one.name in FINDERS for path in find_roots(one.argv)
        ]
        places = {place_of(path, danger.command.cwd, self.roots) for path in searched}
        return places.isdisjoint(LOST) and finds_only_made(danger.command, found.commands)

    def _is_scratch(self, danger: Danger, found: Analysis) -> bool:
        """Whether only things of tests on this host are hit."""
        scratch = danger.family.name == "database" or danger.command.name in CLIENTS
        return (scratch and is_scratch(danger.command, found.commands)) or is_chosen(
            danger.command, found.commands
        )

    def unsure(self, text: Text, limits: ReadLimits) -> tuple[Unsure, ...]:
        """The dangers of a text about which a repository is asked."""
        found = analysed(text, limits)
        pairs = [(danger, self._questions(danger, found)) for danger in self._dangers(found)]
        return tuple([Unsure(danger, questions) for danger, questions in pairs if questions])

    def told(self, text: Text, dangers: list[Danger], limits: ReadLimits) -> Finding | None:
        """What is said of a text for dangers of it that are better known by now."""
        return self._said(dangers, analysed(text, limits))

    def _questions(self, danger: Danger, found: Analysis) -> tuple[RepositoryQuestion, ...]:
        if not self.options.repository or not danger.rule.known:
            return ()
        at = next((at for at, one in enumerate(found.commands) if one is danger.command), 0)
        return questions_of(danger, list(found.commands[:at]))

    def _worst(self, found: Analysis) -> Finding | None:
        every = self._dangers(found)
        return (
            self._said([one for one in every if not self._questions(one, found)], found)
            if every
            else None
        )

    def _said(self, dangers: list[Danger], found: Analysis) -> Finding | None:
        broken: list[Danger] = []
        action = Action.ALLOW
        for danger in dangers:
            level = level_of(danger.loss)
            if level == "pass" or (level == "note" and _comes_back(danger, found)):
                continue
            own = self.own.get(danger.family.name, self.levels[level])
            if own < self.levels[level] and is_elsewhere(danger.command):
                own = self.levels[level]
            if own > action:
                broken, action = [danger], own
            elif broken and own == action:
                broken.append(danger)
        if not broken:
            return None
        worst = broken[0]
        said = (worst.command.words, worst.command.place, worst.rule.why)
        about = self._about([one for one in broken if one.family is worst.family], found)
        told = action == Action.WARN and not self.options.counted and level_of(worst.loss) == "note"
        effects = (TELL,) if told else ()
        return Finding(action, worst.family.code, said, effects=effects, about="\n".join(about))

    def _about(self, dangers: list[Danger], found: Analysis) -> list[str]:
        """What dangers are about, of the short commands first: to try many words of many commands
        would cost too much."""
        about: set[str] = set()
        tried = 0
        for danger in sorted(dangers, key=lambda one: len(one.command.argv))[:MOST]:
            if tried < 2 * TRIED:
                about.update(blamed(danger, found.commands, self._roots_for(danger.command)))
            tried += len(danger.command.argv)
        return sorted(about, key=lambda one: (len(one), one))[:MOST]

    def _not_allowed(self, found: Analysis, shown: str) -> Finding | None:
        said = ", ".join(self.options.allow[:12]) if self.options.allow else "none"
        block = ACTIONS[self.options.danger]
        for command in found.commands:
            if not self._is_allowed(command):
                return Finding(
                    block,
                    "shell.not_allowed",
                    (command.words, command.place, said),
                    about=command.name,
                )
        if found.unclear or found.broken:
            return Finding(block, "shell.not_allowed", (shown, "", said))
        return None

    def _is_allowed(self, command: Command) -> bool:
        if not command.argv:
            return not command.opens
        first = command.argv[0]
        if isinstance(first, OpenText) or self.allowed is None:
            return False
        if first in self.allowed:
            return True
        folder, slash, name = first.rpartition("/")
        return bool(slash) and folder in BINARIES and name in self.allowed


def _comes_back(danger: Danger, found: Analysis) -> bool:
    """Whether the same text brings back what it puts aside: `git stash && git pull && git stash
    pop`."""
    return danger.command.operands[:1] == ("stash",) and any(
        one.name == "git" and one.operands[:2] in (("stash", "pop"), ("stash", "apply"))
        for one in found.commands
    )


def _short(text: Text) -> str:
    line = text if isinstance(text, str) else " ".join(text)
    flat = " ".join(line[:400].split()).replace("`", "'")
    return flat if len(flat) <= 120 else f"{flat[:117]}…"


HARMLESS: Final = "/tmp/x"
"""What is put in the place of a word to see whether a rule objects to it: an operand, and no danger
anywhere."""

TRIED: Final = 64
"""How many words of a command are tried, one by one."""

_KEYWORD: Final = regex(r"[A-Za-z][\w:-]*;?")
"""A word that says what is done rather than to what (`table`, `flushall`)."""
_HOST: Final = regex(r"(?:[a-z][a-z0-9+.-]*:)?/{0,2}(?:[^/?#@]*@)?([^/?#]+)", re.IGNORECASE)


def blamed(danger: Danger, commands: Sequence[Command], roots: Roots) -> list[str]:
    """The things that a dangerous command is refused for, each of which is enough.

    1. Where files are opened, those that alone break the rule.
    2. Words that alone break it, all others being harmless: `/` of `rm -rf / x`. What only says
       what is done, as the words of a rule and a keyword do, tells nothing apart.
    3. Where no word matters, what it reads: the files, or the hosts that it is fetched from.
    4. Otherwise all together, its operands, the values of its options and the files it opens, as
       one thing.
    """
    command, rule = danger.command, danger.rule
    if rule.names == ">":
        return [
            _thing(one[1], command.cwd)
            for one in command.opens
            if rule.holds(replace(command, opens=(one,)), roots)
        ] or _together(danger)
    if not rule.looks_at_words:
        return _together(danger)
    bare = _shorter(command)
    calm = [_calm(word) for word in bare.argv[1:]]
    if not rule.holds(replace(bare, argv=(*bare.argv[:1], *calm)), roots):
        words = [
            word for at, word in enumerate(bare.argv[1:]) if _breaks(danger, bare, calm, at, roots)
        ]
        if not words or (not command.cwd and any(_KEYWORD.fullmatch(word) for word in words)):
            return _together(danger)
        return [thing for word in words for thing in _things(word, command.cwd)]
    return _read(danger, commands, roots) or _together(danger)


def _shorter(command: Command) -> Command:
    """The command with no more words than are tried: its options, and then the shortest."""
    if len(command.argv) <= TRIED:
        return command
    words = command.argv[1:]
    kept = sorted(range(len(words)), key=lambda at: (words[at][:1] != "-", len(words[at])))[:TRIED]
    return replace(command, argv=(command.argv[0], *[words[at] for at in sorted(kept)]))


def _calm(word: str) -> str:
    """A harmless word of the same shape: an option stays, its value does not."""
    if not word.startswith("-"):
        return HARMLESS
    name, sign, _ = word.partition("=")
    return f"{name}={HARMLESS}" if sign else name


def _breaks(danger: Danger, bare: Command, calm: list[str], at: int, roots: Roots) -> bool:
    """Whether the word at a place breaks the rule, with harmless ones beside it."""
    word = bare.argv[at + 1]
    if word == calm[at]:
        return False
    argv = (bare.argv[0], *calm[:at], word, *calm[at + 1 :])
    return danger.rule.holds(replace(bare, argv=argv), roots)


def _read(danger: Danger, commands: Sequence[Command], roots: Roots) -> list[str]:
    """What a command reads that breaks the rule: files, the hosts and files of the programs before
    it, or these."""
    command = danger.command
    things: list[str] = []
    for text in (command.given, *command.argv):
        for each in origin_of(text):
            if each == "pieces" or not _comes(danger, text, each, roots):
                continue
            if each.startswith("<"):
                things.append(_thing(each[1:], command.cwd))
                continue
            before = [one for one in commands if one.name == each and one is not command]
            found = [_host(address) for one in before for address in one.sends]
            found = found or [_thing(path, one.cwd) for one in before for path in one.reads]
            things += found or [each]
    return things


def _comes(danger: Danger, text: str | None, each: str, roots: Roots) -> bool:
    """Whether a text breaks the rule by one of its origins alone."""
    command = danger.command
    pieces = ("pieces",) if "pieces" in origin_of(text) else ()
    one = OpenText(text if text is not None else "", (each, *pieces))
    given = one if text is command.given else None
    argv = tuple([one if word is text else word for word in command.argv])
    return danger.rule.holds(replace(command, given=given, argv=argv), roots)


def _together(danger: Danger) -> list[str]:
    command = danger.command
    values = sorted([value for _, value in command.sorted.values]) if command.argv else []
    words = [*command.operands, *values, *[target for _, target in command.opens]]
    return [" ".join([_thing(word, "") for word in words] or [command.name])]


def _things(word: str, cwd: str) -> list[str]:
    """What a word stands for: where it is made of what files have, those."""
    files = [_thing(each[1:], cwd) for each in origin_of(word) if each.startswith("<")]
    return files or [_thing(word, cwd)]


def _thing(word: str, cwd: str) -> str:
    """A word as it is compared, however it is spelled."""
    if "://" in word or any(char.isspace() for char in word):
        return " ".join(word.split())
    path = plain(word, "" if "=" in word else cwd)
    return path.removesuffix("*") if path == "/*" else path.removesuffix("/*")


def _host(address: str) -> str:
    found = _HOST.match(address)
    return found[1].lower() if found else address
